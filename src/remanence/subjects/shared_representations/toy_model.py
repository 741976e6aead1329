r"""The toy of one word: $\frac12\|(s\,uv^\top - J)\odot T\|^2$ from any $\sigma$, in log scale.

With $y = e^\rho\hat y$, $\|\hat y\| = 1$, the size of the weights is one more coordinate and never
underflows. For $n$ factors, two ($s = 1$) or three, the clock is $d\tau = e^{(n-2)\rho}dt$, in which
the first growth takes $O(\log 1/\sigma)$; with three $t \sim 1/\sigma$, and the record keeps $t\,\sigma$.
"""

import functools
import math
from typing import Any, NamedTuple

import diffrax
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
from jaxtyping import Array, Float

from ..._precision import double
from ..._types import Key
from .sign_barriers import normals


WIDTH = 16  # draws followed together; one before a sign barrier delays only its neighbours


class ToyState(NamedTuple):
    """A direction of norm 1, the log of its length, log σ, and the time so far."""

    direction: tuple[Float[Array | np.ndarray, "*draws_and_n"], ...]  # u, v, and s of three factors
    log_size: Float[Array | np.ndarray, "*draws"]
    log_sigma: Float[Array | np.ndarray, "*draws"]
    time: Float[Array | np.ndarray, "*draws"]  # $t$ for two factors, $t\,\sigma$ for three


class ToyFit(NamedTuple):
    """Where draws of the toy ended; `test_loss` is the mean over untaught pairs."""

    state: ToyState
    loss: Float[Array | np.ndarray, " draws"]
    test_loss: Float[Array | np.ndarray, " draws"]


def toy_start(
    n: int,
    *,
    log10_scale: float | Float[np.ndarray, " draws"],
    draws: int,
    key: Key,
    factors: int = 2,
) -> ToyState:
    """Gaussian starts of one σ or one a draw, their directions the same whatever the scale."""
    shapes = ((draws, n), (draws, n), (draws,))[:factors]
    drawn = [normals(*shape, key=k) for shape, k in zip(shapes, jr.split(key, 3), strict=False)]
    size = np.sqrt(sum((w.reshape(draws, -1) ** 2).sum(-1) for w in drawn))
    log_sigma = np.broadcast_to(np.asarray(log10_scale) * math.log(10), (draws,))
    direction = tuple((w.T / size).T for w in drawn)
    return ToyState(direction, np.log(size) + log_sigma, log_sigma, np.zeros(draws))


def _product(u, v, s: Any = 1.0):
    return s * u[:, None] * v


def _error(y: ToyState, T: Array) -> Array:
    return (jnp.exp(len(y.direction) * y.log_size) * _product(*y.direction) - 1.0) * T


def _loss(y: ToyState, T: Array) -> Array:
    return 0.5 * jnp.sum(_error(y, T) ** 2)


def _field(t, y: ToyState, args) -> ToyState:
    _, pull_back = jax.vjp(_product, *y.direction)
    force = pull_back(-_error(y, args[0]))
    growth = sum(jnp.vdot(f, w) for f, w in zip(force, y.direction, strict=True))
    turn = tuple(f - growth * w for f, w in zip(force, y.direction, strict=True))
    tick = jnp.exp((len(turn) - 2) * (y.log_sigma - y.log_size))
    return ToyState(turn, jnp.asarray(growth), jnp.zeros(()), tick)


@functools.lru_cache(maxsize=8)
def _program(rtol: float, attempts: int):
    def solve(y: ToyState, T, stop):
        flow = diffrax.diffeqsolve(
            diffrax.ODETerm(_field),
            diffrax.Tsit5(),
            t0=0.0,
            t1=1e9,
            dt0=1e-3,
            y0=y,
            args=(T, stop),
            stepsize_controller=diffrax.PIDController(rtol=rtol, atol=rtol),
            event=diffrax.Event(lambda t, y, args, **_: _loss(y, args[0]) < args[1]),
            max_steps=attempts,
            throw=False,
        )
        end = jax.tree.map(lambda a: a[-1], flow.ys)
        off = (_error(end, jnp.ones_like(T)) ** 2 * (1.0 - T)).sum() / 2
        return ToyFit(end, _loss(end, T), off / jnp.maximum((1.0 - T).sum(), 1.0))

    return jax.jit(jax.vmap(solve, in_axes=(0, 0, None)))


def toy_flow(
    start: ToyState,
    T: Float[np.ndarray, "n n"] | Float[np.ndarray, "draws n n"],
    *,
    stop: float = 1e-8,
    rtol: float = 1e-6,
    attempts: int = 1_500,
) -> ToyFit:
    """Follow each draw, with one T or its own, until the loss falls below `stop`, in float64.

    >>> start = toy_start(4, log10_scale=-40.0, draws=2, key=jr.key(0))
    >>> fit = toy_flow(start, np.ones((4, 4)))
    >>> bool((fit.loss < 1e-8).all()), bool((fit.test_loss < 1e-6).all())
    (True, True)
    """
    draws, n = start.direction[0].shape
    Ts, pieces = np.broadcast_to(T, (draws, n, n)), []
    with double():
        for first in range(0, draws, WIDTH):
            # The last piece is filled up with copies: one program serves every count.
            rows = np.minimum(np.arange(first, first + WIDTH), draws - 1)
            piece = jax.tree.map(lambda a, at=rows: jnp.asarray(a[at]), (start, Ts))
            # A Python number: a NumPy one would be another program.
            end = _program(rtol, attempts)(*piece, float(stop))
            pieces.append(jax.tree.map(np.asarray, end))
    return jax.tree.map(lambda *a: np.concatenate(a)[:draws], *pieces)
