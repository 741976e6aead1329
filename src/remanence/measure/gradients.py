r"""How the gradient fades: $\|\partial h_{t+i} / \partial x_t\|_F$ over lags $i$ and positions $t$.

One pass over time serves every position: the columns $\partial h_t / \partial x_t$ of
all positions still followed stand side by side in one frame, and each step is one
product with $J$. With many inputs the Frobenius norm is estimated from a few random
directions $v$, since $E\|G v\|^2 = \|G\|_F^2$ for Gaussian $v$. Each position also
carries one random unit perturbation of its state, for the half-life.
"""

import dataclasses
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
from jax.flatten_util import ravel_pytree
from jaxtyping import Float, Int

from .._precision import double
from .._types import Key
from ..cells import dimension, pushforward
from .drive import driven


EXACT = 8  # inputs up to which the whole Frobenius norm is followed
DRAWN = 4  # random directions of the input beyond that


@dataclasses.dataclass(frozen=True)
class GradientDecay:
    """The norms of gradients and of state perturbations, at every lag and position."""

    lags: Int[np.ndarray, " lags"]
    positions: Int[np.ndarray, " positions"]
    norms: Float[np.ndarray, "positions lags"]
    """Norm of the derivative of the state at lag i by the input at each position."""
    perturbations: Float[np.ndarray, "positions lags"]
    """Norm of a random unit perturbation of the state, at lag i."""
    exact: bool
    """Whether every input direction was followed, rather than a random few."""

    def quantile(self, q: float) -> Float[np.ndarray, " lags"]:
        """A quantile over positions at every lag, relative to lag 0 of each position."""
        return np.quantile(_relative(self.norms), q, axis=0)

    @property
    def fall(self) -> Float[np.ndarray, " positions"]:
        """Per position, the lag from which the gradient stays at or below 1/e of lag 0."""
        return _settled(_relative(self.norms), np.exp(-1.0))

    @property
    def remembers(self) -> float:
        """The median of `fall`: what "remembers about n steps" means; inf if beyond the lags."""
        return float(np.quantile(self.fall, 0.5, method="lower"))

    @property
    def half_life(self) -> float:
        """Median lag from which a random perturbation of the state stays at or below half."""
        fall = _settled(self.perturbations, 0.5)
        return float(np.quantile(fall, 0.5, method="lower"))


def _relative(norms: np.ndarray) -> np.ndarray:
    start = norms[:, :1]
    return np.divide(norms, start, out=np.zeros_like(norms), where=start > 0)


def _settled(values: np.ndarray, level: float) -> np.ndarray:
    """The lag after the last value above the level; inf if the last lag is above it."""
    above = values > level * (1 + 1e-9)
    last = values.shape[1] - 1 - np.argmax(above[:, ::-1], axis=1)
    last = np.where(above.any(axis=1), last, -1).astype(float)
    return np.where(above[:, -1], np.inf, last + 1)


@eqx.filter_jit
def _followed(cell, xs, V, W, spacing, slots):
    """One pass: the squared norms of every slot's columns after every step."""
    h = cell.initial_state()
    size, columns = W.shape[1], V.shape[1]

    def step(carry, at):
        h, frame = carry
        t, x = at
        flat_frame = frame.transpose(1, 0, 2).reshape(size, -1)
        following, moved = pushforward(cell, h, x, flat_frame)
        frame = moved.reshape(size, slots, columns + 1).transpose(1, 0, 2)

        def with_newborn(frame):
            # Tangents of the input, pushed through the map beside the state's own.
            by_input = jax.vmap(
                lambda v: ravel_pytree(jax.jvp(lambda x: cell(h, x), (x,), (v,))[1])[0],
                in_axes=1,
                out_axes=1,
            )(V)
            fresh = jnp.concatenate([by_input, W[t][:, None]], axis=1)
            return frame.at[(t // spacing) % slots].set(fresh)

        frame = jax.lax.cond(t % spacing == 0, with_newborn, lambda frame: frame, frame)
        squares = jnp.sum(frame**2, axis=1)
        return (following, frame), (squares[:, :-1].sum(axis=1), squares[:, -1])

    frame = jnp.zeros((slots, size, columns + 1), W.dtype)
    times = jnp.arange(xs.shape[0])
    return jax.lax.scan(step, (h, frame), (times, xs))[1]


def gradient_decay(
    cell: Any,
    inputs: Any,
    *,
    lags: int | None = None,
    positions: int = 48,
    key: Key | None = None,
) -> GradientDecay:
    """The decay of gradients along one sequence, from about `positions` places in it.

    >>> import jax.numpy as jnp
    >>> from remanence.cells import Linear
    >>> cell = Linear(0.5 * jnp.eye(2), jnp.eye(2))
    >>> decay = gradient_decay(cell, jnp.ones((40, 2)), lags=3)
    >>> decay.quantile(0.5).tolist(), decay.remembers, decay.half_life
    ([1.0, 0.5, 0.25, 0.125], 2.0, 1.0)
    """
    with double():
        drive = driven(cell, inputs)
        xs, T = drive.xs[0], drive.time
        lags = min(256, T // 2) if lags is None else lags
        if not 1 <= lags < T:
            raise ValueError(f"lags must lie in 1 to {T - 1}, got {lags}")
        size, width = dimension(drive.cell), xs.shape[1]
        key_v, key_w = jr.split(jr.key(0) if key is None else key)
        exact = width <= EXACT
        V = (
            jnp.eye(width)
            if exact
            else jr.normal(key_v, (width, DRAWN)) * (width / DRAWN) ** 0.5 / width**0.5
        )
        spacing = max(1, (T - lags) // positions)
        slots = lags // spacing + 1
        W = jr.normal(key_w, (T, size))
        W = W / jnp.linalg.norm(W, axis=1, keepdims=True)
        grads, states = _followed(drive.cell, xs, V, W, spacing, slots)
    births = np.arange(0, T - lags, spacing)
    rows = births[:, None] + np.arange(lags + 1)
    column = (births // spacing % slots)[:, None]
    norms = np.sqrt(np.asarray(grads)[rows, column])
    perturbed = np.sqrt(np.asarray(states)[rows, column])
    if not np.isfinite(norms).all():
        raise ValueError(
            "the gradients leave the range of floats: the map is unstable on these inputs"
        )
    return GradientDecay(np.arange(lags + 1), births, norms, perturbed, exact)
