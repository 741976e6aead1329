r"""Is the string still right? $\arg\max y_t = w_t$, step by step, in a network's own arithmetic."""

import contextlib
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
from jaxtyping import Array, Float

from ..._precision import double
from ..._types import Key, State
from ...nets import Generator


class Tolerance(eqx.Module):
    """Perturbations of the state after which the string was still right.

    `size` is the largest that was harmless in every direction tried (2-norm);
    `directions` says how many there were.
    """

    size: float
    directions: int
    periods: int


def _scope(network: Generator):
    wide = any(getattr(leaf, "dtype", None) == jnp.float64 for leaf in jax.tree.leaves(network))
    return double() if wide else contextlib.nullcontext()


def first_error(network: Generator, labels: tuple[int, ...], *, steps: int) -> int | None:
    """The first of `steps` steps at which the network says a wrong symbol, if any.

    The network runs in the floating type of its own weights. One loop that stops at
    the error: a million steps of a small network take about a second.
    """
    with _scope(network):
        found = int(_first_error(network, jnp.asarray(labels), jnp.asarray(steps)))
    return None if found > steps else found


@eqx.filter_jit
def _first_error(network: Generator, labels: Array, steps: Array) -> Array:
    one = jnp.ones_like(steps)

    def step(at: tuple[State, Array, Array, Array]):
        h, token, t, _ = at
        h = network.cell(h, network.heard(token))
        said = jnp.argmax(network.read(h)).astype(token.dtype)
        return h, said, t + one, said == labels[t % labels.size].astype(token.dtype)

    going = lambda at: at[3] & (at[2] < steps)
    first = jnp.argmax(network.heard(network.first))
    start = (network.h_0, first, jnp.zeros_like(steps), jnp.array(True))
    _, _, t, right = jax.lax.while_loop(going, step, start)
    return jnp.where(right, steps + one, t)


def recalled(network: Generator, labels: tuple[int, ...], *, periods: int = 3) -> bool:
    """Whether the network says the word that many times over."""
    return first_error(network, labels, steps=periods * len(labels)) is None


def noise_tolerance(
    network: Generator,
    labels: tuple[int, ...],
    *,
    key: Key,
    directions: int = 64,
    periods: int = 3,
    grace: int = 0,
    largest: float = 4.0,
) -> Tolerance:
    """The largest perturbation of the first state that no drawn direction minds.

    The string must be right for `periods` periods after `grace` steps; with a grace
    a memory is given the time to repair itself. By bisection, at each of the p
    phases of the word, in float64.
    """
    with double():
        wide = jax.tree.map(
            lambda leaf: (
                jnp.asarray(np.asarray(leaf), dtype=jnp.float64)
                if eqx.is_inexact_array(leaf)
                else leaf
            ),
            network,
        )
        size = _tolerance(
            wide,
            jnp.asarray(labels),
            _directions(wide.h_0, key, directions),
            periods * len(labels),
            grace,
            jnp.asarray(largest, dtype=jnp.float64),
        )
    return Tolerance(float(size), directions, periods)


def _directions(h: State, key: Key, count: int) -> Float[Array, "count units"]:
    drawn = jr.normal(key, (count, h.size), dtype=jnp.float64)
    return drawn / jnp.linalg.norm(drawn, axis=1, keepdims=True)


@eqx.filter_jit
def _tolerance(
    network: Generator, labels: Array, directions: Array, steps: int, grace: int, largest: Array
) -> Array:
    p = labels.size
    token = jnp.argmax(network.heard(network.first))

    def walk(at: tuple[State, Array], _: Any):
        h, x = at
        h = network.cell(h, network.heard(x))
        said = jnp.argmax(network.read(h))
        return (h, said), (h, said)

    orbit = jax.lax.scan(walk, (network.h_0, token), None, length=p)[1][0]

    def right(direction: Array, phase: Array, size: Array) -> Array:
        h = orbit[phase] + size * direction
        now = jnp.argmax(network.read(h))
        _, (_, later) = jax.lax.scan(walk, (h, now), None, length=steps + grace - 1)
        all_said = jnp.concatenate([now[None], later])
        wanted = labels[(phase + jnp.arange(steps + grace)) % p]
        fine = (all_said == wanted) | (jnp.arange(steps + grace) < grace)
        return fine.all()

    def bisected(direction: Array, phase: Array) -> Array:
        def halve(_: Any, ends: tuple[Array, Array]):
            low, high = ends
            middle = (low + high) / 2
            ok = right(direction, phase, middle)
            return jnp.where(ok, middle, low), jnp.where(ok, high, middle)

        low, _ = jax.lax.fori_loop(0, 30, halve, (jnp.zeros_like(largest), largest))
        return low

    phases = jnp.arange(directions.shape[0]) % p
    return jax.vmap(bisected)(directions, phases).min()
