"""Lanes: a finished one gives its place away."""

import numpy as np
import pytest

from remanence.subjects.shared_representations.batch_lanes import finished_lanes


def test_lanes_give_their_place_away():
    lengths, steps = [3, 1, 4, 1, 5, 9, 2], []

    def advance(batch, taken):
        assert taken.any()
        steps.append(taken.sum())
        left = batch - taken
        return left, left <= 0

    ends = dict(
        finished_lanes(
            len(lengths),
            start=lambda i: np.asarray(lengths[i]),
            advance=advance,
            width=2,
        )
    )
    assert {i: int(v) for i, v in ends.items()} == dict.fromkeys(range(7), 0)
    assert sum(steps) == sum(lengths)  # nobody was moved who was not there


def test_lanes_pass_an_error_on():
    def advance(batch, taken):
        raise RuntimeError("burst")

    with pytest.raises(RuntimeError, match="burst"):
        list(finished_lanes(2, start=lambda i: np.asarray(i), advance=advance))
