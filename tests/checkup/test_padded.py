"""Padded sequences: what is behind their ends is heard by no measure."""

import jax.random as jr
import numpy as np
import pytest

import remanence as rm
from remanence.cells import Elman
from remanence.measure import memory_horizon


LENGTHS = [150, 240, 180]
BATCH = np.random.default_rng(2).normal(size=(4, 300, 2))


@pytest.fixture(scope="module")
def cell():
    return Elman.init(2, 6, key=jr.key(0), gain=0.9)


def batch(beyond):
    drawn = np.random.default_rng(0).normal(size=(3, 300, 2))
    for sequence, length in zip(drawn, LENGTHS, strict=True):
        sequence[length:] = beyond
    return drawn


def test_the_panel_does_not_hear_the_padding(cell):
    quiet, loud = (
        memory_horizon(cell, batch(beyond), lengths=LENGTHS, quick=True, time_limit=2.0)
        for beyond in (0.0, 1e6)
    )
    assert [m.value for m in quiet.measures] == [m.value for m in loud.measures]
    longest = memory_horizon(cell, batch(0.0)[1, :240], quick=True, time_limit=0.5)
    assert quiet["exponent"] != longest["exponent"]  # all sequences have their part


def test_the_certificate_holds_for_every_sequence(cell):
    xs = batch(0.0)
    xs[2, 7] = 9.0  # louder than all of the longest one
    proved = memory_horizon(cell, xs, lengths=LENGTHS, quick=True, time_limit=0.5).certificate
    assert proved is not None and proved.input_bound == 9.0


def test_a_checkup_of_padded_sequences(cell):
    options = {"lengths": LENGTHS, "quick": True, "time_limit": 0.5}
    one, two = (rm.checkup(cell, batch(beyond), **options) for beyond in (0.0, -1e6))
    assert one.verdict == two.verdict
    np.testing.assert_array_equal(one.orbit, two.orbit)
    np.testing.assert_array_equal(one.eigenvalues, two.eigenvalues)
    assert len(one.orbit) == sum(n - n // 5 for n in LENGTHS)
    assert one.verdict.startswith("on 3 sequences of 150 to 240 steps as given")


def test_real_lengths_spread_widely(cell):
    # A warm-up of a fifth of the longest is longer than the shortest sequence.
    lengths = [12, 300, 200, 25]
    found = rm.checkup(cell, BATCH, lengths=lengths, quick=True, time_limit=0.5)
    assert found.spectrum.sequences == 2 and found.spectrum.warmup == 60
    assert found.notes[0].startswith("The exponents are those of the 2 sequences, of 4")
    assert found.horizon.replay.positions == sum(lengths)


def test_refusals(cell):
    xs = batch(0.0)
    for lengths, sentence in (
        ([150, 240], "one length each"),
        ([150, 240, 301], "lengths must lie in 1 to 300"),
        ([15, 19, 12], "a checkup needs at least 20 steps, got 19"),
    ):
        with pytest.raises(ValueError, match=sentence):
            rm.checkup(cell, xs, lengths=lengths, quick=True, time_limit=0.5)
    with pytest.raises(ValueError, match=r"error must be a positive number, got 0\.0"):
        memory_horizon(cell, xs, error=0.0)
