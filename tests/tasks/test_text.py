"""Texts, music and copying: shapes, refusals, and the known sizes of the real files."""

import os

import jax.random as jr
import numpy as np
import pytest

from remanence.tasks import characters, columns, copying, encoded, music, wikitext


def test_the_shipped_text_reads_back():
    text = characters()
    whole = "".join(text.vocabulary[i] for i in [*text.train, *text.valid, *text.test])
    assert whole.startswith("From fairest creatures we desire increase,\nThat")
    assert len(whole) == 6150


@pytest.mark.parametrize(
    ("text", "sentence"), [("", "text is empty"), ("abz", "'z' at position 2")]
)
def test_texts_that_cannot_be_encoded(text, sentence):
    with pytest.raises(ValueError, match=sentence):
        encoded(text, ("a", "b"))


def test_unknown_sources_are_refused():
    with pytest.raises(ValueError, match="source must be"):
        characters("milton")
    with pytest.raises(ValueError, match="vocabulary must be at least 2"):
        wikitext(vocabulary=1)
    with pytest.raises(ValueError, match="cannot fill"):
        columns(np.arange(3), 2)


def test_copying_asks_for_what_it_showed(key):
    xs, asked = copying(4, symbols=3, length=2, delay=5, key=key)
    assert np.array_equal(xs[:, :2].argmax(-1), asked)
    assert np.all(xs[:, 2:7].argmax(-1) == 3) and np.all(xs[:, 7].argmax(-1) == 4)
    with pytest.raises(ValueError, match="delay must be at least 0, got -1"):
        copying(4, symbols=3, length=2, delay=-1, key=jr.key(0))


@pytest.mark.paper
@pytest.mark.skipif("REMANENCE_DATA" not in os.environ, reason="needs REMANENCE_DATA")
def test_the_real_files_have_their_known_sizes():
    chars = characters("shakespeare")
    assert sum(map(len, (chars.train, chars.valid, chars.test))) == 1_115_394
    assert len(chars.vocabulary) == 65
    full = wikitext(vocabulary=None)
    assert (len(full.train), len(full.valid), len(full.test)) == (2_088_628, 217_646, 245_569)
    assert len(full.vocabulary) == 33_278
    parts = music("jsb")
    assert [len(parts[p].lengths) for p in ("train", "valid", "test")] == [229, 76, 77]
