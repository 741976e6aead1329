import jax.numpy as jnp
import numpy as np
import pytest

import remanence as rm
from remanence._precision import double
from remanence.measure import lyapunov_spectrum
from remanence.nets import ClosedLoop


@pytest.mark.parametrize("method", ["harmonic", "permutation", "rational", "tanh"])
@pytest.mark.parametrize("start", [False, True])
def test_jax_says_what_numpy_says(method, start):
    memory = rm.memorize("abcacb", method=method, start=start)
    said = memory.network.emissions(18)
    np.testing.assert_array_equal(said, memory.emissions(18))


def test_shift_map_agrees_while_it_has_digits():
    with double():
        said = rm.memorize("0010111", method="shift").network.emissions(14)
    np.testing.assert_array_equal(said, [0, 0, 1, 0, 1, 1, 1] * 2)


def test_exponent_of_the_closed_loop_is_log_n():
    with double():
        net = rm.memorize("abcacb", method="shift").network
        loop = ClosedLoop(net.cell, net.said)
        first = net.cell(net.h_0, net.heard(net.first))
        found = lyapunov_spectrum(loop, steps=10, h0=first, warmup=0)
    np.testing.assert_allclose(found.exponents, np.log(3), atol=1e-12)


def test_structured_and_dense_permutations_agree():
    from remanence.subjects.memorization.structured import Companion, Cycle, Structured, Turns

    v = np.arange(1.0, 7.0)
    np.testing.assert_array_equal(Cycle(6, 2) @ v, np.roll(np.eye(6), 2, axis=0) @ v)
    companion = np.eye(6, k=-1)
    companion[:, -1] = -1
    np.testing.assert_array_equal(Companion(6) @ v, companion @ v)
    np.testing.assert_array_equal(Companion(6) @ jnp.asarray(v, jnp.float32), companion @ v)
    turns = Turns(np.array([0.6, 0.0, -1.0]), np.array([0.8, 1.0, 0.0]))
    dense = np.zeros((6, 6))
    for i, (c, s) in enumerate(zip(turns.cos, turns.sin, strict=True)):
        dense[2 * i : 2 * i + 2, 2 * i : 2 * i + 2] = [[c, -s], [s, c]]
    np.testing.assert_allclose(turns @ v, dense @ v)
    frame = np.arange(12.0).reshape(6, 2)
    np.testing.assert_allclose(turns @ frame, dense @ frame)
    cell = Structured(Cycle(6, 1, 2.0), None, tanh=True)
    Q = jnp.eye(6)
    h, JQ = cell.pushforward(jnp.asarray(v, jnp.float32) / 9, None, Q)
    expected = (1 - np.asarray(h) ** 2)[:, None] * (2 * np.roll(np.eye(6), 1, axis=0))
    np.testing.assert_allclose(JQ, expected, atol=1e-6)
