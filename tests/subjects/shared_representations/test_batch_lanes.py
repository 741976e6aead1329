"""Lanes: a finished one gives its place away."""

import jax.numpy as jnp
import numpy as np
import pytest

from remanence.subjects.shared_representations.batch_lanes import finished_lanes


def test_lanes_give_their_place_away():
    lengths, advanced = [3, 1, 4, 1, 5, 9, 2], []

    def advance(batch):
        advanced.append(len(batch))
        return batch - 1, batch <= 1

    ends = dict(
        finished_lanes(
            ["float32"] * len(lengths),
            start=lambda i: np.asarray(lengths[i]),
            advance=advance,
            width=2,
        )
    )
    assert {i: int(v) for i, v in ends.items()} == dict.fromkeys(range(7), 0)
    assert len(advanced) == 14  # two at a time, and nobody waits for a neighbour


def test_each_lane_goes_in_its_own_precision():
    seen = []

    def advance(batch):
        seen.append((len(batch), str(jnp.asarray(0.0).dtype)))
        return batch, np.full(2, True)

    order = ["float64", "float32", "float64"]
    start = lambda i: np.asarray(0.0)
    ends = finished_lanes(order, start=start, advance=advance, width=2)
    assert [i for i, _ in ends] == [1, 0, 2]
    assert seen == [(2, "float32"), (2, "float64")]


def test_lanes_pass_an_error_on():
    def advance(batch):
        raise RuntimeError("burst")

    start = lambda i: np.asarray(i)
    with pytest.raises(RuntimeError, match="burst"):
        list(finished_lanes(["float32"] * 2, start=start, advance=advance))
