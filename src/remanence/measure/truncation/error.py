r"""The gaps that truncation to $k$ inputs makes on one sequence: $\max_t \|h_t - h_t^k\|$, and of gradients."""

import math
from collections.abc import Callable, Sequence
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Float

from ..._precision import double
from ...nets import Recurrent, unroll, window_states
from ..drive import driven, network_in_double


class TruncationError(eqx.Module):
    """The largest gaps measured between a network and its truncations."""

    windows: np.ndarray
    states: np.ndarray
    outputs: np.ndarray
    gradients: np.ndarray
    """Of the loss at the last step, with respect to all weights of the cell."""
    slope: float
    """Nats per step by which the state gap falls, fitted where it is above rounding."""


def truncation_error(
    net: Any,
    inputs: Any,
    windows: Sequence[int],
    *,
    gradients: bool = True,
    loss: Callable[[Array], Array] | None = None,
) -> TruncationError:
    r"""The gaps that truncation makes on a sequence, at every window: the largest over time.

    `loss` is of the last output, $\frac12\|y_T\|^2$ if not given.
    """
    if short := [int(k) for k in windows if int(k) < 1]:
        raise ValueError(f"window must be at least 1, got {short[0]}")
    with double():
        drive = driven(net, inputs)
        net = network_in_double(net)
        if drive.sequences != 1:
            raise ValueError(f"one sequence would do, got {drive.sequences}")
        xs = drive.xs[0]
        price = _half_square if loss is None else loss
        found = [_gaps(net, xs, jnp.asarray(int(k)), price, gradients) for k in windows]
        rows = [tuple(float(value) for value in row) for row in found]
    states, outputs, moved = np.asarray(rows, np.float64).T
    ks = np.asarray(windows, np.int64)
    return TruncationError(ks, states, outputs, moved, _fit_slope(ks, states))


def _distance(one: Any, two: Any) -> Float[Array, " time"]:
    flat = jax.vmap(lambda h: ravel_pytree(h)[0])
    return jnp.linalg.norm(flat(one) - flat(two), axis=1)


def _half_square(y: Array) -> Array:
    return 0.5 * jnp.sum(y * y)


@eqx.filter_jit
def _gaps(net: Recurrent, xs: Array, k: Array, price: Callable, gradients: bool):
    """Gaps at one window, which is traced: one program serves all windows."""
    T = xs.shape[0]
    exact = unroll(net.cell, net.cell.initial_state(), xs)
    near = window_states(net.cell, xs, k)
    read = jax.vmap(net.read)
    states = jnp.max(_distance(exact, near))
    outputs = jnp.max(jnp.linalg.norm(read(exact) - read(near), axis=1))
    if not gradients:
        return states, outputs, jnp.asarray(jnp.nan)

    def last(cell, start):
        def step(h, at):
            t, x = at
            following = cell(h, x)
            wait = lambda new, old: jnp.where(t >= start, new, old)
            return jax.tree.map(wait, following, h), None

        h, _ = jax.lax.scan(step, cell.initial_state(), (jnp.arange(T), xs))
        return price(net.read(h))

    slope = eqx.filter_grad(last)
    # A state that waits passes no gradient on: the last k inputs alone are heard.
    full, cut = slope(net.cell, jnp.asarray(0)), slope(net.cell, jnp.maximum(T - k, 0))
    apart = jnp.linalg.norm(ravel_pytree(full)[0] - ravel_pytree(cut)[0])
    return states, outputs, apart


def _fit_slope(windows: np.ndarray, gaps: np.ndarray) -> float:
    seen = gaps > 1e-12 * max(float(gaps.max(initial=0.0)), 1e-300)
    if seen.sum() < 2:
        return math.nan
    return float(np.polyfit(windows[seen], np.log(gaps[seen]), 1)[0])
