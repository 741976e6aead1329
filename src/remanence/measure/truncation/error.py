r"""The gaps that truncation to $k$ inputs makes on one sequence: $\max_t \|h_t - h_t^k\|$, and of gradients."""

from collections.abc import Sequence
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
    r"""Of $\frac12\|y_T\|^2$ at the last step, with respect to all weights of the cell."""


def truncation_error(
    net: Any, inputs: Any, windows: Sequence[int], *, gradients: bool = True
) -> TruncationError:
    """The gaps that truncation makes on a sequence, at every window: the largest over time."""
    if short := [int(k) for k in windows if int(k) < 1]:
        raise ValueError(f"window must be at least 1, got {short[0]}")
    with double():
        drive = driven(net, inputs)
        net = network_in_double(net)
        if drive.sequences != 1:
            raise ValueError(f"one sequence would do, got {drive.sequences}")
        xs = drive.xs[0]
        found = [_gaps(net, xs, jnp.asarray(int(k)), gradients) for k in windows]
        rows = np.array([[float(value) for value in row] for row in found])
    return TruncationError(np.asarray(windows, np.int64), *rows.T)


def _distance(one: Any, two: Any) -> Float[Array, " time"]:
    flat = jax.vmap(lambda h: ravel_pytree(h)[0])
    return jnp.linalg.norm(flat(one) - flat(two), axis=1)


@eqx.filter_jit
def _gaps(net: Recurrent, xs: Array, k: Array, gradients: bool):
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
        return 0.5 * jnp.sum(net.read(h) ** 2)

    slope = eqx.filter_grad(last)
    # A state that waits passes no gradient on: the last k inputs alone are heard.
    full, cut = slope(net.cell, jnp.asarray(0)), slope(net.cell, jnp.maximum(T - k, 0))
    gap = jnp.linalg.norm(ravel_pytree(full)[0] - ravel_pytree(cut)[0])
    return states, outputs, gap
