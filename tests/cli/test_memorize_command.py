import io
import json
import subprocess
import sys

import pytest
from command import ended
from rich.console import Console

from remanence.cli.memorize import frontier_table


def run(capsys, *arguments):
    return ended(capsys, "memorize", *arguments)


def test_one_json_document_and_a_file_that_checks(capsys, tmp_path):
    path = str(tmp_path / "m.safetensors")
    code, out, _ = run(capsys, "abcacb", "--no-frontier", "--json", "--quiet", "--save", path)
    found = json.loads(out)
    assert code == 0 and found["dimension"] == 3 and found["says"] == "abcacbabcacb"
    code, out, _ = run(capsys, "--check", path, "--json")
    assert code == 0 and json.loads(out)["verified"]
    code, out, _ = run(capsys, "--check", path)
    assert code == 0 and "verified" in out


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ([""], "at least one symbol"),
        (["mississippi", "--method", "rotation"], "rotation does not serve"),
        (["ab", "--method", "magic"], "method must be one of"),
        ([], "a word is needed"),
        (["ab", "--check", "x"], "not both"),
        (["--check", "nowhere.safetensors"], "nowhere"),
        (["ab", "--figure", "walk.txt"], "a figure is .svg, .png or .pdf"),
        (["ab", "--save", "no/where/m.safetensors"], "there is no folder"),
    ],
)
def test_refusals_are_one_sentence(capsys, arguments, sentence):
    code, out, err = run(capsys, *arguments)
    assert code == 2 and sentence in err and not out and "Traceback" not in err


def test_the_frontier_is_printed_where_it_is_asked_for(capsys, tmp_path):
    figure = str(tmp_path / "walk.svg")
    asked = ("--frontier", "--steps", "300", "--quiet", "--figure", figure)
    code, out, _ = run(capsys, "0001", *asked)
    assert code == 0 and "tanh" in out and "permutation" in out
    assert (tmp_path / "walk.svg").exists() and (tmp_path / "walk-frontier.svg").exists()
    code, out, _ = run(capsys, "0001")
    assert code == 0 and "proved by" in out and "permutation" not in out


ROW = {"dimension": 11, "bits": 25, "margin": 0.2044495892, "proved_float32": 1223967.0}
LONG = ("1.224e+06", "0.2044", "none")


@pytest.mark.parametrize("width", [80, 60, 40])
def test_no_number_of_the_frontier_is_cut(width):
    methods = ("shift", "rotation", "harmonic", "rational", "permutation", "tanh")
    rows = [{"method": m, **ROW, "error_float32": None} for m in methods]
    out = io.StringIO()
    Console(file=out, width=width).print(frontier_table(rows))
    text = out.getvalue()
    assert "…" not in text
    if width == 80:
        assert all(text.count(number) == 6 for number in LONG)
        assert all(method in text for method in methods)


def test_a_short_word_needs_no_compiled_program_and_few_imports():
    """Fresh: the answer is there before JAX, xarray, matplotlib or scipy.stats."""
    code = (
        "import sys; sys.argv = ['remanence', 'memorize', 'abc']\n"
        "from remanence.cli.app import main\n"
        "try: main()\n"
        "except SystemExit as end: assert not end.code\n"
        "heavy = {'jax', 'equinox', 'xarray', 'matplotlib', 'scipy.stats', 'pandas'}\n"
        "print('imported:', sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "proved by" in done.stdout and "imported: []" in done.stdout
