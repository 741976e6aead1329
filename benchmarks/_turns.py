"""Contestants take turns, each rested and warm: and are held against the rate of products."""

import functools
import time

import jax
import numpy as np


PAUSE = 0.05
"""Seconds of rest: idle threads of the one before spin for a while, on the same cores."""


def interleaved(contestants, repeats):
    """Seconds of each contestant, in turn; the call after the pause is not counted."""
    times = {name: [] for name in contestants}
    for call in contestants.values():
        call()
    for _ in range(repeats):
        for name, call in contestants.items():
            time.sleep(PAUSE)
            call()
            begun = time.perf_counter()
            call()
            times[name].append(time.perf_counter() - begun)
    return {name: np.array(values) for name, values in times.items()}


@functools.cache
def product_rate(dtype):
    """Products of two matrices on all cores, by the faster of JAX and NumPy, in flop a second."""
    size = 1024
    A = np.random.default_rng(0).random((size, size)).astype(dtype)
    with jax.enable_x64(dtype == np.float64):
        parts = [jax.device_put(A, device) for device in jax.devices()]
        product = jax.jit(lambda A, B: A @ B)

        def ours():
            jax.block_until_ready([product(B, B) for B in parts for _ in range(4)])

        calls = {4 * len(parts): ours, 1: lambda: A @ A}
        rates = []
        for products, call in calls.items():
            call()
            times = []
            for _ in range(7):
                begun = time.perf_counter()
                call()
                times.append(time.perf_counter() - begun)
            rates.append(2 * products * size**3 / min(times))
    return max(rates)
