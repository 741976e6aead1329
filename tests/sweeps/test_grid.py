"""A grid is cut the same way everywhere, and every lane is in exactly one chunk."""

import jax
import jax.random as jr
import numpy as np
import pytest
from hypothesis import given, strategies as st

from remanence.sweeps.grid import grid


@given(
    sizes=st.lists(st.integers(1, 4), min_size=1, max_size=4),
    chunk=st.integers(1, 9),
    choice=st.integers(0, 15),
)
def test_every_lane_is_computed_once(sizes, chunk, choice):
    axes = {f"axis{i}": range(size) for i, size in enumerate(sizes)}
    static = [name for i, name in enumerate(axes) if choice >> i & 1]
    whole = grid(axes, static=static, chunk=chunk, seed=0)
    seen = [lane for part in whole.parts for lane in whole.lanes(part)]
    assert sorted(seen) == list(range(whole.total))
    assert [part.index for part in whole.parts] == list(range(len(whole.parts)))
    assert 1 <= whole.width <= chunk
    assert all(part.lanes <= whole.width for part in whole.parts)


def test_points_and_static_points_follow_the_axes():
    axes = {"a": [10, 20], "word": ["x", "y"], "b": [0.5, 1.5, 2.5]}
    whole = grid(axes, static=["word"], chunk=4, seed=0)
    assert whole.static_point(0) == {"word": "x"}
    assert whole.static_point(1) == {"word": "y"}
    assert [part.name for part in whole.parts][:2] == ["chunk-000000", "chunk-000001"]
    first, _ = whole.points(whole.parts[0])
    assert first["a"].tolist() == [10, 10, 10] and first["a"].dtype == np.int32
    assert first["b"].tolist() == [0.5, 1.5, 2.5] and first["b"].dtype == np.float32
    with jax.enable_x64(True):
        assert whole.points(whole.parts[0])[0]["b"].dtype == np.float64


def test_a_million_lanes_are_cut_without_holding_them():
    axes = {"a": range(100), "word": ["x", "y"], "seed": range(5_000)}
    whole = grid(axes, static=["word"], chunk=64, seed=0)
    assert whole.total == 1_000_000
    last = whole.parts[-1]
    points, keys = whole.points(last)
    assert whole.lanes(last)[-1] == 999_999
    assert (points["a"][-1], points["seed"][-1]) == (99, 4_999)
    assert keys.shape == (whole.width,)


def test_chunks_are_evened_out_and_the_last_repeats_its_last_lane():
    whole = grid({"x": range(17)}, static=(), chunk=16, seed=0)
    assert whole.width == 9 and [part.lanes for part in whole.parts] == [9, 8]
    points, keys = whole.points(whole.parts[1])
    assert points["x"].tolist() == [*range(9, 17), 16] and keys.shape == (9,)


def key_bits(keys):
    return jr.key_data(keys).tolist()


def test_keys_follow_the_seed_axis_where_there_is_one():
    whole = grid({"x": [1.0, 2.0], "seed": [4, 7]}, static=(), chunk=4, seed=5)
    keys = key_bits(whole.points(whole.parts[0])[1])
    assert keys[0] == keys[2] and keys[1] == keys[3] and keys[0] != keys[1]
    assert keys[1] == key_bits(jr.fold_in(jr.key(5), 7))


def test_keys_follow_the_position_where_there_is_no_seed_axis():
    whole = grid({"x": range(5)}, static=(), chunk=2, seed=5)
    keys = [key_bits(whole.points(part)[1])[: part.lanes] for part in whole.parts]
    flat = [key for some in keys for key in some]
    assert flat == [key_bits(jr.fold_in(jr.key(5), i)) for i in range(5)]


def test_a_static_seed_is_a_seed_too():
    whole = grid({"x": [1.0], "seed": [4, 7]}, static=["seed"], chunk=4, seed=5)
    keys = key_bits(whole.points(whole.parts[1])[1])
    assert keys == [key_bits(jr.fold_in(jr.key(5), 7))]


@pytest.mark.parametrize(
    ("axes", "static", "chunk", "sentence"),
    [
        ({}, (), 1, "at least one axis"),
        ({"x": []}, (), 1, "axis 'x' has no values"),
        ({"x": [1, 1]}, (), 1, "holds a value twice"),
        ({"x": ["a"]}, (), 1, "axis 'x' holds words, so it must be static"),
        ({"x": [None]}, (), 1, "not a number or a word"),
        ({"x": [float("nan")]}, (), 1, "holds NaN"),
        ({"x": [2**40]}, (), 1, "too large to be traced"),
        ({"x": [1]}, ("y",), 1, "static names 'y', which is not an axis"),
        ({"x": [1]}, (), 0, "chunk must be at least 1, got 0"),
        ({"seed": [-1]}, (), 1, "a seed is a whole number"),
        ({"seed": [0.5]}, (), 1, "a seed is a whole number"),
    ],
)
def test_bad_grids_are_refused(axes, static, chunk, sentence):
    with pytest.raises(ValueError, match=sentence):
        grid(axes, static=static, chunk=chunk, seed=0)
