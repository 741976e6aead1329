r"""What a window leaves out, measured: $\|y_{s+k} - y_{s+k}^{(s)}\|$ when the state starts from 0 at $s$.

One run from each of a few starts gives the error of every window there, in states and
in outputs, as curves to look at. How long a window must be is another question, of every
start: `replay_window` answers it.
"""

import dataclasses
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree
from jaxtyping import Float, Int

from .._precision import double
from ..nets import unroll
from .drive import driven
from .widened import network_in_double


@dataclasses.dataclass(frozen=True)
class Forgetting:
    """The gap to the full network after hearing the last k inputs only."""

    windows: Int[np.ndarray, " windows"]
    starts: Int[np.ndarray, " starts"]
    outputs: Float[np.ndarray, "starts windows"]
    states: Float[np.ndarray, "starts windows"]
    scale: float
    """Root mean square of the outputs, to judge the gaps by."""

    def window(self, error: float) -> float:
        """The smallest window from which no output is off by more, at these starts only."""
        if not error > 0:
            raise ValueError(f"error must be positive, got {error}")
        # Written so that a gap that is not a number is no success.
        above = ~(self.outputs.max(axis=0) <= error)
        if above[-1]:
            return float("inf")
        last = len(above) - 1 - int(np.argmax(above[::-1]))
        return float(self.windows[last + 1]) if above.any() else float(self.windows[0])


@eqx.filter_jit
def _gaps(net, xs, starts, longest):
    cell = net.cell
    full = unroll(cell, cell.initial_state(), xs)
    y = jax.vmap(net.read)(full)
    flat = jax.vmap(lambda h: ravel_pytree(h)[0])
    states = flat(full)

    def step(h, k):
        t = starts + k
        h = jax.vmap(cell)(h, xs[t])
        gap = jnp.linalg.norm(flat(h) - states[t], axis=1)
        return h, (gap, jnp.linalg.norm(jax.vmap(net.read)(h) - y[t], axis=1))

    zero = jax.tree.map(
        lambda leaf: jnp.broadcast_to(leaf, (starts.shape[0], *leaf.shape)), cell.initial_state()
    )
    gaps, outs = jax.lax.scan(step, zero, jnp.arange(longest))[1]
    return gaps.T, outs.T, jnp.sqrt(jnp.mean(y**2))


def forgetting(
    net: Any, inputs: Any, *, longest: int | None = None, starts: int = 32
) -> Forgetting:
    """The measured cost of every window up to `longest`, from several starts.

    >>> import jax.numpy as jnp
    >>> from remanence.cells import Linear
    >>> cell = Linear(0.5 * jnp.eye(1), jnp.ones((1, 1)))
    >>> forgetting(cell, jnp.ones((60, 1)), longest=20).window(1e-3)
    11.0
    """
    with double():
        drive = driven(net, inputs)
        net = network_in_double(net)
        xs, T = drive.xs[0], drive.time
        longest = T // 2 if longest is None else longest
        if not 1 <= longest < T:
            raise ValueError(f"the longest window must lie in 1 to {T - 1}, got {longest}")
        # The first half of a run is no place to start: little has been heard there.
        at = np.unique(np.linspace(1, T - longest, starts).astype(int))
        states, outputs, scale = _gaps(net, xs, jnp.asarray(at), longest)
    windows = np.arange(1, longest + 1)
    return Forgetting(windows, at, np.asarray(outputs), np.asarray(states), float(scale))
