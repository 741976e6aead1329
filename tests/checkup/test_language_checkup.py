"""The checkup of a recurrent language model's folder."""

import json
import sys

import numpy as np
import pytest
from cli.command import ended
from formats.tiny_mamba import save_tiny_mamba
from tiny_blocks import griffin, tiny_blocks, WIDTH

import remanence as rm
from remanence.checkup.text import from_text
from remanence.nets import Recurrent


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return save_tiny_mamba(tmp_path_factory.mktemp("models") / "tiny")


def test_one_page_from_a_folder(folder, tmp_path):
    tokens = np.random.default_rng(0).integers(0, 30, 200)
    found = rm.checkup(rm.load(folder, quiet=True), tokens, name="tiny")
    assert "tokens: next-token distribution within 0.001 nats at 95 %" in found.verdict
    assert f"within {found.spectrum.steps} tokens" in found.verdict
    assert len(found.summary.splitlines()) <= 10
    page = found.save(tmp_path / "page.html").read_text()
    assert page.count("<img") == 3 and "Layer by layer" in page
    document = json.loads(found.save(tmp_path / "page.json").read_text())
    assert np.shape(document["layers"][0]["exponents"]) == (16, 4)
    assert document["replay"]["q95"] == found.replay.q95
    assert found.proved_window >= found.replay.worst and "Proved from the weights alone" in page
    assert all(0 < rate <= 1 for rate in document["proof"]["rates"].values())
    with pytest.raises(ValueError, match="at least 32 tokens, got 5"):
        rm.checkup(rm.load(folder, quiet=True), tokens[:5])


def test_the_command_reads_a_text_by_the_folders_tokenizer(folder, tmp_path, capfd):
    tokenizers = pytest.importorskip("tokenizers")
    words = {word: i for i, word in enumerate(["a", "rose", "is", "and", "?"])}
    tokenizer = tokenizers.Tokenizer(tokenizers.models.WordLevel(words, unk_token="?"))
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    tokenizer.enable_truncation(50)  # for batches: the text is measured whole, and nothing else
    tokenizer.enable_padding(length=300)
    tokenizer.save(str(folder / "tokenizer.json"))
    text = tmp_path / "rose.txt"
    text.write_text("a rose is a rose and a rose " * 20)
    out = tmp_path / "page.html"
    done = ended(capfd, "checkup", folder, "--text", text, "--out", out, "--quiet")
    assert done.returncode == 0 and out.is_file()
    assert "on 160 tokens of rose.txt; 2 layers of Mamba" in done.stdout
    gate = ("--require", "window<=0", "--no-page", "--quiet")
    assert ended(capfd, "checkup", folder, "--text", text, *gate).returncode == 3
    text.write_text("")
    done = ended(capfd, "checkup", folder, "--text", text, "--no-page")
    assert done.returncode == 2 and "rose.txt is empty" in done.stderr
    (folder / "tokenizer.json").write_text("{}")
    text.write_text("a rose")
    done = ended(capfd, "checkup", folder, "--text", text, "--no-page")
    assert done.returncode == 2 and "tokenizer.json is no tokenizer" in done.stderr


def test_without_the_package_tokenizers_one_sentence_says_so(folder, tmp_path, monkeypatch):
    (tmp_path / "rose.txt").write_text("a rose")
    (tmp_path / "tokenizer.json").write_text("{}")
    monkeypatch.setitem(sys.modules, "tokenizers", None)
    net = rm.load(folder, quiet=True)
    with pytest.raises(ValueError, match="by the package tokenizers, which is not installed; pip"):
        from_text(tmp_path / "rose.txt", net, None, vocab=tmp_path / "tokenizer.json")


def test_layers_are_named_by_their_kinds(key):
    net = Recurrent.init(griffin(key), outputs=11, key=key, tokens=11)
    found = rm.checkup(net, np.random.default_rng(0).integers(0, 11, 40))
    assert found.network.startswith("3 layers, 2 of RGLRU, 1 of local attention, a state of ")
    assert "attention keep the last 2 tokens at most" in found.summary


def test_layers_that_take_vectors_are_a_network_like_any_other(key):
    xs = np.random.default_rng(0).normal(size=(40, WIDTH))
    found = rm.checkup(Recurrent(tiny_blocks("gated deltanet", key, layers=1)), xs, quick=True)
    assert "within 0.001" in found.verdict and "Blocks" in found.network


def test_the_command_takes_tokens(folder, tmp_path, capfd):
    path = tmp_path / "tokens.npy"
    np.save(path, np.random.default_rng(0).integers(0, 30, 64))
    options = ("--inputs", path, "--no-page", "--json", "--quiet")
    document = json.loads(ended(capfd, "checkup", folder, *options).stdout)
    assert document["replay"]["longest"] == 32
    other = save_tiny_mamba(tmp_path / "other")
    done = ended(capfd, "checkup", folder, "--compare", other, "--inputs", path, "--no-page")
    assert done.returncode == 2 and "--compare goes with RNNs" in done.stderr
