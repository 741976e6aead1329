r"""Is the string still right? $\arg\max y_t = w_t$, step by step, and after a perturbation."""

import equinox as eqx
import numpy as np

from ...nets import Generator
from .written import Written


_emissions = eqx.filter_jit(Generator.emissions)


def first_error(network: Generator, labels: tuple[int, ...], *, steps: int) -> int | None:
    """The first of `steps` steps at which a generator says a wrong symbol, if any, in
    the precision of the scope."""
    wrong = np.asarray(_emissions(network, steps)) != np.resize(np.asarray(labels), steps)
    return int(wrong.argmax()) + 1 if wrong.any() else None


def noise_tolerance(
    written: Written, labels: tuple[int, ...], *, seed: int, directions: int = 64, periods: int = 3
) -> float:
    """The largest perturbation of a state (2-norm) that no drawn direction minds.

    The string must be right for `periods` periods from the perturbed state on. By
    bisection, at each of the p phases of the word in turn, in float64.
    """
    p, network = len(labels), written.astype(float)
    drawn = np.random.default_rng(seed).normal(size=(written.dimension, directions))
    drawn /= np.linalg.norm(drawn, axis=0)
    phases = np.arange(directions) % p
    orbit = network.orbit(p).T[:, phases]
    wanted = np.asarray(labels)[(phases + np.arange(periods * p)[:, None]) % p]
    low, high = np.zeros(directions), np.full(directions, 4.0)
    for _ in range(30):
        middle = (low + high) / 2
        h, right = orbit + middle * drawn, np.ones(directions, dtype=bool)
        for symbols in wanted:
            said = (network.W_y @ h + network.b_y[:, None]).argmax(axis=0)
            right &= said == symbols
            h = network.W_h @ h if network.W_x is None else network.W_h @ h + network.W_x[:, said]
            h = np.tanh(h) if network.activation == "tanh" else h
        low, high = np.where(right, middle, low), np.where(right, high, middle)
    return float(low.min())
