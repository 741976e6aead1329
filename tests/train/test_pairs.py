"""Three ways down one loss, on cases whose end is known."""

import diffrax
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from remanence.measure.alignment import translation
from remanence.measure.connectivity import connectivity, path_bound
from remanence.nets.gated_linear import GatedLinear, relabelled
from remanence.tasks.language_pairs import (
    circulant_pairs,
    nested_pairs,
    published_pairs,
    word_permutations,
)
from remanence.train.descent import safe_descent
from remanence.train.gradient_flow import gradient_flow
from remanence.train.lanes import finished_lanes
from remanence.train.momentum import momentum_sgd, steps_survive
from remanence.train.pairs import exact_loss, PairRun
from remanence.train.side_by_side import side_by_side


def drawn(key, fraction=0.45, languages=4, words=3, units=3, scale=0.1):
    net = GatedLinear.init(
        languages=languages, words=words, units=units, scale=scale, key=key
    )
    return PairRun(net, nested_pairs(languages, fraction, key=key))


@pytest.mark.parametrize("mask", ["full", "diagonal"])
def test_flow_stops_at_the_loss_and_conserves(mask, key):
    runs = [drawn(k) for k in jax.random.split(key, 3)]
    fits = dict(gradient_flow(runs, mask=mask, stop=1e-6, width=2))
    for i, fit in fits.items():
        assert fit.ending == "converged"
        assert fit.loss == pytest.approx(1e-6, rel=1e-3)
        assert fit.drift < 1e-5
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
            diffrax.ODETerm(
                lambda t, w, args: jax.tree.map(lambda g: -g, jax.grad(loss)(w))
            ),
            diffrax.Dopri8(),
            t0=0.0,
            t1=fit.time,
            dt0=None,
            y0=start,
            stepsize_controller=diffrax.PIDController(rtol=1e-10, atol=1e-12),
        )
        ends = [np.asarray(a[-1]) for a in jax.tree.leaves(flow.ys)]
    for ours, theirs in zip(jax.tree.leaves(fit.net), ends, strict=True):
        np.testing.assert_allclose(ours, theirs, atol=1e-5)


@pytest.mark.parametrize("mask", ["full", "diagonal"])
def test_the_flow_in_float32_ends_at_the_same_place(mask, key):
    run = drawn(key, words=4, units=4)
    ends = [
        dict(gradient_flow([run], mask=mask, stop=1e-6, width=1, precision=precision))[
            0
        ]
        for precision in ("float32", "float64")
    ]
    single, exact = ends
    assert single.precision == "float32" and single.net.W_h.dtype == np.float32
    assert single.time == pytest.approx(exact.time, rel=1e-2)
    tests = [translation(fit.net, run.T, mask=mask).loss_untrained for fit in ends]
    assert tests[0] == pytest.approx(tests[1], rel=1e-2)


def test_a_loss_that_float32_cannot_reach_is_refused(key):
    with pytest.raises(ValueError, match="float32 rounds the flow's last steps away"):
        next(gradient_flow([drawn(key)], mask="full", stop=1e-9, precision="float32"))


def test_descent_ends_where_the_flow_does(key):
    run = drawn(key)
    (_, flow), *_ = gradient_flow([run], mask="full", stop=1e-8, width=1)
    (_, walk), *_ = safe_descent([run], mask="full", stop=1e-8, every=20, width=1)
    assert walk.ending == "converged"
    assert walk.drift < 0.05
    gap = np.abs(walk.net.products() - flow.net.products()).max()
    assert gap < 0.02


@pytest.mark.parametrize("mask", ["full", "diagonal"])
def test_momentum_is_optax_on_the_written_loss(mask, key):
    run = drawn(key, languages=3, words=4, units=4, scale=0.3)
    (_, fit), *_ = momentum_sgd(
        [run], mask=mask, stop=1e-30, every=10, limit=40, width=2, precision="float64"
    )
    with jax.enable_x64(True):
        D = run.net.sizes[1]
        params = jax.tree.map(lambda a: jnp.asarray(np.asarray(a, float)), run.net)
        T = jnp.asarray(run.T)

        def loss(net):
            M = T[:, :, None, None] * (jnp.eye(D) if mask == "diagonal" else 1.0)
            return jnp.sum(((net.products() - jnp.eye(D)) * M) ** 2) / jnp.sum(T)

        optimizer = optax.sgd(5e-3, momentum=0.9)
        state = optimizer.init(params)
        for _ in range(40):
            updates, state = optimizer.update(jax.grad(loss)(params), state)
            params = optax.apply_updates(params, updates)
        for a, b in zip(jax.tree.leaves(fit.net), jax.tree.leaves(params), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-12)
    assert fit.steps == 40 and fit.ending == "out of steps"


def test_batch_neighbours_do_not_change_a_lane(key):
    runs = [drawn(k, scale=0.3) for k in jax.random.split(key, 3)]
    together = dict(momentum_sgd(runs, mask="diagonal", stop=1e-7, every=50, width=2))
    for i, run in enumerate(runs):
        (_, alone), *_ = momentum_sgd(
            [run], mask="diagonal", stop=1e-7, every=50, width=2
        )
        np.testing.assert_array_equal(alone.net.W_o, together[i].net.W_o)
        assert alone.steps == together[i].steps


def test_connected_pairs_generalise_within_the_path_bound(key):
    """H = D: the bound along paths holds on trained networks."""
    T = circulant_pairs(4, 2)
    net = GatedLinear.init(languages=4, words=3, units=3, scale=0.05, key=key)
    (_, fit), *_ = gradient_flow([PairRun(net, T)], mask="full", stop=1e-8, width=1)
    blocks = fit.net.products()
    gap = np.linalg.norm(blocks - np.eye(3), ord=2, axis=(2, 3))
    bound = path_bound(connectivity(T), float(gap[T == 1].max()))
    assert (gap <= bound + 1e-5).all()
    assert translation(fit.net, T, mask="full").accuracy_untrained == 1.0


def test_islands_do_not_generalise(key):
    """Across components the loss is a half on average over random starts."""
    T = np.kron(np.eye(2), np.ones((2, 2)))
    runs = [
        PairRun(GatedLinear.init(languages=4, words=3, units=3, scale=0.1, key=k), T)
        for k in jax.random.split(key, 24)
    ]
    losses = [
        translation(fit.net, T, mask="full").loss_across
        for _, fit in safe_descent(runs, mask="full", stop=1e-6, every=20, width=8)
    ]
    assert np.mean(losses) + 2 * np.std(losses) / len(losses) ** 0.5 > 0.5
    assert min(losses) > 1e-2


def test_narrow_hidden_layer_is_refused_with_its_reason(key):
    run = drawn(key, words=3, units=2)
    for train in (gradient_flow, safe_descent, momentum_sgd):
        with pytest.raises(ValueError, match=r"H = 2 < D = 3 is infeasible.*rank"):
            next(train([run], mask="full", stop=1e-6))


def test_tiny_scale_switches_to_double(key):
    tiny = drawn(key, scale=1e-8)
    assert not steps_survive(tiny, mask="diagonal", precision="float32")
    assert steps_survive(tiny, mask="diagonal", precision="float64")
    (_, fit), *_ = momentum_sgd([tiny], mask="diagonal", stop=1e-6, every=2, limit=4)
    assert fit.precision == "float64"
    assert np.any(fit.net.W_o != np.asarray(tiny.net.W_o, float))
    (_, fit), *_ = momentum_sgd(
        [drawn(key, scale=1e-2)], mask="diagonal", stop=1e-6, every=2, limit=4
    )
    assert fit.precision == "float32"
    with pytest.raises(ValueError, match="rounds every step away even in float64"):
        next(momentum_sgd([drawn(key, scale=1e-25)], mask="diagonal", stop=1e-6))


def test_a_burst_is_an_outcome(key):
    (_, fit), *_ = momentum_sgd(
        [drawn(key, scale=3.0)], mask="full", stop=1e-6, rate=1.0, every=50, limit=100
    )
    assert fit.ending == "diverged" and np.isnan(fit.loss)


@pytest.mark.parametrize("mask", ["full", "diagonal"])
@pytest.mark.parametrize("train", [momentum_sgd, safe_descent, gradient_flow])
def test_any_dictionaries_train_as_the_identity_does(train, mask, key):
    """Same loss, same steps, and the same network but for the names of its words."""
    plain = drawn(key, words=4, units=4, scale=0.3)
    words = word_permutations(4, 4, key=jax.random.key(8))
    spoken = PairRun(relabelled(plain.net, words), plain.T, words)
    options = {"mask": mask, "stop": 1e-4, "every": 20, "width": 1}
    (_, one), *_ = train([plain], **options)
    (_, other), *_ = train([spoken], **options)
    assert other.loss == one.loss and other.steps == one.steps
    renamed = relabelled(one.net, words)
    np.testing.assert_array_equal(renamed.W_o, np.asarray(other.net.W_o, np.float32))
    np.testing.assert_array_equal(renamed.W_i, np.asarray(other.net.W_i, np.float32))


@pytest.mark.parametrize("mask", ["full", "diagonal"])
def test_dictionaries_are_those_of_the_written_loss(mask, key):
    """SGD with Π_k against optax on the loss with its permutation matrices."""
    words = word_permutations(3, 4, key=jax.random.key(9))
    start = drawn(key, languages=3, words=4, units=4, scale=0.3)
    run = PairRun(start.net, start.T, words)
    (_, fit), *_ = momentum_sgd(
        [run], mask=mask, stop=1e-30, every=10, limit=30, width=1, precision="float64"
    )
    with jax.enable_x64(True):
        params = jax.tree.map(lambda a: jnp.asarray(np.asarray(a, float)), run.net)
        T = jnp.asarray(run.T)
        Pi = jnp.eye(4)[np.argsort(words, axis=1)]
        target = jnp.einsum("kai,lbi->klab", Pi, Pi)

        def loss(net):
            M = T[:, :, None, None] * (target if mask == "diagonal" else 1.0)
            return jnp.sum(((net.products() - target) * M) ** 2) / jnp.sum(T)

        optimizer = optax.sgd(5e-3, momentum=0.9)
        state = optimizer.init(params)
        for _ in range(30):
            updates, state = optimizer.update(jax.grad(loss)(params), state)
            params = optax.apply_updates(params, updates)
        for a, b in zip(jax.tree.leaves(fit.net), jax.tree.leaves(params), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-12)


def test_dictionaries_must_be_permutations(key):
    run = drawn(key)
    with pytest.raises(ValueError, match="words must hold 4 permutations of 3 words"):
        PairRun(run.net, run.T, np.zeros((4, 3), dtype=int))


@pytest.mark.slow
def test_processes_find_what_one_does(key):
    """Whoever takes a run, its bits are those of a run alone."""
    runs = [drawn(k, scale=0.3) for k in jax.random.split(key, 3)]
    options = {"mask": "diagonal", "stop": 1e-5, "every": 100, "limit": 2_000}
    shared = dict(side_by_side(momentum_sgd, runs, workers=2, **options))
    assert set(shared) == {0, 1, 2}
    for i, run in enumerate(runs):
        (_, alone), *_ = momentum_sgd([run], width=1, **options)
        np.testing.assert_array_equal(alone.net.W_o, shared[i].net.W_o)
        assert alone.steps == shared[i].steps


def test_languages_must_agree(key):
    with pytest.raises(ValueError, match="T speaks of 3 languages, the network of 4"):
        PairRun(drawn(key).net, np.ones((3, 3)))


def test_lanes_give_their_place_away():
    lengths = [3, 1, 4, 1, 5, 9, 2]

    def advance(batch):
        left = batch - 1
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


def test_lanes_pass_an_error_on():
    def advance(batch):
        raise RuntimeError("burst")

    with pytest.raises(RuntimeError, match="burst"):
        list(finished_lanes(2, start=lambda i: np.asarray(i), advance=advance))


@pytest.mark.slow
def test_the_documents_cell():
    T = published_pairs(0.401, seed=0)
    run = PairRun(GatedLinear.published(seed=0, scale=1e-2), T)
    (_, fit), *_ = momentum_sgd([run], mask="diagonal", stop=1e-6 / 64, width=1)
    assert 64 * exact_loss(fit.net, 1 - T, "diagonal") == pytest.approx(
        2.03814e-4, rel=1e-2
    )
