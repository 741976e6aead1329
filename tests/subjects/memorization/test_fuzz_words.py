"""Strings and sequences from anywhere: remembered exactly, or refused with a sentence."""

import pytest
from fuzzed import Counts
from hypothesis import given, settings, strategies as st

from remanence import memorize
from remanence.subjects.memorization.words import END, START, word


SYMBOLS = st.characters() | st.sampled_from(["<START>", "\x00", "\ud800", "👩‍👩‍👧", "é", "é"])
WORDS = (
    st.lists(SYMBOLS, max_size=12).map("".join)
    | st.lists(
        st.integers() | st.none() | st.booleans() | st.text(max_size=2) | st.floats(), max_size=8
    )
    | st.lists(st.sampled_from([START, END, "a"]), max_size=4)
    | st.integers(1, 5).flatmap(
        lambda n: st.text("ab", min_size=1, max_size=4).map(lambda s: s * n)
    )
)


@pytest.fixture(scope="module")
def counts():
    return Counts("words")


@settings(max_examples=400)
@given(symbols=WORDS, end=st.booleans())
def test_a_word_is_read_or_refused(counts, symbols, end):
    try:
        found = word(symbols, end=end)
    except ValueError:
        counts.add("refused")
        assert not symbols or START in symbols or END in symbols
        return
    counts.add("read")
    length = len(symbols) + end
    assert length % found.period == 0
    spelled = [found.alphabet[k] for k in found.indices] * (length // found.period)
    wanted = [*symbols, *([END] if end else [])]
    assert all(a == b or a != a for a, b in zip(spelled, wanted, strict=True))


@settings(max_examples=60)
@given(symbols=st.lists(SYMBOLS, max_size=8).map("".join))
def test_any_string_comes_back_from_its_weights(counts, symbols):
    try:
        memory = memorize(symbols, method="permutation")
    except ValueError:
        counts.add("not memorized")
        assert not symbols
        return
    counts.add("memorized")
    assert memory.generate(2 * len(symbols)) == 2 * symbols


def test_both_outcomes_were_seen(counts, capsys):
    seen = counts.done(capsys)
    assert min(seen[name] for name in ("read", "refused", "memorized")) > 5
