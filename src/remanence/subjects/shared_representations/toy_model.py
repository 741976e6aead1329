r"""The toy of one word: $\frac12\|(s\,uv^\top - J)\odot T\|^2$ from any $\sigma$, in log scale.

With $y = e^\rho\hat y$, $\|\hat y\| = 1$, the size of the weights is one more
coordinate and never underflows: $\sigma = 10^{-40}$ starts at $\rho = -92$. For
three factors the clock is $d\tau = e^\rho dt$, in which the first growth takes
$O(\log 1/\sigma)$ instead of $t \sim 1/\sigma$; the record keeps $t\,\sigma$.
With two factors $s = 1$ and $\tau = t$.
"""

import functools
import math
from typing import NamedTuple

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


WIDTH = 16
"""Draws followed together; one before a sign barrier delays only its neighbours."""


class ToyState(NamedTuple):
    """A direction of norm 1, the log of its length, log σ, and the time so far.

    With two factors there is no `s`.
    """

    u: Float[Array | np.ndarray, "*draws n"]
    v: Float[Array | np.ndarray, "*draws n"]
    s: Float[Array | np.ndarray, "*draws"] | None
    log_size: Float[Array | np.ndarray, "*draws"]
    log_sigma: Float[Array | np.ndarray, "*draws"]
    clock: Float[Array | np.ndarray, "*draws"]


class ToyFit(eqx.Module):
    r"""Where draws of the toy ended.

    `u`, `v` are directions scaled so that the product is `u vᵀ`. `time` is $t$ for
    two factors and $t\,\sigma$ for three. `barrier` marks runs that stand before a
    sign barrier: the loss is up and some taught product is not positive.
    """

    u: Float[np.ndarray, "draws n"]
    v: Float[np.ndarray, "draws n"]
    loss: Float[np.ndarray, " draws"]
    time: Float[np.ndarray, " draws"]
    test_loss: Float[np.ndarray, " draws"]
    converged: Bool[np.ndarray, " draws"]
    barrier: Bool[np.ndarray, " draws"]


def toy_start(
    n: int,
    *,
    log10_scale: float | Float[np.ndarray, " draws"],
    draws: int,
    key: Key,
    factors: int = 2,
) -> ToyState:
    r"""Gaussian starts of size $\sigma = 10^{\text{log10\_scale}}$, as exponents.

    The direction does not depend on the scale, which may be one or one a draw: paired
    draws along σ.
    """
    if factors not in (2, 3):
        raise ValueError(f"factors must be 2 or 3, got {factors}")
    if n < 1 or draws < 1:
        raise ValueError(f"n and draws must be at least 1, got {n} and {draws}")
    given = np.asarray(log10_scale, dtype=float)
    if given.ndim and given.shape != (draws,):
        raise ValueError(
            f"log10_scale must be one number or one for each of {draws} draws, "
            f"got shape {given.shape}"
        )
    for value in np.unique(given).tolist():
        checked_log10_scale(value)
    log_sigma = np.broadcast_to(given * math.log(10), (draws,))
    key_u, key_v, key_s = jr.split(key, 3)
    u, v = normals(draws, n, key=key_u), normals(draws, n, key=key_v)
    s = normals(draws, key=key_s) if factors == 3 else np.zeros(draws)
    size = np.sqrt((u**2).sum(-1) + (v**2).sum(-1) + s**2)
    u, v = u / size[:, None], v / size[:, None]
    log_size = np.log(size) + log_sigma
    third = s / size if factors == 3 else None
    return ToyState(u, v, third, log_size, log_sigma, np.zeros(draws))


def _error(y: ToyState, T: Float[Array, "n n"]):
    size = jnp.exp(2 * y.log_size) if y.s is None else y.s * jnp.exp(3 * y.log_size)
    return (size * y.u[:, None] * y.v[None, :] - 1.0) * T


def _loss(y: ToyState, T: Float[Array, "n n"]) -> Float[Array, ""]:
    return 0.5 * jnp.sum(_error(y, T) ** 2)


def _field(t, y: ToyState, args) -> ToyState:
    E = _error(y, args[0])
    f_u, f_v, f_s = -(E @ y.v), -(E.T @ y.u), None
    still = jnp.zeros(())
    if y.s is None:
        along, d_s, tick = f_u @ y.u + f_v @ y.v, None, jnp.ones(())
    else:
        f_u, f_v, f_s = y.s * f_u, y.s * f_v, -(y.u @ E @ y.v)
        along = f_u @ y.u + f_v @ y.v + f_s * y.s
        d_s, tick = f_s - y.s * along, jnp.exp(y.log_sigma - y.log_size)
    return ToyState(f_u - y.u * along, f_v - y.v * along, d_s, along, still, tick)


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
        return end, _loss(end, T)

    return jax.jit(jax.vmap(solve, in_axes=(0, 0, None)))


def toy_flow(
    start: ToyState,
    T: Float[np.ndarray, "n n"] | Float[np.ndarray, "draws n n"],
    *,
    stop: float = 1e-8,
    rtol: float = 1e-6,
    attempts: int = 1_500,
) -> ToyFit:
    """Follow each draw until the loss falls below `stop`, in float64.

    >>> start = toy_start(4, log10_scale=-40.0, draws=2, key=jr.key(0))
    >>> fit = toy_flow(start, np.ones((4, 4)))
    >>> bool(fit.converged.all()), bool((fit.test_loss < 1e-6).all())
    (True, True)
    """
    T, (draws, n), pieces = np.asarray(T, dtype=float), start.u.shape, []
    if T.shape not in ((n, n), (draws, n, n)):
        raise ValueError(
            f"T must be {n} x {n}, one or one for each of {draws} draws, got shape {T.shape}"
        )
    for one in np.unique(T.reshape(-1, n, n), axis=0):
        checked_pairs(one)
    Ts = np.broadcast_to(T, (draws, n, n))
    with double():
        for first in range(0, draws, WIDTH):
            # The last piece is padded with copies: one program serves every count.
            rows = np.minimum(np.arange(first, first + WIDTH), draws - 1)
            piece = jax.tree.map(lambda a, at=rows: jnp.asarray(a[at]), (start, Ts))
            # A Python number: a NumPy one would be another program.
            end = _program(rtol, attempts)(*piece, float(stop))
            pieces.append(jax.tree.map(np.asarray, end))
    state, loss = jax.tree.map(lambda *a: np.concatenate(a)[:draws], *pieces)
    third = np.ones(draws) if state.s is None else state.s
    factors = 2 if state.s is None else 3
    size = np.exp(0.5 * factors * state.log_size) * np.sqrt(np.abs(third))
    u = state.u * size[:, None]
    v = state.v * (np.sign(third) * size)[:, None]
    product = u[:, :, None] * v[:, None, :]
    untaught = 1.0 - Ts
    test = ((product - 1.0) ** 2 * untaught).sum((1, 2)) / 2
    test = test / np.maximum(untaught.sum((1, 2)), 1.0)
    crossed = ((product <= 0.0) & (Ts > 0)).any((1, 2))
    converged = loss < stop
    return ToyFit(u, v, loss, state.clock, test, converged, ~converged & crossed)
