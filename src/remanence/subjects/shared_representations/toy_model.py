r"""The toy of one word: $\frac12\|(s\,uv^\top - J)\odot T\|^2$ from any $\sigma$, in log scale.

With $y = e^\rho\hat y$, $\|\hat y\| = 1$, the size of the weights is one more
coordinate and never underflows: $\sigma = 10^{-40}$ starts at $\rho = -92$. For
three factors the clock is $d\tau = e^\rho dt$, in which the first growth takes
$O(\log 1/\sigma)$ instead of $t \sim 1/\sigma$; the record keeps $t\,\sigma$.
With two factors $s = 1$ and $\tau = t$.
"""

import functools
import math
from typing import Literal, NamedTuple

import diffrax
import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
from jaxtyping import Array, Bool, Float

from ..._precision import double
from ..._types import Key
from .language_pairs import checked_pairs
from .sign_barriers import checked_log10_scale, normals


Factors = Literal[2, 3]
WIDTH = 16
"""Draws that are followed together; a draw before a wall delays only its neighbours."""


class LogScale(NamedTuple):
    """A direction of norm 1, the log of its length, and the time so far."""

    u: Float[Array | np.ndarray, "*draws n"]
    v: Float[Array | np.ndarray, "*draws n"]
    s: Float[Array | np.ndarray, "*draws"]
    log_size: Float[Array | np.ndarray, "*draws"]
    clock: Float[Array | np.ndarray, "*draws"]


class ToyFit(eqx.Module):
    r"""Where draws of the toy ended.

    `u`, `v` are directions scaled so that the product is `u vᵀ`. `time` is $t$ for
    two factors and $t\,\sigma$ for three. `wall` marks runs that stand before a
    sign wall: the loss is up and some taught product is not positive.
    """

    u: Float[np.ndarray, "draws n"]
    v: Float[np.ndarray, "draws n"]
    loss: Float[np.ndarray, " draws"]
    time: Float[np.ndarray, " draws"]
    test_loss: Float[np.ndarray, " draws"]
    converged: Bool[np.ndarray, " draws"]
    wall: Bool[np.ndarray, " draws"]
    state: LogScale


def _error(y: LogScale, T: Float[Array, "n n"], factors: Factors):
    size = jnp.exp(factors * y.log_size)
    return (size * y.s * y.u[:, None] * y.v[None, :] - 1.0) * T


@functools.lru_cache(maxsize=8)
def _program(factors: Factors, rtol: float, attempts: int):
    def field(t, y: LogScale, args) -> LogScale:
        T, log_sigma = args
        E = _error(y, T, factors)
        f_u, f_v = -y.s * (E @ y.v), -y.s * (E.T @ y.u)
        f_s = -(y.u @ E @ y.v) if factors == 3 else jnp.zeros(())
        # With two factors s = 1 is no coordinate: it has no part in the norm.
        along = f_u @ y.u + f_v @ y.v + f_s * y.s
        d_s = f_s - y.s * along if factors == 3 else jnp.zeros(())
        tick = jnp.exp(log_sigma - y.log_size) if factors == 3 else jnp.ones(())
        return LogScale(f_u - y.u * along, f_v - y.v * along, d_s, along, tick)

    def solve(y: LogScale, T, log_sigma, stop):
        def low(t, y, args, **_):
            return 0.5 * jnp.sum(_error(y, T, factors) ** 2) < stop

        flow = diffrax.diffeqsolve(
            diffrax.ODETerm(field),
            diffrax.Tsit5(),
            t0=0.0,
            t1=1e9,
            dt0=1e-3,
            y0=y,
            args=(T, log_sigma),
            stepsize_controller=diffrax.PIDController(rtol=rtol, atol=rtol),
            event=diffrax.Event(low),
            max_steps=attempts,
            throw=False,
        )
        end = jax.tree.map(lambda a: a[-1], flow.ys)
        return end, 0.5 * jnp.sum(_error(end, T, factors) ** 2)

    return jax.jit(jax.vmap(solve, in_axes=(0, 0, 0, None)))


def _log_sigmas(
    log10_scale: float | Float[np.ndarray, " draws"], draws: int
) -> Float[np.ndarray, " draws"]:
    """Natural logarithms of σ, one a draw."""
    given = np.asarray(log10_scale, dtype=float)
    if given.ndim and given.shape != (draws,):
        raise ValueError(
            f"log10_scale must be one number or one for each of {draws} draws, "
            f"got shape {given.shape}"
        )
    for value in np.unique(given).tolist():
        checked_log10_scale(value)
    return np.broadcast_to(given * math.log(10), (draws,))


def checked_factors(factors: int) -> None:
    """Refuses a toy of other than two or three factors."""
    if factors not in (2, 3):
        raise ValueError(f"factors must be 2 or 3, got {factors}")


def _checked_start(start: LogScale, n: int, factors: Factors) -> None:
    """Whether the directions are of `n` languages and of norm 1 with these factors."""
    if start.u.shape[-1] != n:
        raise ValueError(
            f"T has {n} languages, but the start was made for {start.u.shape[-1]}"
        )
    third = start.s**2 if factors == 3 else start.s**2 - 1.0
    norms = (start.u**2).sum(-1) + (start.v**2).sum(-1) + third
    if not np.allclose(norms, 1.0):
        raise ValueError(
            f"the start was not made for {factors} factors; give toy_start the "
            f"same factors={factors}"
        )


def _checked_each(T: np.ndarray, draws: int) -> Float[np.ndarray, "draws n n"]:
    """`T` for each draw, if it is one graph of taught pairs or one a draw."""
    T = np.asarray(T, dtype=float)
    if T.ndim == 2:
        return np.broadcast_to(checked_pairs(T), (draws, *T.shape))
    if T.ndim != 3 or len(T) != draws:
        raise ValueError(
            f"T must be one matrix or one for each of {draws} draws, "
            f"got shape {T.shape}"
        )
    for one in np.unique(T, axis=0):
        checked_pairs(one)
    return T


def toy_start(
    n: int,
    *,
    log10_scale: float | Float[np.ndarray, " draws"],
    draws: int,
    key: Key,
    factors: Factors = 2,
) -> LogScale:
    r"""Gaussian starts of size $\sigma = 10^{\text{log10\_scale}}$, as exponents.

    The direction does not depend on the scale, which may be one or one a draw: paired
    draws along σ.
    """
    checked_factors(factors)
    if n < 1 or draws < 1:
        raise ValueError(f"n and draws must be at least 1, got {n} and {draws}")
    log_sigmas = _log_sigmas(log10_scale, draws)
    key_u, key_v, key_s = jr.split(key, 3)
    u, v = normals(draws, n, key=key_u), normals(draws, n, key=key_v)
    s = normals(draws, key=key_s) if factors == 3 else np.ones(draws)
    square = (u**2).sum(-1) + (v**2).sum(-1) + (s**2 if factors == 3 else 0.0)
    size = np.sqrt(square)
    return LogScale(
        u / size[:, None],
        v / size[:, None],
        s / size if factors == 3 else s,
        np.log(size) + log_sigmas,
        np.zeros(draws),
    )


def toy_flow(
    start: LogScale,
    T: Float[np.ndarray, "n n"] | Float[np.ndarray, "draws n n"],
    *,
    log10_scale: float | Float[np.ndarray, " draws"],
    stop: float = 1e-8,
    factors: Factors = 2,
    rtol: float = 1e-6,
    attempts: int = 1_500,
) -> ToyFit:
    """Follow each draw until the loss falls below `stop`, in float64.

    >>> start = toy_start(4, log10_scale=-40.0, draws=2, key=jr.key(0))
    >>> fit = toy_flow(start, np.ones((4, 4)), log10_scale=-40.0)
    >>> bool(fit.converged.all()), bool((fit.test_loss < 1e-6).all())
    (True, True)
    """
    checked_factors(factors)
    draws = start.u.shape[0]
    Ts = _checked_each(T, draws)
    _checked_start(start, Ts.shape[-1], factors)
    log_sigmas = _log_sigmas(log10_scale, draws)
    solve = _program(factors, rtol, attempts)
    pieces = []
    with double():
        for first in range(0, draws, WIDTH):
            # The last piece is padded with copies: one program serves every count.
            rows = np.minimum(np.arange(first, first + WIDTH), draws - 1)
            taken = jax.tree.map(lambda a, rows=rows: jnp.asarray(a[rows]), start)
            told = jnp.asarray(Ts[rows]), jnp.asarray(log_sigmas[rows])
            # A Python number: a NumPy one would be another program.
            end = solve(taken, *told, float(stop))
            pieces.append(jax.tree.map(np.asarray, end))
    state, loss = jax.tree.map(lambda *a: np.concatenate(a)[:draws], *pieces)
    size = np.exp(0.5 * factors * state.log_size) * np.sqrt(np.abs(state.s))
    u = state.u * size[:, None]
    v = state.v * (np.sign(state.s) * size)[:, None]
    product = u[:, :, None] * v[:, None, :]
    untaught = 1.0 - Ts
    test = ((product - 1.0) ** 2 * untaught).sum((1, 2)) / 2
    crossed = ((product <= 0.0) & (Ts > 0)).any((1, 2))
    converged = loss < stop
    return ToyFit(
        u,
        v,
        loss,
        state.clock,
        test / np.maximum(untaught.sum((1, 2)), 1.0),
        converged,
        ~converged & crossed,
        state,
    )
