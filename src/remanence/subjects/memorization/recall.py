r"""Is the string still right? $\arg\max y_t = w_t$, step by step, and after a perturbation."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from ...nets import Generator
from .written import Written


def first_error(network: Generator, labels: tuple[int, ...], *, steps: int) -> int | None:
    """The first of `steps` steps at which a generator says a wrong symbol, if any, in
    the precision of the scope."""
    return int(_first_error(network, jnp.asarray(labels), jnp.asarray(steps))) or None


@eqx.filter_jit
def _first_error(network: Generator, labels: Array, steps: Array) -> Array:
    """One loop that stops at the error: a million steps of a small network take a second."""

    def step(at: Any) -> Any:
        h, token, t, _ = at
        h = network.cell(h, network.one_hot(token))
        said = jnp.argmax(network.read(h)).astype(token.dtype)
        return h, said, t + 1, said == labels[t % labels.size].astype(token.dtype)

    first = jnp.argmax(network.one_hot(network.first))
    start = (network.h_0, first, jnp.zeros_like(steps), jnp.array(True))
    going = lambda at: at[3] & (at[2] < steps)
    _, _, t, right = jax.lax.while_loop(going, step, start)
    return jnp.where(right, 0, t)


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
