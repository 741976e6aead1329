"""The checkup: its verdict, its page, its gate, its command."""

import dataclasses
import importlib.util
import json
import subprocess
import sys

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest

import remanence as rm
from remanence.cells import Elman, GRU, Linear, LSTM
from remanence.checkup.compare import compared
from remanence.checkup.export import write_truncated
from remanence.checkup.gate import FIGURES, unmet
from remanence.checkup.heard import from_npy, from_text, noise
from remanence.checkup.page import checkup_page
from remanence.checkup.pictures import pictures
from remanence.checkup.pictures.training import over_training
from remanence.cli import checkup as command
from remanence.nets import Recurrent, truncate


@pytest.fixture(scope="module")
def net():
    cell = Elman.init(2, 6, key=jr.key(0), gain=0.4)
    return Recurrent.init(cell, outputs=3, key=jr.key(1))


@pytest.fixture(scope="module")
def found(net):
    xs = np.random.default_rng(0).uniform(-1, 1, size=(300, 2))
    return rm.checkup(net, xs, name="<b>small</b>")


def test_the_verdict_comes_first_and_says_what_was_measured_and_proved(found):
    assert found.verdict.startswith("remembers about ")
    assert "keeps outputs within 0.001, measured" in found.verdict
    assert "is proved to" in found.verdict
    assert found.summary.startswith(f"{found.name}: {found.verdict}")
    assert found.figures["window"] <= found.figures["certified_window"]
    assert found.figures["exponents"] == 6 and found.figures["fixed_points"] == 1


def test_the_page_opens_from_disk_and_escapes_what_is_not_ours(found, tmp_path):
    text = found.save(tmp_path / "checkup.html").read_text()
    assert "<b>small</b>" not in text and "&lt;b&gt;small" in text
    assert 'src="http' not in text and "<script" not in text
    for figure in ("spectrum", "gradients", "windows", "eigenvalues", "singular-values",
                   "fixed-points"):  # fmt: skip
        assert f'id="figure-{figure}"' in text
    assert text.index(found.verdict[1:]) < text.index("<figure")


def test_json_is_plain_and_complete(found, tmp_path):
    document = json.loads(found.save(tmp_path / "c.json").read_text())
    assert document["verdict"] == found.verdict
    assert len(document["spectrum"]["stderr"]) == 6
    assert document["figures"]["window"] == found.figures["window"]
    with pytest.raises(ValueError, match=r"saved as \.html or \.json, got 'c.pdf'"):
        found.save(tmp_path / "c.pdf")


def test_the_gate(found):
    assert tuple(found.figures) == FIGURES
    assert unmet("window<=300", found.figures) is None
    assert "required window<=1, found" in unmet("window<=1", found.figures)
    assert "not known" in unmet("capacity>1", {"capacity": None})
    assert unmet("remembers >= inf", {"remembers": np.inf}) is None
    with pytest.raises(ValueError, match="reads like 'window<=128'"):
        unmet("window under 3", found.figures)
    with pytest.raises(ValueError, match="no figure is called 'widow'"):
        unmet("widow<3", found.figures)


def test_two_side_by_side(found):
    rows = compared((found, found))
    assert rows[0] == ["figure", found.name, found.name, "change"]
    assert all(row[-1] in ("same", "") for row in rows[1:])


def test_a_dead_network_is_told_in_words():
    dead = rm.checkup(
        Linear(jnp.zeros((2, 2)), jnp.eye(2)), np.ones((60, 2)), quick=True
    )
    assert "remembers nothing" in dead.verdict
    assert "nan" not in dead.json.lower() and "NaN" not in dead.summary
    names = [figure.name for figure in pictures(dead)]
    assert "eigenvalues" in names and "spectrum" not in names


def test_a_network_that_sometimes_dies_remembers_in_between():
    # h' = relu(0.9 h + x): a memory of 10 steps, wiped out at every 40th input.
    one = jnp.ones((1, 1))
    cell = Elman(0.9 * one, one, jnp.zeros(1), activation=jax.nn.relu)
    xs = np.where(np.arange(400) % 40 == 39, -100.0, 1.0)[:, None]
    found = rm.checkup(cell, xs, quick=True)
    assert found.spectrum.exponents[0] == -np.inf
    assert found.verdict.startswith("remembers about 10 steps")
    assert "some steps forget the whole state" in found.verdict


def test_a_latch_without_slopes_remembers_by_switching():
    # h' = tanh(100 h + 60 x) with |x| < 1: a switch that keeps its side for ever.
    one = jnp.ones((1, 1))
    xs = np.random.default_rng(0).uniform(-0.5, 0.5, size=(200, 1))
    found = rm.checkup(Elman(100 * one, 60 * one), np.append([[1.0]], xs, 0))
    assert found.spectrum.exponents[0] == -np.inf
    assert found.figures["window"] == np.inf
    assert found.verdict.startswith("remembers by switching, which no gradient sees")
    assert "no window up to" in found.verdict and "nothing" not in found.verdict
    assert "unbounded steps  half of the positions" in found.summary


def test_many_checkpoints_have_a_row_each_and_a_picture(found, net):
    names = [f"step-{i}" for i in range(5)]
    run = tuple(dataclasses.replace(found, name=name) for name in names)
    head, *rows = compared(run)
    assert head[:3] == ["network", "remembers", "window"]
    assert [row[0] for row in rows] == names
    figure = over_training(run)
    assert figure is not None and over_training(run[:2]) is None
    data = figure.data
    assert data["network"].values.tolist() == names
    assert (data["low"] < data["largest_exponent"]).all()
    assert (data["largest_exponent"] < data["high"]).all()
    assert 'id="figure-over-training"' in checkup_page(run)
    assert 'id="figure-over-training"' not in checkup_page(run[:2])


def test_an_unstable_network_is_told_in_words():
    grow = Linear(1.2 * jnp.eye(2), jnp.eye(2))
    found = rm.checkup(grow, np.ones((80, 2)), quick=True)
    assert "the largest exponent is positive" in found.verdict
    assert "no window" in found.verdict and "no proof" in found.verdict


def test_refusals(net):
    with pytest.raises(ValueError, match="at least 20 steps, got 5"):
        rm.checkup(net, np.ones((5, 2)))
    with pytest.raises(ValueError, match="hears 2 numbers a step, the inputs have 3"):
        rm.checkup(net, np.ones((50, 3)))
    broken = Linear(jnp.array([[jnp.nan]]), jnp.ones((1, 1)))
    with pytest.raises(ValueError, match="W_h hold NaN or infinite numbers"):
        rm.checkup(broken, np.ones((50, 1)))
    wild = Elman(9 * jnp.eye(1), jnp.ones((1, 1)), activation=jnp.square)
    with pytest.raises(ValueError, match="range of floats"):
        rm.checkup(wild, np.ones((50, 1)), quick=True)


def test_inputs_from_files(tmp_path, key):
    net = Recurrent.init(GRU.init(4, 3, key=key), outputs=2, tokens=4, key=key)
    np.save(tmp_path / "x.npy", np.ones((5, 2)))
    assert from_npy(tmp_path / "x.npy")[0].shape == (5, 2)
    np.save(tmp_path / "bad.npy", np.array([{"a": 1}], dtype=object))
    with pytest.raises(ValueError, match="not an array of numbers"):
        from_npy(tmp_path / "bad.npy")
    (tmp_path / "t.txt").write_text("abcdabcd")
    tokens, said = from_text(tmp_path / "t.txt", net, 6)
    assert tokens.tolist() == [0, 1, 2, 3, 0, 1] and "characters" in said
    (tmp_path / "t.txt").write_text("abc")
    with pytest.raises(ValueError, match="3 distinct characters and the network 4"):
        from_text(tmp_path / "t.txt", net, 6)
    assert noise(net, 30)[0].shape == (30,)
    # Words are told from a text only by a vocabulary, which is not in the weights.
    words = Recurrent.init(net.cell, outputs=4, tokens=10_000, key=key)
    with pytest.raises(ValueError, match="10000 tokens, which only its own vocabulary"):
        from_text(tmp_path / "t.txt", words, 6)
    bytes_ = Recurrent.init(net.cell, outputs=4, tokens=259, key=key)
    assert from_text(tmp_path / "t.txt", bytes_, 6)[0].tolist() == [97, 98, 99]


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


def test_the_command_refuses_before_it_works(tmp_path):
    model = tmp_path / "a.safetensors"
    cases = [
        ({"noise": True, "text": tmp_path / "t.txt"}, "give one of --inputs, --text"),
        (
            {"out": tmp_path / "c.pdf"},
            "--out takes an .html or .json file, got 'c.pdf'",
        ),
        ({"require": ["window"]}, "reads like 'window<=128'"),
        ({"steps": 3}, "--steps at least 20"),
    ]
    for options, sentence in cases:
        with pytest.raises(ValueError, match=sentence):
            command.checkup(model, **options)
    with pytest.raises(FileNotFoundError, match=r"holds no \.safetensors file"):
        command._models([tmp_path])
    for name in ("step-2", "step-1"):
        (tmp_path / f"{name}.safetensors").touch()
    found = command._models([tmp_path])
    assert [path.stem for path in found] == ["step-1", "step-2"]


def test_the_command(net, tmp_path):
    rm.save(net, tmp_path / "a.safetensors")
    run = lambda *words: subprocess.run(
        [sys.executable, "-m", "remanence", "checkup", *words],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        check=False,
    )
    good = run("a.safetensors", "--steps", "120", "--quick", "--json", "--quiet",
               "--out", "c.html", "--require", "window<=1")  # fmt: skip
    assert good.returncode == 3, good.stderr
    assert "required window<=1" in good.stderr
    assert json.loads(good.stdout)["name"] == "a"
    assert (tmp_path / "c.html").read_text().startswith("<!doctype html>")
    missing = run("b.safetensors")
    assert missing.returncode == 2 and "b.safetensors" in missing.stderr
    assert "Traceback" not in missing.stderr
