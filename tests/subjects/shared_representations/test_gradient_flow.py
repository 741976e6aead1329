"""The gradient flow, on cases whose end is known."""

import diffrax
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from pair_runs import drawn

from remanence.subjects.shared_representations.gated_linear import GatedLinear, translation
from remanence.subjects.shared_representations.pair_training import exact_loss, PairRun
from remanence.subjects.shared_representations.sgd_and_flow import gradient_flow


def conserved(net):
    """What gradient flow keeps: W_oᵀW_o − W_hW_hᵀ and W_hᵀW_h − W_iW_iᵀ."""
    W_o, W_h, W_i = (np.asarray(w, float) for w in (net.W_o, net.W_h, net.W_i))
    return (
        np.einsum("kdh,kdj->hj", W_o, W_o) - W_h @ W_h.T,
        W_h.T @ W_h - np.einsum("lhd,ljd->hj", W_i, W_i),
    )


@pytest.mark.parametrize("mask", ["full", "diagonal"])
def test_flow_stops_at_the_loss_and_conserves(mask, key):
    runs = [drawn(k) for k in jax.random.split(key, 3)]
    fits = dict(gradient_flow(runs, mask=mask, stop=1e-6, width=2))
    for i, fit in fits.items():
        assert fit.ending == "converged"
        assert fit.loss == pytest.approx(1e-6, rel=1e-3)
        for before, now in zip(conserved(runs[i].net), conserved(fit.net), strict=True):
            np.testing.assert_allclose(now, before, atol=3e-5)
        assert exact_loss(fit.net, runs[i].T, mask) == fit.loss


def test_flow_of_one_word_in_one_language_is_the_closed_form():
    r"""L = D = H = 1, balanced: $\dot a = a^2(1 - a^3)$ for $\Lambda = \frac12(a^3-1)^2$."""
    a0 = 0.3
    one = np.full((1, 1, 1), a0)
    run = PairRun(GatedLinear(one, one[0], one), np.ones((1, 1)))
    (_, fit), *_ = gradient_flow([run], mask="full", stop=1e-6, rtol=1e-9, width=1)
    end = (1 - np.sqrt(2e-6)) ** (1 / 3)
    assert fit.net.W_h[0, 0] == pytest.approx(end, rel=1e-6)
    # t = ∫ da / (a²(1 - a³)) by quadrature.
    a = np.linspace(np.log(a0), np.log(end), 400_001)
    f = np.exp(a) / (np.exp(a) ** 2 * (1 - np.exp(a) ** 3))
    assert fit.time == pytest.approx(np.trapezoid(f, a), rel=1e-4)


def test_the_flow_is_what_diffrax_makes_of_it(key):
    """Our loop against `diffeqsolve` with a tighter tolerance, at the same time."""
    run = drawn(key)
    ((_, fit),) = gradient_flow([run], mask="full", stop=1e-4, rtol=1e-7, width=1)
    D, pairs = run.net.sizes[1], run.T.sum()
    with jax.enable_x64(True):
        start = jax.tree.map(lambda a: jnp.asarray(np.asarray(a, float)), run.net)

        def loss(net):
            error = (net.products() - jnp.eye(D)) * jnp.asarray(run.T)[..., None, None]
            return jnp.sum(error**2) / (2 * D * pairs)

        flow = diffrax.diffeqsolve(
            diffrax.ODETerm(lambda t, w, args: jax.tree.map(lambda g: -g, jax.grad(loss)(w))),
            diffrax.Tsit5(),
            t0=0.0,
            t1=fit.time,
            dt0=None,
            y0=start,
            stepsize_controller=diffrax.PIDController(rtol=1e-10, atol=1e-12),
        )
        ends = [np.asarray(a[-1]) for a in jax.tree.leaves(flow.ys)]
    for ours, theirs in zip(jax.tree.leaves(fit.net), ends, strict=True):
        np.testing.assert_allclose(ours, theirs, atol=1e-5)


def test_the_flow_in_float32_ends_at_the_same_place(key):
    run, mask = drawn(key), "full"
    single, exact = ends = [
        dict(gradient_flow([run], mask=mask, stop=1e-6, width=2, precision=precision))[0]
        for precision in ("float32", "float64")
    ]
    assert single.net.W_h.dtype == np.float32
    assert single.time == pytest.approx(exact.time, rel=1e-2)
    tests = [translation(fit.net, run.T, mask=mask)["test_loss"] for fit in ends]
    assert tests[0] == pytest.approx(tests[1], rel=1e-2)
