"""Windows: proved beside measured, and the corrections that Lemma 1 needs."""

import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest

from remanence.cells import Elman, GRU, Linear, LSTM, Residual
from remanence.measure import (
    contraction,
    gradient_bound,
    truncation_bound,
    truncation_error,
    truncation_window,
)
from remanence.nets import Recurrent


def scalar(rate):
    return Linear(jnp.full((1, 1), rate), jnp.ones((1, 1)))


def test_the_gap_of_a_scalar_map_under_constant_input():
    # The gap is rate**k (1 + rate + ...): the bound is met in the limit.
    proof = contraction(scalar(0.5), input_bound=1.0)
    found = truncation_error(scalar(0.5), np.ones((60, 1)), [1, 3, 6])
    for k, gap in zip(found.windows, found.states, strict=True):
        bound = truncation_bound(proof, int(k))
        assert bound == pytest.approx(0.5**k / 0.5, rel=1e-9)
        assert 0.99 * bound < gap <= bound


def test_a_map_that_moves_at_rest_needs_the_correction():
    # h' = .5 h + 1 with x = 0: Lemma 1 as printed gives 0, the gap at k = 3 is .25.
    cell = Elman(jnp.full((1, 1), 0.5), jnp.ones((1, 1)), jnp.ones(1), activation=lambda z: z)
    proof = contraction(cell, input_bound=0.0, slopes=(1.0, 1.0))
    assert proof.input_gain * proof.input_bound == 0
    gap = truncation_error(cell, np.zeros((60, 1)), [3], gradients=False).states[0]
    assert gap == pytest.approx(0.25, rel=1e-6)
    assert gap <= truncation_bound(proof, 3) <= 0.2501


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("kind", ["elman", "lstm", "gru"])
def test_no_measured_gap_passes_the_proved_one(kind, seed):
    key_cell, key_x, key_net = jr.split(jr.key(seed), 3)
    if kind == "elman":
        cell = Elman.init(3, 8, key=key_cell, gain=0.6)
    else:
        drawn = (LSTM if kind == "lstm" else GRU).init(3, 6, key=key_cell)
        cell = type(drawn)(0.2 * drawn.W_h, 0.2 * drawn.W_x, drawn.b)
    net = Recurrent.init(cell, outputs=2, key=key_net)
    xs = np.asarray(jr.uniform(key_x, (80, 3), minval=-1.0, maxval=1.0))
    proof = contraction(cell, input_bound=1.0)
    found = truncation_error(net, xs, [1, 2, 4, 8, 16], gradients=False)
    for k, gap, out in zip(found.windows, found.states, found.outputs, strict=True):
        assert gap <= truncation_bound(proof, int(k))
        assert out <= truncation_bound(proof, int(k), net=net)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_no_measured_gradient_gap_passes_lemma_2(seed):
    key_cell, key_x = jr.split(jr.key(seed))
    drawn = Elman.init(2, 6, key=key_cell)
    W = 0.8 * drawn.W_h / jnp.linalg.norm(drawn.W_h, ord=2)
    cell = Elman(W, drawn.W_x, drawn.b)
    xs = np.asarray(jr.uniform(key_x, (60, 2), minval=-0.7, maxval=0.7))
    windows = [1, 3, 6, 12, 24]
    found = truncation_error(cell, xs, windows)
    for k, gap in zip(windows, found.gradients, strict=True):
        bound = gradient_bound(cell, k, input_bound=1.0, loss_slope=6**0.5, loss_bend=1.0)
        assert gap <= bound
    assert found.gradients[-1] < found.gradients[0]


def test_windows_proved_and_measured_in_one_call(key):
    cell = Elman.init(2, 6, key=key, gain=0.5)
    xs = np.asarray(jr.uniform(key, (60, 2), minval=-1.0, maxval=1.0))
    proof = contraction(cell, input_bound=1.0)
    proved = truncation_window(proof, error=1e-3, inputs=xs)
    measured = truncation_window(cell, error=1e-3, inputs=xs)
    assert truncation_bound(proof, proved) <= 1e-3 < truncation_bound(proof, proved - 1)
    assert 1 <= measured <= proved
    gaps = truncation_error(cell, xs, [measured], gradients=False)
    assert gaps.states[0] <= 1e-3


def test_a_coupling_above_one_carries_the_states_further():
    cell = Residual(0.0, 0.4 * jnp.eye(2), 9 * jnp.ones((2, 1)), coupling=2.0)
    proof = contraction(cell)
    assert proof.evidence["output_bound"] >= 2
    found = truncation_error(cell, np.ones((20, 1)), [1], gradients=False)
    assert found.states[0] <= truncation_bound(proof, 1)
    held = Residual(0.5, 0.1 * jnp.eye(2), jnp.ones((2, 1)))
    assert contraction(held).evidence["output_bound"] >= 2


def test_an_unstable_network_is_refused_and_offered_the_measured_window():
    proof = contraction(scalar(1.1), input_bound=1.0)
    with pytest.raises(ValueError, match=r"no window can be proved.*measures one"):
        truncation_window(proof, error=1e-3)
    with pytest.raises(ValueError, match="vacuous"):
        truncation_bound(proof, 3)


def test_inputs_outside_the_bound_are_named():
    proof = contraction(scalar(0.5), input_bound=1.0)
    xs = np.zeros((9, 1))
    xs[4] = 1.5
    with pytest.raises(ValueError, match=r"modulus 1.5 at step 4, component 0"):
        truncation_window(proof, error=1e-3, inputs=xs)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: truncation_window(contraction(scalar(0.5)), error=1e-3), "input_bound"),
        (lambda: truncation_window(scalar(0.5), error=1e-3), "needs inputs"),
        (
            lambda: truncation_window(contraction(scalar(0.5), input_bound=1.0), error=0.0),
            "error must be",
        ),
        (
            lambda: truncation_window(scalar(1.0), error=1e-3, inputs=np.ones((40, 1))[:3]),
            "no window up to 2 steps keeps every output within 0.001",
        ),
    ],
)
def test_bad_requests(call, sentence):
    with pytest.raises(ValueError, match=sentence):
        call()


def test_a_proved_window_of_outputs_is_not_that_of_the_states():
    proof = contraction(scalar(0.5), input_bound=1.0)
    with pytest.raises(ValueError, match="of the outputs needs net="):
        truncation_window(proof, error=1e-3, of="outputs")
    net = Recurrent(scalar(0.5), jnp.full((1, 1), 8.0))
    found = truncation_window(proof, error=1e-3, of="outputs", net=net)
    assert found == truncation_window(proof, error=1e-3) + 3
    assert found == truncation_window(proof, error=1e-3, net=net)


def test_a_proved_window_of_the_states_is_theirs_also_where_net_is_given():
    proof = contraction(scalar(0.5), input_bound=1.0)
    quiet = Recurrent(scalar(0.5), jnp.full((1, 1), 2.0**-9))
    assert truncation_window(proof, error=1e-3, net=quiet) == 2
    assert truncation_window(proof, error=1e-3, of="states", net=quiet) == 11


def test_inputs_that_cannot_be_heard_are_refused_by_what_is_wrong_with_them():
    cases = [
        (np.full((9, 1), np.nan), "the inputs hold NaN"),
        (np.ones((9, 2)), "the cell takes 1 numbers a step, the inputs have 2"),
        (np.ones((9, 1)) * 1j, "the inputs must be real numbers"),
        (np.ones((0, 1)), "the inputs are empty"),
    ]
    for inputs, sentence in cases:
        with pytest.raises(ValueError, match=sentence):
            truncation_window(scalar(0.5), error=1e-3, inputs=inputs)


def test_whole_numbers_drive_a_bare_cell_as_numbers():
    inputs = np.ones((40, 1), int)
    found = truncation_window(scalar(0.5), error=1e-3, inputs=inputs)
    assert found == truncation_window(scalar(0.5), error=1e-3, inputs=inputs * 1.0)


def test_tokens_leave_a_domain_by_what_is_heard_of_them():
    proof = contraction(scalar(0.5), input_bound=1.0)
    tokens = np.array([0, 1, 2, 1])
    quiet = Recurrent(scalar(0.5), embedding=jnp.array([[0.1], [-1.0], [0.5]]))
    assert truncation_window(proof, error=1e-3, inputs=tokens, net=quiet) > 1
    loud = Recurrent(scalar(0.5), embedding=jnp.array([[0.1], [-1.0], [1.5]]))
    with pytest.raises(ValueError, match=r"modulus 1\.5 at step 2"):
        truncation_window(proof, error=1e-3, inputs=tokens, net=loud)
