"""What drives a network: its words in the headline, its axes, its vocabulary."""

import json

import jax.random as jr
import numpy as np
import pytest

from remanence.cells import Elman, GRU
from remanence.checkup.inputs import as_inputs, from_npy, refuse_other_axes, white_noise
from remanence.checkup.sources import Sources
from remanence.checkup.text import from_text
from remanence.nets import Recurrent


@pytest.fixture(scope="module")
def net():
    return Recurrent.init(Elman.init(2, 3, key=jr.key(0)), outputs=2, key=jr.key(1))


def of_tokens(count):
    cell = GRU.init(4, 3, key=jr.key(0))
    return Recurrent.init(cell, outputs=2, tokens=count, key=jr.key(1))


def test_every_kind_of_inputs_has_its_words(net, tmp_path):
    assert as_inputs(np.ones((1200, 2))).words == "1,200 steps as given"
    batch = np.ones((3, 500, 2))
    assert as_inputs(batch).words == "3 sequences of 500 steps as given"
    padded = as_inputs(batch, [40, 500, 90]).words
    assert padded == "3 sequences of 40 to 500 steps as given"
    assert as_inputs(np.zeros((2, 50), int)).words == "2 sequences of 50 tokens as given"
    np.save(tmp_path / "x.npy", batch)
    assert from_npy(tmp_path / "x.npy").words == "3 sequences of 500 steps from x.npy"
    part = from_npy(tmp_path / "x.npy", 100)
    assert part.values.shape == (3, 100, 2)
    assert part.words == "the first 100 of 3 sequences of 500 steps from x.npy"
    noise = white_noise(net, 30, seed=4)
    assert noise.words == "white noise (30 steps, seed 4)" and noise.white_noise
    assert white_noise(of_tokens(5), 40).words.startswith("white noise (40 random")


def test_a_text_says_how_much_of_it_was_taken(tmp_path):
    path = tmp_path / "t.txt"
    path.write_text("abcd" * 600)
    few = from_text(path, of_tokens(4), 1000, partial=True)
    assert few.words == "1,000 of 2,400 characters of t.txt" and few.partial
    whole = from_text(path, of_tokens(4), None, partial=True)
    assert whole.words == "all 2,400 characters of t.txt" and not whole.partial
    assert from_text(path, of_tokens(259), 50).words == "50 of 2,400 bytes of t.txt"


def test_held_out_text_is_numbered_by_the_vocabulary_that_was_trained(tmp_path):
    held, network = tmp_path / "held.txt", of_tokens(4)
    held.write_text("dcab" + "ad" * 20)
    (tmp_path / "held2.txt").write_text("db")
    with pytest.raises(ValueError, match="2 distinct characters and the network 4 tokens; --vocab"):
        from_text(tmp_path / "held2.txt", network, 20)
    (tmp_path / "train.txt").write_text("abcdabcd")
    (tmp_path / "list.json").write_text(json.dumps(["d", "c", "b", "a"]))
    (tmp_path / "dict.json").write_text(json.dumps({"d": 1, "b": 3, "<pad>": 0}))
    tokens = lambda vocab: from_text(
        tmp_path / "held2.txt", network, 20, vocab=tmp_path / vocab
    ).values.tolist()
    assert tokens("train.txt") == [3, 1]
    assert tokens("list.json") == [0, 2]
    assert tokens("dict.json") == [1, 3]


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("v.txt", "abc", "3 distinct characters and the network 4"),
        ("v.json", "{", "v.json is not JSON"),
        ("v.json", "3", "no list and no dictionary"),
        ("v.json", '{"a": "0"}', "does not number characters"),
        ("v.json", '{"a": true}', "does not number characters"),
        ("v.json", '["<pad>"]', "does not number characters"),
        ("v.json", '{"a": 0, "d": 9, "b": 1}', "from 0 to 9, and the network has 4"),
        ("v.json", '["a", "b"]', "holds 'd', which the vocabulary does not"),
    ],
)
def test_vocabularies_that_do_not_fit_are_refused(tmp_path, name, content, sentence):
    (tmp_path / "t.txt").write_text("abd")
    (tmp_path / name).write_text(content)
    with pytest.raises(ValueError, match=sentence):
        from_text(tmp_path / "t.txt", of_tokens(4), 20, vocab=tmp_path / name)


@pytest.mark.parametrize(("shape", "axis"), [((2, 500), 0), ((8, 2, 500), 1), ((2, 8, 500), 0)])
def test_inputs_whose_width_is_not_last_are_told_which_order_would_do(net, shape, axis):
    xs = np.ones(shape)
    with pytest.raises(ValueError, match=rf"np\.moveaxis\(inputs, {axis}, -1\)"):
        refuse_other_axes(net, xs)
    refuse_other_axes(net, np.moveaxis(xs, axis, -1))


def test_other_shapes_have_their_hint(net):
    one = Recurrent(Elman.init(1, 3, key=jr.key(0)))
    with pytest.raises(ValueError, match=r"inputs\[:, None\] would do"):
        refuse_other_axes(one, np.ones(500))
    with pytest.raises(ValueError, match=r"inputs\.astype\(float\) would do"):
        refuse_other_axes(net, np.ones((500, 2), int))


def test_options_that_contradict_each_other(tmp_path):
    x = tmp_path / "x.npy"
    for options, sentence in (
        ({"inputs": x, "noise": True}, "give one of --inputs, --text and --noise"),
        ({"lengths": x}, "--lengths go with --inputs"),
        ({"vocab": x}, "--vocab goes with --text"),
        ({"seed": -1}, "--seed must not be negative, got -1"),
        ({"steps": "3"}, "--steps takes a number, at least 20, or all; got '3'"),
        ({"steps": "many"}, "got 'many'"),
    ):
        with pytest.raises(ValueError, match=sentence):
            Sources(**options)
    with pytest.raises(ValueError, match="noise has no end"):
        Sources(steps="all").read(of_tokens(3))
    with pytest.raises(ValueError, match="--require needs inputs to hold on"):
        Sources().refuse_unnamed()
    Sources(noise=True).refuse_unnamed()


def test_what_cannot_fit_is_refused_with_its_estimate_before_it_is_drawn(net):
    with pytest.raises(ValueError, match=r"takes about [\d,.]+ GB, and [\d,.]+ GB are free"):
        white_noise(net, 10**12)
    with pytest.raises(ValueError, match=r"1 x 1,000,000,000,000 x 4 takes about"):
        white_noise(of_tokens(3), 10**12)
