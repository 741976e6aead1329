"""Sweeps: exact on a formula, the same bits in any order, divergence."""

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import optax
import pytest
from drawn import AXES, COMPUTED, drawn

from remanence import sweeps, train
from remanence.sweeps.local import Local


def product(point, key, data):
    return {"product": point["a"] * point["b"] + data}


def test_a_product_table():
    table = sweeps.sweep(product, {"a": [1.0, 2.0, 3.0], "b": [10.0, 20.0]}, data=0.5)
    assert table["product"].dims == ("a", "b")
    assert table["product"].sel(a=3, b=20).item() == 60.5
    np.testing.assert_array_equal(table["product"], [[10.5, 20.5], [20.5, 40.5], [30.5, 60.5]])


def test_nan_is_an_outcome_in_its_place():
    table = sweeps.sweep(drawn, AXES)
    sums = table.x.sum("x_0")
    np.testing.assert_array_equal(np.isnan(table.log), sums < 0)
    assert np.isnan(table.log).any() and not np.isnan(table.log).all()


def test_static_axes_arrive_as_python_values_one_program_each():
    traced = []

    def lane(point, key, data):
        traced.append(dict(point))
        return {"total": point["scale"] * jnp.ones(point["units"]).sum(), "n": 1}

    axes = {"scale": [1.0, 2.0, 3.0], "units": [1, 3], "word": ["x", "y"]}
    table = sweeps.sweep(lane, axes, static=("units", "word"), chunk=2)
    assert len(traced) == 4
    assert {(p["units"], p["word"]) for p in traced} == {(1, "x"), (1, "y"), (3, "x"), (3, "y")}
    assert table.total.sel(scale=2, units=3, word="y").item() == 6
    assert table.total.sel(scale=2, units=1, word="x").item() == 2


def test_sizes_that_differ_between_programs_are_refused():
    lane = lambda point, key, data: {"n": jnp.arange(point["units"])}
    with pytest.raises(ValueError, match="'n' has other sizes at other static points"):
        sweeps.sweep(lane, {"units": [1, 2]}, static=("units",))


def test_precision_is_the_sweeps_own():
    lane = lambda point, key, data: {"x": point["a"] / 3}
    assert sweeps.sweep(lane, {"a": [1.0]}).x.dtype == np.float32
    double = sweeps.sweep(lane, {"a": [1.0]}, x64=True)
    assert double.x.item() == 1 / 3
    assert not jax.config.jax_enable_x64


def test_the_order_in_which_chunks_are_computed_leaves_no_trace(monkeypatch):
    first = sweeps.sweep(drawn, AXES, chunk=4)
    backwards = lambda self, parts, late: COMPUTED(self, list(parts)[::-1], late)
    monkeypatch.setattr(Local, "compute", backwards)
    assert first.identical(sweeps.sweep(drawn, AXES, chunk=4))


def test_the_callers_scopes_reach_the_lanes():
    lane = lambda point, key, data: {"x": jr.normal(key, (3,))}
    with jax.threefry_partitionable(False):
        inside = sweeps.sweep(lane, {"seed": range(4)}).x
        direct = jr.normal(jr.fold_in(jr.key(0), 1), (3,))
    assert inside.sel(seed=1).values.tolist() == direct.tolist()
    assert (inside != sweeps.sweep(lane, {"seed": range(4)}).x).all()


def test_trainings_are_lanes():
    def lane(point, key, data):
        loss = lambda w, drawn, key: 0.5 * (w**2).sum()
        _, history = train.trained(
            jnp.ones(1), loss, optax.sgd(point["rate"]), steps=6, key=key, every=3
        )
        return history

    table = sweeps.sweep(lane, {"rate": [0.5, 1e30]}, dims={"loss": ("chunk",)})
    assert table.diverged_at.values.tolist() == [-1, 1]
    assert np.isnan(table.loss.sel(rate=1e30)[1])


def test_names_are_checked_on_the_first_chunk():
    lane = lambda point, key, data: {"a": point["a"]}
    with pytest.raises(ValueError, match="the name of an axis"):
        sweeps.sweep(lane, {"a": [1.0]})
    with pytest.raises(ValueError, match="dims names 2 dimensions of 'x', which has 1"):
        sweeps.sweep(drawn, AXES, dims={"x": ("one", "two")})
    with pytest.raises(ValueError, match="which the lane does not return"):
        sweeps.sweep(drawn, AXES, dims={"y": ("one",)})


def test_thousands_of_lanes_do_not_hold_their_states():
    def lane(point, key, data):
        start = point["x"] + jnp.arange(20_000.0)
        return {"mean": jax.lax.fori_loop(0, 2, lambda _, h: jnp.cos(h), start).mean()}

    before = _peak()
    table = sweeps.sweep(lane, {"x": [0.1 * i for i in range(5_000)]}, chunk=16)
    # All states together would be 400 MB; a chunk of them is 1.3 MB.
    assert table["mean"].shape == (5_000,)
    assert _peak() - before < 250e6


def _peak():
    import resource

    return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def test_the_bar_goes_to_stderr(capfd):
    sweeps.sweep(drawn, AXES, chunk=4, title="a sweep", quiet=False)
    captured = capfd.readouterr()
    assert captured.out == ""
    assert "a sweep" in captured.err and "18/18 lanes" in captured.err
