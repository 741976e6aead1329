"""The timescales of units in closed form, and results that show themselves."""

import dataclasses

import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest

import remanence as rm
from remanence import cells
from remanence._precision import as_double, double
from remanence.measure.fixed_points import jacobian_at


def test_units_of_a_diagonal_map_have_their_own_timescales():
    a = jnp.array([0.9, 0.5, 0.99])
    net = cells.Linear(jnp.diag(a), jnp.eye(3))
    found = rm.checkup(net, np.ones((60, 3)), quick=True, time_limit=0.5)
    (layer,) = found.units
    np.testing.assert_allclose(layer.timescales, -1 / np.log(a), rtol=1e-5)
    assert layer.longest == [2, 0, 1] and np.all(layer.stderr < 1e-9)


def test_an_lstm_holds_its_cell_state_by_the_forget_gate(tmp_path):
    bias = jnp.zeros(8).at[2:4].set(jnp.array([1.0, 4.0]))
    layer = cells.LSTM(jnp.zeros((8, 2)), jnp.zeros((8, 2)), bias)
    found = rm.checkup(cells.Stack((layer, layer)), np.ones((60, 2)), quick=True, time_limit=0.5)
    kept = 1 / (1 + np.exp(-np.array([1.0, 4.0])))
    for number, units in enumerate(found.units, 1):
        assert units.layer == number
        np.testing.assert_allclose(units.timescales, -1 / np.log(kept), rtol=1e-5)
    page = found.save(tmp_path / "page.html").read_text()
    assert "Which units hold the long memory" in page and "55.1" in page


def test_eigenvalues_of_a_stack_are_those_of_its_whole_jacobian():
    layers = (cells.LSTM.init(2, 3, key=jr.key(0)), cells.GRU.init(3, 2, key=jr.key(1)))
    stack, xs = cells.Stack(layers), np.random.default_rng(0).normal(size=(60, 2))
    found = rm.checkup(stack, xs, quick=True, time_limit=0.5)
    with double():
        whole = jacobian_at(as_double(stack), found.orbit.mean(axis=0), xs.mean(axis=0))
    expected = np.linalg.eigvals(np.asarray(whole)).astype(complex)
    np.testing.assert_allclose(np.sort(found.eigenvalues), np.sort(expected), atol=1e-12)


@pytest.fixture(scope="module")
def results():
    cell = cells.Linear(0.5 * jnp.eye(2), jnp.eye(2))
    checkup = rm.checkup(cell, np.ones((60, 2)), name="<b>", quick=True, time_limit=0.5)
    proof = rm.contraction(cell, input_bound=1.0)
    return checkup, checkup.horizon, checkup.spectrum, proof, rm.memorize("ab")


def test_every_result_shows_itself_in_a_notebook_and_in_a_few_lines(results):
    for result in results:
        html, text = result._repr_html_(), str(result)
        assert html.count("<tr>") >= 4 and "<b><b>" not in html
        assert 1 <= len(text.splitlines()) <= 16
        assert all(len(line) < 400 for line in text.splitlines())
    checkup, _, spectrum, proof, _ = results
    assert "0.5" in proof._repr_html_() and "-0.6931" in str(spectrum)
    unstable = dataclasses.replace(
        spectrum, exponents=-spectrum.exponents, stderr=0 * spectrum.stderr
    )
    assert [name for name, *_ in rm.checkup.headline.large_numbers(checkup)] == [
        "remembers",
        "safe window",
        "stable?",
    ]
    assert rm.checkup.headline.large_numbers(checkup)[2][1] == "yes"
    worse = dataclasses.replace(
        checkup, horizon=dataclasses.replace(checkup.horizon, spectrum=unstable)
    )
    assert rm.checkup.headline.large_numbers(worse)[2][1] == "no"
