"""Texts and music: shapes, refusals, and the known sizes of the real files."""

import os

import numpy as np
import pytest

from remanence.tasks import characters, columns, music, wikitext


def test_the_shipped_text_reads_back():
    text = characters()
    whole = "".join(text.vocabulary[i] for i in [*text.train, *text.valid, *text.test])
    assert whole.startswith("From fairest creatures we desire increase,\nThat")
    assert len(whole) == 6150


def test_unknown_sources_are_refused():
    with pytest.raises(ValueError, match="source must be"):
        characters("milton")
    with pytest.raises(ValueError, match="vocabulary must be at least 2"):
        wikitext(vocabulary=1)
    with pytest.raises(ValueError, match="cannot fill"):
        columns(np.arange(3), 2)


@pytest.mark.paper
@pytest.mark.skipif("REMANENCE_DATA" not in os.environ, reason="needs REMANENCE_DATA")
def test_the_real_files_have_their_known_sizes():
    chars = characters("shakespeare")
    assert sum(map(len, (chars.train, chars.valid, chars.test))) == 1_115_394
    assert len(chars.vocabulary) == 65
    full = wikitext(vocabulary=None)
    assert (len(full.train), len(full.valid), len(full.test)) == (2_088_628, 217_646, 245_569)
    assert len(full.vocabulary) == 33_278
    parts = music()
    assert [len(parts[p].lengths) for p in ("train", "valid", "test")] == [229, 76, 77]
