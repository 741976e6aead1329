"""Language models' proofs: closed forms, no text found that breaks them, and what projection proves."""

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest
from linear_recurrences import DELTA, GATES
from tiny_blocks import griffin, tiny_blocks, WIDTH

import remanence as rm
from remanence._precision import as_double, double
from remanence.cells import Heads, RetNet
from remanence.cells.parts import Dense, GatedMLP, Norm
from remanence.nets import Recurrent
from remanence.train.projection import stable


KINDS = GATES | DELTA
NO_WINDOW = ("rwkv4", "rwkv5", "rwkv6", "deltanet")
HISTORY, AFTER = 6, 10


def log_decays(layer, us):
    """The largest log decay of a layer along what its gates took."""
    recurrence = layer.recurrence
    if not hasattr(recurrence, "transition"):
        return jnp.max(jax.vmap(recurrence.log_decays, in_axes=(None, 0))(None, us))
    d, p, q = jax.vmap(recurrence.transition, in_axes=(None, 0))(None, us)
    A = d[..., None] * jnp.eye(d.shape[-1]) - p[..., :, None] * q[..., None, :]
    return jnp.max(jnp.log(jnp.linalg.norm(A, ord=2, axis=(-2, -1))))


@eqx.filter_jit
def observed(cell, xs):
    """Gaps of the outputs after 1, 2, ... inputs since the restart, and every layer's decays."""
    _, full, runs = cell.along(cell.initial_state(), xs)
    short = cell.outputs(xs[HISTORY:])
    # The root has no slope at zero.
    gaps = jnp.sqrt(jnp.sum((full[HISTORY:] - short) ** 2, axis=1) + 1e-300)
    decays = [log_decays(layer, run.inputs) for layer, run in zip(cell.layers, runs, strict=True)]
    return gaps, jnp.stack(decays)


@eqx.filter_jit
def found_by_ascent(cell, starts):
    """What is observed for inputs from which gradients lead to large gaps and slow decays."""

    def goal(xs):
        gaps, decays = observed(cell, xs)
        return jnp.sum(jnp.log(gaps)) + jnp.sum(decays)

    def step(xs, _):
        slope = jnp.nan_to_num(jax.grad(goal)(xs))
        size = jnp.sqrt(jnp.mean(slope**2)) + 1e-30
        return xs + 0.1 * jnp.sqrt(jnp.mean(xs**2)) * slope / size, observed(cell, xs)

    climb = lambda xs: jax.lax.scan(step, xs, None, length=25)[1]
    return jax.vmap(climb)(starts)


def drawn_inputs(seed):
    """Three sequences: a norm's gain is largest for small ones, gates open for large ones."""
    drawn = np.random.default_rng(seed).normal(size=(3, HISTORY + AFTER, WIDTH))
    return drawn * np.array([1e-3, 1.0, 30.0])[:, None, None]


def kinds():
    """Those that stand for the others, and the others."""
    often = ("mamba", "rg-lru", "mingru", "mlstm", "gated deltanet")
    mark = lambda name: () if name in often else (pytest.mark.slow,)
    return [pytest.param(name, marks=mark(name)) for name in KINDS]


@pytest.mark.parametrize("name", kinds())
def test_no_text_is_found_that_breaks_the_proof(name, key):
    """Drawn stacks, as they are and held at a rate: drawn and adversarial inputs, all scales."""
    for draw in range(4):
        at = jr.fold_in(key, draw)
        cell = tiny_blocks(name, at, convolved=True)
        if draw >= 2 and name not in ("deltanet", "gla"):
            cell = stable(cell, rate=0.9)
            assert rm.contraction(cell).rate <= 0.9
        proof = rm.contraction(cell)
        assert proof.vacuous == (name in NO_WINDOW)
        with double():
            wide = as_double(cell)
            starts = jnp.asarray(drawn_inputs(draw))
            gaps, decays = found_by_ascent(wide, starts)
        proved = np.array([layer.log_decay.max() for layer in proof.layers])
        assert (np.asarray(decays) <= proved + 1e-12).all()
        if not proof.vacuous:
            bound = np.array([proof.gap(k) for k in range(1, AFTER + 1)])
            assert (np.asarray(gaps) <= bound).all() and np.isfinite(bound).all()


def test_closed_forms(key):
    """Gamma of one half is the rate; a gate that hears nothing has its bias's decay."""
    cell = tiny_blocks("retnet", key, layers=1)
    gates = RetNet(Heads(2, 3, 2), jnp.array([0.5, 0.25]))
    cell = eqx.tree_at(lambda c: c.layers[0].recurrence.gates, cell, gates)
    layer = rm.contraction(cell).layers[0]
    np.testing.assert_allclose(layer.log_decay.ravel(), np.log([0.5, 0.25]), rtol=1e-15)
    assert layer.rate == pytest.approx(0.5, rel=1e-14) and layer.rate > 0.5
    cell = tiny_blocks("mingru", key, layers=1)
    deaf = cell.layers[0].W_in.W.at[3:].set(0)
    where = lambda c: c.layers[0].W_in
    cell = eqx.tree_at(where, cell, Dense(deaf, jnp.full(6, 1.0)))
    assert rm.contraction(cell).rate == pytest.approx(1 / (1 + np.e), rel=1e-6)


def test_the_rate_of_a_minimal_gru_is_reached(key):
    """Its gates hear the normed input alone, so the worst input is that along a row."""
    cell = tiny_blocks("mingru", key, layers=1)
    W = cell.layers[0].W_in.W[3:]
    with double():
        wide = as_double(cell)
        decays = observed(wide, jnp.asarray(np.repeat(-1e3 * W, 6, axis=0), float))[1]
    assert rm.contraction(cell).layers[0].log_decay.max() == pytest.approx(float(decays[0]), 1e-6)


def test_windows_of_distributions_are_proved(key):
    net = Recurrent.init(tiny_blocks("mingru", key), outputs=11, key=key, tokens=11)
    proof = rm.contraction(net.cell)
    proved = rm.truncation_window(proof, error=1e-3, net=net)
    text = np.random.default_rng(0).integers(0, 11, 200)
    found = rm.replay_window(net, text, error=1e-3)
    assert found.worst <= proved < 500
    assert rm.truncation_window(proof, error=1e-6, net=net) > proved
    assert proof.gap(proved) < proof.gap(1)


def test_the_panel_of_horizons_has_the_proof_of_a_stack_of_layers(key):
    cell = tiny_blocks("mingru", key)
    tokens = np.random.default_rng(0).integers(0, 11, 60)
    for net in (Recurrent.init(cell, outputs=11, key=key, tokens=11), Recurrent(cell)):
        inputs = tokens if net.embedding is not None else drawn_inputs(0)[1]
        panel = rm.memory_horizon(net, inputs, quick=True)
        proved = panel.certificate.output_window(1e-3, net)
        assert panel["window"] <= panel["certified window"] == proved
    with pytest.raises(ValueError, match="without a readout gives no distribution"):
        panel.certificate.window(1e-3, net)


def test_perceptrons_and_norms_behind_a_layer_are_counted(key):
    cell = tiny_blocks("mingru", key)
    draw = lambda i, *shape: Dense(jr.normal(jr.fold_in(key, i), shape))
    mlp = GatedMLP(Norm(jnp.ones(WIDTH)), draw(0, 5, 4), draw(1, 5, 4), draw(2, 4, 5))
    more = eqx.tree_at(lambda c: c.layers[0].mlp, cell, mlp, is_leaf=lambda x: x is None)
    norm = Norm(jnp.ones(3), groups=1)
    more = eqx.tree_at(lambda c: c.layers[1].norm_out, more, norm, is_leaf=lambda x: x is None)
    proof = rm.contraction(more)
    assert proof.layers[0].perceptron > 0 and proof.window(1e-3) > rm.contraction(cell).window(1e-3)
    with double():
        wide = as_double(more)
        gaps, _ = jax.vmap(observed, in_axes=(None, 0))(wide, jnp.asarray(drawn_inputs(0)))
    bound = np.array([proof.gap(k) for k in range(1, AFTER + 1)])
    assert (np.asarray(gaps) <= bound).all()


def test_where_no_window_follows_one_sentence_says_why(key):
    # A decay that 512 bits do not tell from none.
    wide = tiny_blocks("mingru", key, layers=1)
    wide = eqx.tree_at(lambda c: c.layers[0].W_in.W, wide, 200 * wide.layers[0].W_in.W)
    proof = rm.contraction(wide)
    assert -1e-200 < proof.layers[0].log_decay.max() < 0 and "never forget" in proof.why
    proof = rm.contraction(tiny_blocks("deltanet", key))
    assert proof.rate == 1 and "a channel may never forget" in str(proof)
    with pytest.raises(ValueError, match="no window can be proved: layer 0: for all that"):
        proof.window(1e-3)
    proof = rm.contraction(griffin(key))
    assert proof.rate < 1 and "layer 2: no gain through local attention" in proof.why


@pytest.mark.parametrize("kind", ["mamba", "rg-lru", "mingru"])
def test_a_model_is_trained_within_its_rate(kind, key):
    from remanence.nets.language_model import gated_language_model

    net = gated_language_model(kind, tokens=5, width=8, layers=2, key=key)
    hold = eqx.filter_jit(lambda cell: stable(cell, rate=0.95))
    held = hold(net.cell)
    proof = rm.contraction(held)
    assert proof.rate <= 0.95 < rm.contraction(net.cell).rate or kind == "mingru"
    assert not proof.vacuous and proof.window(1e-3) < 10_000
    # What is inside already stays as it is.
    for one, two in zip(*map(jax.tree.leaves, (held, hold(held))), strict=True):
        np.testing.assert_allclose(one, two, rtol=1e-4)


def test_gates_that_cannot_be_held_are_refused(key):
    for name, words in (("gla", "without a bias cannot be held"), ("deltanet", "no stable set")):
        with pytest.raises(ValueError, match=words):
            stable(tiny_blocks(name, key), rate=0.9)
    with pytest.raises(ValueError, match="rates above 1/2 only"):
        stable(tiny_blocks("minlstm", key), rate=0.4)
