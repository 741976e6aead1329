import pytest

from remanence.subjects.memorization.words import (
    draw_strings,
    END,
    necklaces,
    START,
    true_period,
    word,
)


def test_period_is_the_true_one():
    assert word("abcabcabc").indices == (0, 1, 2)
    assert word("aab").period == 3 and word("aaaa").period == 1
    assert [true_period(w) for w in ((0, 1, 0, 1, 0), (1,) * 6, (0, 1) * 4)] == [5, 1, 2]


@pytest.mark.parametrize(("period", "count"), [(3, 1), (6, 5), (9, 28), (12, 170)])
def test_necklaces_are_counted_right(period, count):
    # Lyndon words up to complement: an independent count by brute force.
    found = list(necklaces(period))
    assert len(found) == len(set(found)) == count
    seen = set()
    for w in found:
        turns = {w[i:] + w[:i] for i in range(period)}
        turns |= {tuple(1 - x for x in t) for t in turns}
        assert not seen & turns
        seen |= turns
    primitive = sum(
        true_period([c >> i & 1 for i in range(period)]) == period for c in range(1 << period)
    )
    assert len(seen) == primitive


def test_tokens_are_not_characters():
    w = word("<END>", end=True)
    assert w.period == 6 and w.alphabet[-1] is END
    assert w.join(w.indices) == "<END>"
    assert repr(START) == "<START>"


@pytest.mark.parametrize(
    ("symbols", "alphabet", "sentence"),
    [
        ("", None, "at least one symbol"),
        ("abc", "ab", "does not hold 'c'"),
        ("ab", "aab", "twice"),
        ((END, 1), None, "by keyword"),
    ],
)
def test_bad_words_are_refused(symbols, alphabet, sentence):
    with pytest.raises(ValueError, match=sentence):
        word(symbols, alphabet=alphabet)


def test_drawn_strings_repeat_by_seed():
    draw = lambda seed: list(draw_strings(20, lengths=(1, 5), letters=(1, 3), seed=seed))
    assert draw(1) == draw(1) != draw(2)
