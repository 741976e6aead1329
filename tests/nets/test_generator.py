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
        loop = ClosedLoop(net.cell, net.feedback)
        first = net.cell(net.h_0, net.one_hot(net.first))
        found = lyapunov_spectrum(loop, steps=10, h0=first, warmup=0)
    np.testing.assert_allclose(found.exponents, np.log(3), atol=1e-12)
