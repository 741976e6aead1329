"""`remanence checkup` by its words: inputs, comparisons, gates, exports, refusals."""

import json
import shutil

import jax.random as jr
import numpy as np
import pytest
from command import ended
from safetensors.numpy import save_file

import remanence as rm
from remanence.cells import Elman, GRU
from remanence.nets import Recurrent


@pytest.fixture
def checkup(capfd, monkeypatch, models):
    """The command in this process and in the folder of the models, always quick."""
    monkeypatch.setattr("remanence._prepare_jax.prepare_jax", lambda **_: None)
    monkeypatch.chdir(models)

    def run(*words):
        page = () if {"--out", "--page"} & set(words) else ("--no-page",)
        return ended(capfd, "checkup", "--quick", "--quiet", *page, *words)

    return run


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """Two checkpoints of one network, a network of tokens, and what they may hear."""
    folder = tmp_path_factory.mktemp("models")
    (folder / "run").mkdir()
    for name, gain in (("before", 0.3), ("after", 0.9)):
        cell = Elman.init(2, 4, key=jr.key(0), gain=gain)
        net = Recurrent.init(cell, outputs=3, key=jr.key(1))
        rm.save(net, folder / f"{name}.safetensors")
        rm.save(net, folder / "run" / f"step-{gain}.safetensors")
    spoken = GRU.init(3, 4, key=jr.key(2))
    net = Recurrent.init(spoken, outputs=4, tokens=4, key=jr.key(3))
    rm.save(net, folder / "spoken.safetensors")
    (folder / "words.txt").write_text("abcdcbad" * 20)
    np.save(folder / "x.npy", np.random.default_rng(0).normal(size=(80, 2)))
    np.save(folder / "wide.npy", np.ones((80, 5)))
    several = np.random.default_rng(1).normal(size=(2, 90, 2))
    several[0, 40:] = 5.0  # padding that would be heard
    np.save(folder / "several.npy", several)
    np.save(folder / "ends.npy", np.array([40, 90]))
    return folder


def test_two_checkpoints_side_by_side(checkup, models):
    run = checkup(
        "after.safetensors",
        "--compare",
        "before.safetensors",
        "--inputs",
        "x.npy",
        "--json",
        "--out",
        "two.html",
    )
    assert run.returncode == 0, run.stderr
    before, after = json.loads(run.stdout)["checkups"]
    assert (before["name"], after["name"]) == ("before", "after")
    assert after["inputs"] == "80 steps from x.npy"
    assert after["verdict"].startswith("on 80 steps from x.npy: replay the last ")
    # A larger gain forgets more slowly.
    exponents = [c["figures"]["largest_exponent"] for c in (before, after)]
    assert exponents[0] < exponents[1] < 0
    page = (models / "two.html").read_text()
    assert "Side by side" in page and "change" in page


def test_padding_is_not_heard(checkup, models):
    words = ("after.safetensors", "--inputs", "several.npy", "--json")
    told, loud = checkup(*words, "--lengths", "ends.npy"), checkup(*words)
    exponents = [json.loads(run.stdout)["figures"]["largest_exponent"] for run in (told, loud)]
    net = rm.load(models / "after.safetensors")
    xs = np.load(models / "several.npy")
    by_hand = rm.lyapunov_spectrum(net, xs, lengths=[40, 90]).exponents[0]
    assert exponents[0] == pytest.approx(float(by_hand), rel=1e-5)
    assert exponents[1] < exponents[0] - 0.1  # saturated by what is beyond the end
    refused = checkup("after.safetensors", "--lengths", "ends.npy")
    assert refused.returncode == 2
    assert "--lengths go with --inputs, and there are none" in refused.stderr


def test_a_folder_of_checkpoints_in_order(checkup):
    run = checkup("after.safetensors", "--compare", "run", "--inputs", "x.npy")
    assert run.returncode == 0, run.stderr
    table = {line.split()[0]: line.split()[1:] for line in run.stdout.splitlines() if line}
    assert table["figure"] == ["step-0.3", "step-0.9", "after"]
    first, second, last = map(float, table["largest_exponent"])
    assert first < second == last


def test_checkpoints_by_their_numbers_each_once(checkup, models):
    folder = models / "numbered"
    folder.mkdir(exist_ok=True)
    for i in (1, 9, 10):
        shutil.copy(models / "after.safetensors", folder / f"step-{i}.safetensors")
    run = checkup("numbered", "--inputs", "x.npy", "--json")
    names = [each["name"] for each in json.loads(run.stdout)["checkups"]]
    assert names == ["step-1", "step-9", "step-10"]
    run = checkup(
        "numbered/step-1.safetensors", "--compare", "numbered", "--inputs", "x.npy", "--json"
    )
    names = [each["name"] for each in json.loads(run.stdout)["checkups"]]
    assert names == ["step-9", "step-10", "step-1"]


def test_names_that_leave_a_doubt_are_chosen_by_options(checkup, models):
    rng = np.random.default_rng(0)
    matrices = {
        f"{module}.weight_{side}_l0": rng.normal(size=(4, 4)) / 4
        for module in ("encoder", "decoder")
        for side in ("ih", "hh")
    } | {"words.weight": rng.normal(size=(9, 4)), "head.weight": rng.normal(size=(9, 4))}
    save_file(matrices, models / "doubt.safetensors")
    several = checkup("doubt.safetensors", "--inputs", "x.npy")
    assert several.returncode == 2 and "['decoder', 'encoder']" in several.stderr
    assert "--inputs goes with one; --prefix names it" in several.stderr
    each = checkup("doubt.safetensors", "--quick", "--steps", "60", "--json")
    names = [one["name"] for one in json.loads(each.stdout)["checkups"]]
    assert names == ["doubt: decoder", "doubt: encoder"]
    doubted = checkup("doubt.safetensors", "--prefix", "decoder")
    assert doubted.returncode == 2 and "head.weight" in doubted.stderr
    run = checkup(
        "doubt.safetensors",
        "--prefix",
        "decoder",
        "--embedding",
        "words",
        "--readout",
        "head",
        "--positions",
        "last",
        "--json",
    )
    assert run.returncode == 0, run.stderr
    # What was taken stands in the document, where a gate's log finds it.
    taken = json.loads(run.stdout)["weights"]
    assert "embedding words.weight, readout head.weight, read at the end" in taken
    assert "not used: encoder.weight_hh_l0, encoder.weight_ih_l0" in taken


def test_a_text_and_a_gate(checkup):
    held = checkup(
        "spoken.safetensors",
        "--text",
        "words.txt",
        "--steps",
        "60",
        "--require",
        "window<=60",
        "--require",
        "largest_exponent<0",
    )
    assert held.returncode == 0, held.stderr
    assert held.stdout.startswith("spoken: on 60 of 160 characters of words.txt: replay")
    failed = checkup(
        "spoken.safetensors", "--text", "words.txt", "--steps", "60", "--require", "remembers>=1000"
    )
    assert failed.returncode == 3
    assert "required remembers>=1000, found " in failed.stderr
    assert "on 60 of 160 characters of words.txt" in failed.stderr


def test_a_gate_holds_on_named_inputs_only(checkup, models):
    gate = ("--require", "window<=100")
    refused = checkup("after.safetensors", *gate)
    assert refused.returncode == 2 and refused.stdout == ""
    assert "--require needs inputs to hold on: --inputs, --text, or --noise" in refused.stderr
    plain = checkup("after.safetensors", "--steps", "80")
    assert plain.returncode == 0
    assert plain.stdout.startswith("after: on white noise (80 steps, seed 0): ")
    # Neither is the beginning of a long text what was named, unless that is said.
    (models / "long.txt").write_text("abcd" * 300)
    words = ("spoken.safetensors", "--text", "long.txt", *gate)
    refused = checkup(*words)
    assert refused.returncode == 2 and refused.stdout == ""
    assert "would hold on 1,000 of 1,200 characters of long.txt only" in refused.stderr
    assert checkup(*words, "--steps", "60").returncode == 0


def test_held_out_text(checkup, models):
    (models / "held.txt").write_text("adda" * 15)
    words = ("spoken.safetensors", "--text", "held.txt", "--json")
    refused = checkup(*words)
    assert refused.returncode == 2 and "--vocab with the text" in refused.stderr
    run = checkup(*words, "--vocab", "words.txt")
    assert run.returncode == 0, run.stderr
    assert json.loads(run.stdout)["inputs"] == "all 60 characters of held.txt"


def test_the_truncated_network_is_written(checkup, models):
    run = checkup("before.safetensors", "--inputs", "x.npy", "--truncate-to", "cut.py")
    assert run.returncode == 0, run.stderr
    written = (models / "cut.py").read_text()
    window = int(written.split("WINDOW = ")[1].split()[0])
    assert f"replay the last {window} steps" in run.stdout
    assert "torch.nn.RNN(2, 4, num_layers=1, bias=True, nonlinearity='tanh')" in written
    again = rm.load(models / "cut.safetensors", quiet=True)
    np.testing.assert_array_equal(
        np.asarray(again.cell.W_h),
        np.asarray(rm.load(models / "before.safetensors", quiet=True).cell.W_h),
    )


def test_the_page_is_written_unless_told_otherwise(checkup, models, monkeypatch):
    words = ("before.safetensors", "--inputs", "x.npy", "--page")
    run = checkup(*words, "--json")
    assert run.returncode == 0 and run.stderr == ""
    assert json.loads(run.stdout)["name"] == "before"
    page = models / "checkup.html"
    assert "On 80 steps from x.npy: replay the last" in page.read_text()
    # What was measured is printed before it is written.
    full = OSError(28, "No space left on device", "checkup.html")
    with monkeypatch.context() as patch:
        patch.setattr("remanence.checkup.outputs.write_page", raises(full))
        lost = checkup(*words)
    assert lost.returncode == 2 and "No space left on device" in lost.stderr
    assert lost.stdout.startswith("before: on 80 steps from x.npy: replay the last")
    page.write_text("<title>my own notes</title>")
    refused = checkup(*words)
    assert refused.returncode == 2 and refused.stdout == ""
    assert "checkup.html exists and is no checkup; --out FILE or --no-page" in refused.stderr
    page.unlink()


def raises(error):
    def run(*_):
        raise error

    return run


def test_names_from_a_file_reach_no_terminal(checkup, models):
    evil = "\x1b[31m\u202e\nforged: verified"
    tensors = {
        "rnn.weight_ih_l0": np.ones((4, 2), np.float32) / 4,
        "rnn.weight_hh_l0": np.eye(4, dtype=np.float32) / 2,
        f"{evil}.weight": np.ones((7, 9), np.float32),
    }
    model = models / f"{evil}.safetensors"
    save_file(tensors, model)
    for options in ((), ("--json",)):
        run = checkup(model.name, "--inputs", "x.npy", *options)
        assert run.returncode == 0, run.stderr
        assert "\x1b" not in run.stdout and "\u202e" not in run.stdout
        assert "forged" in run.stdout  # escaped, not hidden
        assert not any(line.startswith("forged") for line in run.stdout.splitlines())
    model.unlink()


def test_refusals_in_one_sentence(checkup, models):
    (models / "model.pt").write_bytes(b"PK\x03\x04 not opened")
    (models / "words.npy").write_text("not an array")
    (models / "empty").mkdir(exist_ok=True)
    (models / "empty.html").mkdir(exist_ok=True)
    (models / "text.html").write_text("abcd")
    (models / "step.safetensors").symlink_to("before.safetensors")
    np.save(models / "turned.npy", np.ones((2, 80)))
    broken = {
        f"rnn.weight_{side}_l0{back}": np.ones((4, size), np.float32)
        for side, size in (("ih", 2), ("hh", 4))
        for back in ("", "_reverse")
    }
    save_file(broken, models / "both-ways.safetensors")
    nan = {
        "weight_ih_l0": np.ones((4, 2), np.float32),
        "weight_hh_l0": np.full((4, 4), np.nan, np.float32),
    }
    save_file(nan, models / "nan.safetensors")
    model = "after.safetensors"
    cases = [
        (("model.pt",), "model.pt is not read: "),
        (("nan.safetensors",), "weight_hh_l0 holds 16 values that are NaN or infinite"),
        (
            ("both-ways.safetensors", "--truncate-to", "cut.py"),
            "['rnn.forward', 'rnn.backward'], and --truncate-to goes with one",
        ),
        ((model, "--inputs", "wide.npy"), "takes 2 numbers a step, the inputs have 5"),
        ((model, "--inputs", "turned.npy"), "np.moveaxis(inputs, 0, -1)"),
        ((model, "--error", "nan"), "--error must be a positive number, got nan"),
        ((model, "--steps", "1000000000000"), "GB are free; fewer steps (--steps) would do"),
        ((model, "--out", "x.npy/page.html"), "nothing can be written to x.npy"),
        ((model, "--out", "empty.html"), "--out takes a file, and empty.html is a folder"),
        ((model, "--truncate-to", "cut.pt"), "--truncate-to takes a .py file, got 'cut.pt'"),
        ((model, "--truncate-to", "after.py"), "would replace after.safetensors, which is read"),
        (
            (
                model,
                "--inputs",
                "x.npy",
                "--truncate-to",
                "step.py",
                "--compare",
                "step.safetensors",
            ),
            "would replace step.safetensors",
        ),
        (
            ("spoken.safetensors", "--text", "text.html", "--out", "text.html"),
            "--out would replace text.html, which is read from",
        ),
        ((model, "--inputs", "words.npy"), "words.npy is not an array of numbers"),
        ((model, "--inputs", "absent.npy"), "absent.npy"),
        ((model, "--text", "words.txt"), "a text needs a network with an embedding"),
        ((model, "--compare", "empty"), "holds no checkpoint ("),
        ((model, "--require", "widow<3"), "no figure is called 'widow'"),
        ((model, "--activation", "cube"), "activation must be 'tanh' or 'relu'"),
        (("absent.safetensors",), "there is no file absent.safetensors"),
    ]
    for words, sentence in cases:
        run = checkup(*words)
        assert run.returncode == 2 and sentence in run.stderr, (words, run.stderr)
        assert "Traceback" not in run.stderr and run.stdout == ""
