"""Sweeps with a folder: stored as they go, read back, refused by name, stopped and continued."""

import os
import re

import numpy as np
import pytest
from drawn import AXES, COMPUTED, drawn

from remanence import sweeps
from remanence.sweeps.local import Local


def test_draws_are_paired_over_the_other_axes():
    table = sweeps.sweep(drawn, AXES, dims={"x": ("place",)})
    assert table.x.dims == ("a", "b", "seed", "place")
    np.testing.assert_array_equal(2 * table.x.sel(a=1), table.x.sel(a=2))
    assert (table.x.sel(seed=0) != table.x.sel(seed=1)).all()


def test_stored_and_read_again_is_identical_and_nothing_runs_twice(tmp_path, monkeypatch):
    first = sweeps.sweep(drawn, AXES, chunk=4, folder=tmp_path)
    assert first.identical(sweeps.sweep(drawn, AXES, chunk=4))
    asked = []

    def watched(self, parts, late):
        asked.extend(part.name for part in parts)
        return COMPUTED(self, parts, late)

    monkeypatch.setattr(Local, "compute", watched)
    assert first.identical(sweeps.sweep(drawn, AXES, chunk=4, folder=tmp_path))
    assert asked == []
    (tmp_path / "chunk-000002.safetensors").unlink()
    with (tmp_path / "chunk-000003.safetensors").open("r+b") as file:
        file.truncate(50)
    again = sweeps.sweep(drawn, AXES, chunk=4, folder=tmp_path)
    assert asked == ["chunk-000002", "chunk-000003"]
    assert "chunk-000003.safetensors is damaged" in again.attrs["notices"][0]
    assert again.drop_attrs().identical(first)


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"chunk": 5}, r"chunk \(4 there, 5 here\)"),
        ({"seed": 1}, r"seed \(0 there, 1 here\)"),
        ({"x64": True}, "x64"),
        ({"data": np.ones(2)}, "data"),
        ({"static": ("b",)}, "static"),
    ],
)
def test_the_folder_of_another_sweep_is_refused_by_name(tmp_path, change, word):
    sweeps.sweep(drawn, AXES, chunk=4, folder=tmp_path)
    with pytest.raises(ValueError, match=word):
        sweeps.sweep(drawn, AXES, **({"chunk": 4, "folder": tmp_path} | change))


def test_other_axes_and_lanes_are_refused_by_name(tmp_path):
    sweeps.sweep(drawn, AXES, chunk=4, folder=tmp_path)
    with pytest.raises(ValueError, match="axis a"):
        sweeps.sweep(drawn, AXES | {"a": [1.0]}, chunk=4, folder=tmp_path)
    other = lambda point, key, data: {"x": point["a"], "log": point["b"]}
    with pytest.raises(ValueError, match="lane"):
        sweeps.sweep(other, AXES, chunk=4, folder=tmp_path)
    swapped = {name: AXES[name] for name in ("b", "a", "seed")}
    with pytest.raises(ValueError, match="axes"):
        sweeps.sweep(drawn, swapped, chunk=4, folder=tmp_path)


def test_a_time_limit_stops_between_chunks_and_each_call_gets_further(tmp_path):
    done = []
    for _ in range(4):
        with pytest.raises(sweeps.Unfinished, match="the same call continues") as caught:
            sweeps.sweep(drawn, AXES, chunk=4, folder=tmp_path, time_limit=0.0)
        done.append(caught.value.done)
        assert caught.value.total == 18
    assert done == [4, 8, 12, 16]
    last = sweeps.sweep(drawn, AXES, chunk=4, folder=tmp_path, time_limit=0.0)
    assert last.identical(sweeps.sweep(drawn, AXES, chunk=4))


def test_an_interrupt_says_what_was_stored(tmp_path, monkeypatch):
    def interrupted(self, parts, late):
        yield next(COMPUTED(self, parts, late))
        raise KeyboardInterrupt

    monkeypatch.setattr(Local, "compute", interrupted)
    with pytest.raises(KeyboardInterrupt, match="stopped: 4 of 18 lanes are stored in"):
        sweeps.sweep(drawn, AXES, chunk=4, folder=tmp_path)


def test_plan_holds_no_path_time_or_host(tmp_path):
    sweeps.sweep(drawn, AXES, chunk=4, folder=tmp_path)
    plan = (tmp_path / "plan.safetensors").read_bytes().decode("latin-1")
    assert str(tmp_path) not in plan
    # As a word of its own: a machine may be called vm, and a library llvmlite.
    assert not re.search(rf"\b{re.escape(os.uname().nodename)}\b", plan)


def test_compiled_lightly_it_is_another_sweep_with_the_same_numbers(tmp_path):
    plain = sweeps.sweep(drawn, AXES, folder=tmp_path / "plain")
    light = sweeps.sweep(drawn, AXES, folder=tmp_path / "light", fast_compile=True)
    np.testing.assert_allclose(light.x, plain.x, rtol=1e-5)
    with pytest.raises(ValueError, match="light"):
        sweeps.sweep(drawn, AXES, folder=tmp_path / "plain", fast_compile=True)
