"""The replay window beside brute force: every window, position and sequence."""

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest

import remanence as rm
from remanence._precision import as_double, double
from remanence.cells import Elman, GRU, Linear, LSTM, Stack
from remanence.measure import truncation_error
from remanence.nets import Recurrent, unroll, window_states


TIME, ERROR = 24, 2e-2
LENGTHS = ([24, 12], [13, 23], [18, 18])  # of one sum: the programs have one shape


def drawn(kind, key):
    """A network of one shape; some forget in three steps and some not at all."""
    key_cell, key_2, key_y, key_g = jr.split(key, 4)
    gain = jnp.exp(jr.uniform(key_g, minval=jnp.log(0.5), maxval=jnp.log(3.0)))
    scaled = lambda cell: eqx.tree_at(lambda c: c.W_h, cell, gain * cell.W_h)
    if kind == "two layers":
        cell = Stack((scaled(GRU.init(2, 4, key=key_cell)), scaled(Elman.init(4, 4, key=key_2))))
    else:
        cell = scaled({"elman": Elman, "gru": GRU, "lstm": LSTM}[kind].init(2, 6, key=key_cell))
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


def turning(rate=0.9, angle=0.7):
    """A spiral seen from one side: errors fall, but not with every step."""
    c, s = rate * np.cos(angle), rate * np.sin(angle)
    cell = Linear(jnp.array([[c, -s], [s, c]]), jnp.eye(2))
    return Recurrent(cell, jnp.array([[1.0, 0.0]]))


def test_a_window_counts_only_if_every_longer_one_is_as_good():
    net, T = turning(), 60
    A, W_y = np.asarray(net.cell.W_h, np.float64), np.asarray(net.W_y, np.float64)
    h = [np.zeros(2)]
    for _ in range(T):
        h.append(A @ h[-1] + 1)
    # What a window of k leaves out at t is W_y A^k h_(t - k).
    errors = np.zeros((T, T))
    for t in range(1, T + 1):
        for k in range(1, t):
            errors[k - 1, t - 1] = abs((W_y @ np.linalg.matrix_power(A, k) @ h[t - k]).item())
    found = rm.replay_window(net, np.ones((T, 2)), error=0.1)
    expected = brute_windows(errors, T, 0.1)
    assert found.at[0].tolist() == expected and found.worst == max(expected)
    early = np.argmax(errors.max(axis=1) <= 0.1) + 1
    assert early < found.worst  # it serves; one that is longer does not
    assert found.largest[early - 1] <= 0.1 < found.largest[int(early) - 1 :].max()


def test_one_number_everywhere():
    net = turning()
    xs = np.random.default_rng(0).normal(size=(2, 150, 2))
    lengths = [40, 150]
    xs[0, 40:] = 1e6
    found = rm.replay_window(net, xs, lengths=lengths)
    panel = rm.memory_horizon(net, xs, lengths=lengths, quick=True)
    assert 40 < found.window < 150 and panel["window"] == found.window
    assert panel.replay.window == found.window
    window = rm.truncation_window(net, error=1e-3, inputs=xs, lengths=lengths)
    assert window == found.window
    one = xs[1]
    least = int(rm.replay_window(net, one).window)
    assert least == rm.truncation_window(net, error=1e-3, inputs=one, of="outputs")
    gaps = [truncation_error(net, one, [k], gradients=False) for k in (least - 1, least)]
    assert gaps[0].outputs[0] > 1e-3 >= gaps[1].outputs[0]
    states = rm.truncation_window(net, error=1e-3, inputs=one, of="states")
    assert states == rm.replay_window(net, one, of="states").window != least


def test_a_late_stretch_of_a_late_sequence_decides():
    # A gate that opens late in the second sequence only: x[1] holds the state for good.
    class Latch(Linear):
        def __call__(self, h, x):
            keep = jnp.where(x[1] > 0, 1.0, 0.5)
            return keep * h + self.W_x @ x

    cell = Latch(jnp.zeros((1, 1)), jnp.array([[1.0, 0.0]]))
    xs = np.stack([np.ones((2, 80)), -np.ones((2, 80))], axis=-1)
    plain = rm.replay_window(cell, xs)
    xs[1, 60:75, 1] = 1.0
    found = rm.replay_window(cell, xs)
    assert plain.worst == 11 and found.worst == 11 + 15
    assert found.median == 11 and found.at[0].max() == 11
    assert np.argmax(found.at[1]) == 74 and (found.at[1][:60] <= 11).all()


class Gate(Linear):
    """The first input says how much of the state is kept."""

    def __call__(self, h, x):
        return x[0] * h + self.W_x @ x


def test_a_state_that_fades_below_rounding_and_grows_again_is_not_given_up():
    xs = np.zeros((150, 2))
    xs[0, 1] = 1.0  # kept through all but 0, and there again at the end
    xs[1:75, 0], xs[75:149, 0] = 0.25, 4.0
    found = rm.replay_window(Gate(jnp.zeros((1, 1)), jnp.array([[0.0, 1.0]])), xs)
    assert found.at[0][148] == 149 and found.largest[0] == pytest.approx(1.0)


def test_a_latch_that_keeps_its_first_side_has_no_window():
    # Windows just below the length serve by luck, at a handful of positions.
    one = jnp.ones((1, 1))
    xs = np.random.default_rng(0).uniform(-0.5, 0.5, size=(200, 1))
    found = rm.replay_window(Elman(100 * one, 60 * one), np.append([[1.0]], xs, 0))
    assert found.worst == np.inf and found.longest == 190
    assert "no window up to 190 keeps every output within 0.001" in str(found)


def test_runs_that_leave_the_range_of_floats_are_no_success():
    cell = Linear(jnp.full((1, 1), 1e30), jnp.ones((1, 1)))
    found = rm.replay_window(cell, np.ones((30, 1)))
    assert found.worst == np.inf and found.largest.max() == np.inf


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"error": 0.0}, r"error must be a positive number, got 0\.0"),
        ({"error": np.inf}, "error must be a positive number"),
        ({"inputs": np.ones((1, 2))}, "nothing out of one input"),
        ({"lengths": [40, 41]}, "lengths must lie in 1 to 40"),
        ({"targets": np.zeros(40, int)}, r"shape \(2, 40\), one a position"),
        ({"targets": np.zeros((2, 40))}, "targets must be whole numbers"),
        ({"targets": np.ones((2, 40), int)}, "lie in 0 to 0, got 1"),
    ],
)
def test_refusals(options, sentence):
    given = {"net": turning(), "inputs": np.ones((2, 40, 2))} | options
    with pytest.raises(ValueError, match=sentence):
        rm.replay_window(**given)
