"""The checkup: its verdict, its page, its gate, its command."""

import dataclasses
import importlib
import importlib.util
import json
import pydoc
import re
import subprocess
import sys

import jax
import jax.numpy as jnp
import jax.random as jr
import matplotlib.pyplot as plt
import numpy as np
import pytest

import remanence as rm
from remanence.cells import Elman, GRU, Linear, LSTM
from remanence.checkup import pictures
from remanence.checkup.figures import comparison_table, failure, FIGURES
from remanence.checkup.outputs import write_truncated
from remanence.checkup.page import checkup_page, MEMORY
from remanence.checkup.sources import model_files
from remanence.cli import main
from remanence.nets import Recurrent, truncate


@pytest.fixture(scope="module")
def net():
    cell = Elman.init(2, 6, key=jr.key(0), gain=0.4)
    return Recurrent.init(cell, outputs=3, key=jr.key(1))


@pytest.fixture(scope="module")
def found(net):
    xs = np.random.default_rng(0).uniform(-1, 1, size=(300, 2))
    return rm.checkup(net, xs, name="<b>small</b>")


def test_the_verdict_names_the_inputs_and_says_what_to_do_and_what_is_proved(found):
    window, proved = found.figures["window"], found.figures["certified_window"]
    assert found.verdict.startswith(
        f"on 300 steps as given: replay the last {window:.0f} steps: every output is within 0.001"
    )
    assert "of their scale), at all 300 positions of 1 sequence" in found.verdict
    assert f"{proved:.0f} are proved to do" in found.verdict
    assert "remembers about " in found.verdict
    assert found.summary.startswith(f"{found.name}: {found.verdict}")
    assert window <= proved
    assert found.figures["window_median"] <= found.figures["window_95"] <= window
    assert len(found.spectrum.exponents) == 6 and found.figures["fixed_points"] == 1


def test_it_shows_itself_in_a_few_lines(found):
    assert str(found) == found.summary and 8 <= len(str(found).splitlines()) <= 14
    assert "array(" not in str(found) + repr(found) and "\n" not in repr(found)
    shown = found._repr_html_()
    assert "&lt;b&gt;small" in shown and "<b>small</b>" not in shown
    assert all(figure.title in shown for figure in FIGURES.values())


def test_tokens_of_a_language_model_have_their_window_in_nats(key):
    cell = GRU.init(3, 4, key=key)
    net = Recurrent.init(cell, outputs=5, tokens=5, key=key)
    tokens = np.random.default_rng(0).integers(0, 5, 80)
    found = rm.checkup(net, tokens, quick=True, time_limit=0.5)
    assert found.verdict.startswith("on 80 tokens as given: replay the last ")
    assert re.search(r"remembers (about|for more than) \d+ tokens?", found.verdict)
    assert "steps" not in found.verdict and "steps" not in found.table[0]["text"]
    assert "nats" in found.verdict and "What a window costs" in checkup_page((found,))
    assert len(json.loads(found.json)["replay"]["cost"]["excess"]) > 3


def test_a_direction_that_does_not_fade_is_no_measurable_forgetting():
    # One direction is kept for ever (λ₁ = 0), the others fade.
    cell = Linear(jnp.diag(jnp.array([1.0, 0.5])), jnp.array([[0.0], [1.0]]))
    found = rm.checkup(cell, np.ones((100, 1)), quick=True, time_limit=0.5)
    assert "no measurable forgetting in the long run (λ₁ = " in found.verdict


def test_the_page_opens_from_disk_and_escapes_what_is_not_ours(found, tmp_path):
    text = found.save(tmp_path / "checkup.html").read_text()
    assert "<b>small</b>" not in text and "&lt;b&gt;small" in text
    assert 'src="http' not in text and "<script" not in text
    for figure in ("spectrum", "gradients", "windows", "eigenvalues", "fixed-points"):
        assert f'id="figure-{figure}"' in text
    assert text.index(found.verdict.split(";")[0][1:]) < text.index("<figure")


def test_json_is_plain_and_complete(found, tmp_path):
    document = json.loads(found.save(tmp_path / "c.json").read_text())
    assert document["verdict"] == found.verdict
    assert len(document["spectrum"]["stderr"]) == 6
    assert document["figures"]["window"] == found.figures["window"]
    with pytest.raises(ValueError, match=r"saved as \.html or \.json, got 'c.pdf'"):
        found.save(tmp_path / "c.pdf")


def test_the_gate(found):
    assert tuple(found.figures) == tuple(FIGURES)
    rows = json.loads(found.json)["table"]
    assert [row["name"] for row in rows] == list(FIGURES)
    assert all(row["title"] and row["meaning"] for row in rows)
    assert failure("window<=300", found.figures) is None
    assert "required window<=1, found" in failure("window<=1", found.figures)
    assert "not known" in failure("certified_window>1", {"certified_window": None})
    assert failure("remembers >= inf", {"remembers": np.inf}) is None
    with pytest.raises(ValueError, match="reads like 'window<=128'"):
        failure("window under 3", found.figures)
    with pytest.raises(ValueError, match="no figure is called 'widow'"):
        failure("widow<3", found.figures)


def test_two_side_by_side(found):
    rows = comparison_table((found, found))
    assert rows[0] == ["figure", found.name, found.name, "change"]
    assert all(row[-1] in ("same", "") for row in rows[1:])


def test_a_dead_network_is_told_in_words():
    dead = rm.checkup(
        Linear(jnp.zeros((2, 2)), jnp.eye(2)), np.ones((60, 2)), quick=True, time_limit=0.5
    )
    assert "remembers nothing" in dead.verdict
    assert "nan" not in dead.json.lower() and "NaN" not in dead.summary
    assert pictures.spectrum((dead,)) is None and pictures.eigenvalues(dead) is not None


def test_a_network_that_sometimes_dies_remembers_in_between():
    # h' = relu(0.9 h + x): a memory of 10 steps, wiped out at every 40th input.
    one = jnp.ones((1, 1))
    cell = Elman(0.9 * one, one, jnp.zeros(1), activation=jax.nn.relu)
    xs = np.where(np.arange(400) % 40 == 39, -100.0, 1.0)[:, None]
    found = rm.checkup(cell, xs, quick=True, time_limit=0.5)
    assert found.spectrum.exponents[0] == -np.inf
    assert "remembers about 10 steps" in found.verdict
    assert "some steps forget the whole state" in found.verdict


def test_a_latch_without_slopes_remembers_by_switching():
    # h' = tanh(100 h + 60 x) with |x| < 1: a switch that keeps its side for ever.
    one = jnp.ones((1, 1))
    xs = np.random.default_rng(0).uniform(-0.5, 0.5, size=(200, 1))
    xs = np.append([[1.0], [-0.4]], xs, 0)  # only the first input sets its side
    found = rm.checkup(Elman(100 * one, 60 * one), xs, quick=True, time_limit=0.5)
    assert -250 < found.spectrum.exponents[0] < -150  # log(400) - 2 * 100, or so
    assert found.figures["window"] == np.inf
    assert "remembers by switching, which no gradient sees" in found.verdict
    assert "no window up to" in found.verdict and "nothing" not in found.verdict
    assert "unbounded steps" in found.summary


def test_many_checkpoints_have_a_row_each(found, net):
    names = [f"step-{i}" for i in range(5)]
    run = tuple(dataclasses.replace(found, name=name) for name in names)
    head, *rows = comparison_table(run)
    assert head[:3] == ["network", "window", "certified_window"]
    assert [row[0] for row in rows] == names


def test_the_name_is_the_function_also_once_its_folder_is_imported():
    folder = importlib.import_module("remanence.checkup")
    assert folder.checkup is rm.checkup and "error: float" in pydoc.render_doc(rm.checkup)


def test_a_comparison_draws_every_network(found):
    pair = tuple(dataclasses.replace(found, name=name) for name in ("first", "second"))
    for figure in (make(pair) for make in MEMORY):
        canvas = figure.draw()
        legend = [t.get_text() for t in canvas.axes[0].get_legend().get_texts()]
        plt.close(canvas)
        assert {"first", "second"} <= set(legend), figure.name
    page = checkup_page(pair)
    assert "Units and states of first" in page and "of second" in page
    assert page.count('id="figure-eigenvalues') == 2
    # No warning about letters that the font has not: here they would be errors.
    assert "日本語" in checkup_page((pair[0], dataclasses.replace(found, name="日本語")))


def test_an_unstable_network_is_told_in_words():
    grow = Linear(1.2 * jnp.eye(2), jnp.eye(2))
    found = rm.checkup(grow, np.ones((80, 2)), quick=True, time_limit=0.5)
    assert "the largest exponent is positive" in found.verdict
    assert "no window" in found.verdict and "no proof" in found.verdict


def test_refusals(net):
    with pytest.raises(ValueError, match="at least 20 steps, got 5"):
        rm.checkup(net, np.ones((5, 2)))
    with pytest.raises(ValueError, match="takes 2 numbers a step, the inputs have 3"):
        rm.checkup(net, np.ones((50, 3)))
    with pytest.raises(ValueError, match=r"np\.moveaxis\(inputs, 0, -1\)"):
        rm.checkup(net, np.ones((2, 500)))
    with pytest.raises(ValueError, match=r"500 sequences of 8 steps; if time comes first"):
        rm.checkup(net, np.ones((500, 8, 2)))
    broken = Linear(jnp.array([[jnp.nan]]), jnp.ones((1, 1)))
    with pytest.raises(ValueError, match="W_h hold NaN or infinite numbers"):
        rm.checkup(broken, np.ones((50, 1)))
    wild = Elman(9 * jnp.eye(1), jnp.ones((1, 1)), activation=jnp.square)
    with pytest.raises(ValueError, match="range of floats"):
        rm.checkup(wild, np.ones((50, 1)), quick=True, time_limit=0.5)


@pytest.mark.torch
@pytest.mark.parametrize("kind", [LSTM])
def test_the_truncated_network_runs_in_torch(kind, tmp_path):
    torch = pytest.importorskip("torch")
    net = Recurrent.init(kind.init(3, 4, key=jr.key(0)), outputs=2, key=jr.key(1))
    path = write_truncated(net, 3.0, tmp_path / "cut.py")
    spec = importlib.util.spec_from_file_location("cut", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    xs = np.random.default_rng(0).normal(size=(9, 3)).astype(np.float32)
    said = module.Truncated.load()(torch.from_numpy(xs)).detach().numpy()
    np.testing.assert_allclose(said, truncate(net, 3)(jnp.asarray(xs)), atol=1e-6)
    with pytest.raises(ValueError, match=r"written as a \.py file"):
        write_truncated(net, 3.0, tmp_path / "cut.pt")
    with pytest.raises(ValueError, match="no window"):
        write_truncated(net, np.inf, tmp_path / "cut.py")


def test_the_command_refuses_before_it_works(tmp_path, capsys):
    model = tmp_path / "a.safetensors"
    model.touch()
    cases = [
        (("--noise", "--text", tmp_path / "t.txt"), "give one of --inputs, --text"),
        (("--out", tmp_path / "c.pdf"), "--out takes a .html or .htm or .json file, got 'c.pdf'"),
        (("--require", "window"), "reads like 'window<=128'"),
        (("--steps", "3"), "--steps takes a number, at least 20"),
        (("--error", "nan"), "--error must be a positive number, got nan"),
        (("--require", "window<9"), "--require needs inputs to hold on"),
    ]
    for options, sentence in cases:
        with pytest.raises(SystemExit, match="2"):
            main(["checkup", str(model), *map(str, options)])
        assert sentence in capsys.readouterr().err
    model.unlink()
    with pytest.raises(FileNotFoundError, match=r"holds no checkpoint \(\.safetensors"):
        model_files([tmp_path])
    for name in ("step-2", "step-1"):
        (tmp_path / f"{name}.safetensors").touch()
    found = model_files([tmp_path])
    assert [path.stem for path in found] == ["step-1", "step-2"]


def test_the_command(net, tmp_path, capsys):
    rm.save(net, tmp_path / "a.safetensors")
    run = lambda *words: subprocess.run(
        [sys.executable, "-m", "remanence", "checkup", *words],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        check=False,
    )
    good = run(
        "a.safetensors",
        "--steps",
        "120",
        "--quick",
        "--json",
        "--quiet",
        "--noise",
        "--require",
        "window<=1",
    )
    assert good.returncode == 3, good.stderr
    (sentence,) = good.stderr.splitlines()  # no warning of NumPy's or matplotlib's
    assert sentence.startswith("required window<=1, found ")
    assert sentence.endswith(" on white noise (120 steps, seed 0)")
    assert json.loads(good.stdout)["name"] == "a"
    assert (tmp_path / "checkup.html").read_text().startswith("<!doctype html>")
    with pytest.raises(SystemExit, match="2"):
        main(["checkup", str(tmp_path / "b.safetensors")])
    said = capsys.readouterr().err
    assert "b.safetensors" in said and "Traceback" not in said
