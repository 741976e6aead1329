"""The replay window beside brute force: every window, position and sequence."""

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest

import remanence as rm
from remanence._precision import as_double, double
from remanence.cells import Elman, GRU, LSTM, Stack
from remanence.nets import Recurrent, unroll, window_states


TIME, ERROR = 24, 2e-2
LENGTHS = ([24, 12], [13, 23], [18, 18])  # of one sum: the programs have one shape


def drawn(kind, key):
    """A network of one shape; some forget in three steps and some not at all."""
    key_cell, key_2, key_y, key_g = jr.split(key, 4)
    gain = jnp.exp(jr.uniform(key_g, minval=jnp.log(0.5), maxval=jnp.log(3.0)))
    scaled = lambda cell: eqx.tree_at(lambda c: c.W_h, cell, gain * cell.W_h)
    if kind == "two layers":
        cell = Stack(
            (
                scaled(GRU.init(2, 4, key=key_cell)),
                scaled(Elman.init(4, 4, key=key_2)),
            )
        )
    else:
        cell = scaled(
            {"elman": Elman, "gru": GRU, "lstm": LSTM}[kind].init(2, 6, key=key_cell)
        )
    return Recurrent.init(cell, outputs=3, key=key_y)


@eqx.filter_jit
def brute_errors(nets, xs, of):
    """Networks x sequences x windows x time, by truncating anew for every window."""

    def one(net, xs):
        flat = lambda h: jax.flatten_util.ravel_pytree(h)[0]
        read = jax.vmap(net.read if of == "outputs" else flat)
        full = read(unroll(net.cell, net.cell.initial_state(), xs))
        short = lambda k: read(window_states(net.cell, xs, k))
        gap = lambda k: jnp.linalg.norm(short(k) - full, axis=1)
        return jax.vmap(gap)(jnp.arange(1, xs.shape[0] + 1))

    return eqx.filter_vmap(lambda net: jax.vmap(lambda x: one(net, x))(xs))(nets)


def brute_windows(errors, length, error):
    """Of one sequence: the least window from which on all are within the error."""
    found = []
    for t in range(1, length + 1):
        k = t
        while k > 1 and errors[k - 2, t - 1] <= error:
            k -= 1
        found.append(k)
    return found


def share_window(windows, share):
    """The least window off at no more than a share of the positions that it shortens."""
    longest = max(map(len, windows))
    for k in range(1, longest):
        cut = [w for sequence in windows for w in sequence[k:]]
        if len(cut) < 0.05 * sum(map(len, windows)):
            break
        if np.mean(np.asarray(cut) > k) <= share:
            return k
    return np.inf


@pytest.mark.parametrize(
    ("kind", "of"),
    [
        ("elman", "outputs"),
        ("gru", "outputs"),
        ("lstm", "outputs"),
        ("lstm", "states"),
        ("two layers", "outputs"),
    ],
)
def test_every_position_of_drawn_networks_is_as_by_brute_force(kind, of):
    with double():
        xs = jr.normal(jr.key(1), (2, TIME, 2))
        nets = [as_double(drawn(kind, key)) for key in jr.split(jr.key(0), 26)]
        stacked = jax.tree.map(lambda *leaves: jnp.stack(leaves), *nets)
        errors = np.asarray(brute_errors(stacked, xs, of))
    seen, gaps = set(), 0
    for i, net in enumerate(nets):
        ends = LENGTHS[i % 3]
        found = rm.replay_window(net, xs, error=ERROR, of=of, lengths=ends)
        expected = [brute_windows(errors[i, s], ends[s], ERROR) for s in range(2)]
        assert [w.tolist() for w in found.at] == expected
        for name, share in (("worst", 0), ("q95", 0.05), ("median", 0.5)):
            assert getattr(found, name) == share_window(expected, share)
        assert found.window == found.worst and not found.sampled
        assert found.positions == sum(ends) and found.sequences == 2
        real = [errors[i, s, :, : ends[s]] for s in range(2)]
        most = np.max([e.max(axis=1) for e in real], axis=0)[: max(ends) - 1]
        np.testing.assert_allclose(found.largest, most, rtol=1e-9, atol=1e-12)
        seen.add(found.worst)
        first = [np.argmax(e <= ERROR, axis=0) + 1 for e in real]
        gaps += any((f < w).any() for f, w in zip(first, found.at, strict=True))
    assert len(seen) >= 5 and max(seen) >= 11  # the networks are not all alike
    assert np.inf in seen or kind != "elman"
    assert gaps >= 3  # and in some a shorter window serves where a longer one does not
