import json

import pytest
from command import ended


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
    ],
)
def test_refusals_are_one_sentence(capsys, arguments, sentence):
    code, out, err = run(capsys, *arguments)
    assert code == 2 and sentence in err and not out and "Traceback" not in err


def test_the_frontier_is_printed(capsys, tmp_path):
    figure = str(tmp_path / "walk.svg")
    code, out, _ = run(capsys, "0001", "--steps", "300", "--quiet", "--figure", figure)
    assert code == 0 and "tanh" in out and "permutation" in out
    assert (tmp_path / "walk.svg").exists() and (tmp_path / "walk-frontier.svg").exists()
