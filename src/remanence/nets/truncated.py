r"""The feed-forward network inside a recurrent one: $h_t^k = \phi(h_{t-1}^k, x_t)$, $h_{t-k}^k = 0$.

Each output is computed from its last $k$ inputs alone, all positions in parallel. With blocks of $B$
outputs that share a start, an output reads from $k$ to $k + B - 1$ inputs, at $(k + B - 1)/B$ steps
an output in place of $k$.
"""

from typing import Any, Literal

import equinox as eqx
import jax
import jax.numpy as jnp
from jax.typing import ArrayLike
from jaxtyping import Array, Float, Int

from .._types import Orbit
from ..cells import output
from .batch import steps_on_columns
from .recurrent import Recurrent, Steps


class Truncated(eqx.Module):
    """A recurrent network that reads only its last `window` inputs.

    Called on one sequence like the network itself. `history` are the inputs just
    before: a stream cut into pieces (at whole blocks), each given at least the last
    `window - 1` inputs of what came before, yields the outputs of the whole.
    """

    net: Recurrent
    window: int = eqx.field(static=True)
    block: int = eqx.field(static=True, default=1)

    def __check_init__(self):
        for name, value in (("window", self.window), ("block", self.block)):
            if value < 1:
                raise ValueError(f"{name} must be at least 1, got {value}")

    @property
    def readout(self) -> Literal["last", "every"]:
        return self.net.readout

    def states(self, xs: Float[Array, "time inputs"]) -> Orbit:
        """The states $h_1^k \\dots h_T^k$, each from its own start."""
        return window_states(self.net.cell, xs, self.window, block=self.block)

    def __call__(self, xs: Steps, *, history: Steps | None = None) -> Float[Array, "*time outputs"]:
        """The outputs at every step, or at the last one."""
        inputs = self.net.embed(xs)
        past = 0 if history is None else len(jnp.asarray(history))
        if past % self.block:
            raise ValueError(f"history must be whole blocks of {self.block} inputs, got {past}")
        if history is not None:
            inputs = jnp.concatenate([self.net.embed(history), inputs])
        if self.net.readout == "last":
            last = Truncated(self.net, self.window).states(inputs[-self.window :])
            return self.net.read(jax.tree.map(lambda leaf: leaf[-1], last))
        states = jax.tree.map(lambda leaf: leaf[past:], self.states(inputs))
        return jax.vmap(self.net.read)(states)

    def start(self) -> tuple[Int[Array, ""], Any]:
        """Where `step` begins: the time, and a state for every block that is being read."""
        lanes = 1 - (1 - self.window) // self.block
        state = jax.tree.map(jnp.asarray, self.net.cell.initial_state())
        many = lambda leaf: jnp.tile(leaf, (lanes, *(1,) * leaf.ndim))
        return jnp.zeros((), jnp.int32), jax.tree.map(many, state)

    def step(self, carry: tuple[Int[Array, ""], Any], x: ArrayLike) -> tuple[Any, Array]:
        """One input of a stream: what to go on with, and the output of a whole call there.

        A block starts `window - 1` inputs early, while others are read: so many states are
        held, two if a block is no shorter than the window, and no input.
        """
        t, h = carry
        lane = jnp.arange(len(jax.tree.leaves(h)[0]))
        current = t // self.block
        reads = current + (lane - current) % len(lane)
        begun = t > self.block * reads - (self.window - 1)
        h = _where(begun, h, self.start()[1])
        h = jax.vmap(self.net.cell, in_axes=(0, None))(h, self.net.embed(jnp.asarray(x)[None])[0])
        own = jax.tree.map(lambda leaf: leaf[current % len(lane)], h)
        return (t + 1, h), self.net.read(own)


def window_states(
    cell: Any, xs: Float[Array, "time inputs"], window: int | Int[Array, ""], *, block: int = 1
) -> Orbit:
    """The states of `Truncated`; `window` may be traced, so that one program serves all."""
    T, step = xs.shape[0], cell
    # One drive a unit is made for all times at once; of many gates it would only fill memory.
    if steps_on_columns(cell) and cell.W_h.shape[0] == cell.W_h.shape[1]:
        step = lambda h, d: cell.from_drive(cell.W_h @ output(cell, h) + d, h)
        xs = jax.vmap(cell.input_drive)(xs)
    blocks = -(-T // block)
    first = block * jnp.arange(blocks) - (window - 1)
    zero = jax.tree.map(jnp.asarray, cell.initial_state())
    h = jax.tree.map(lambda leaf: jnp.tile(leaf, (blocks, *(1,) * leaf.ndim)), zero)

    def early(j, h):
        at = first + j
        following = jax.vmap(step)(h, xs[jnp.clip(at, 0, T - 1)])
        # Before the first input there is nothing to read: the state waits.
        return _where(at >= 0, following, h)

    def late(h, x):
        h = jax.vmap(step)(h, x)
        return h, h

    h = jax.lax.fori_loop(0, window - 1, early, h)
    filled = jnp.pad(xs, ((0, blocks * block - T), (0, 0)))
    _, orbit = jax.lax.scan(late, h, filled.reshape(blocks, block, -1).swapaxes(0, 1))
    flat = lambda leaf: leaf.swapaxes(0, 1).reshape(-1, *leaf.shape[2:])[:T]
    return jax.tree.map(flat, orbit)


def _where(rows: Array, new: Any, old: Any) -> Any:
    """The new states in some rows, the old ones in the others."""
    choose = lambda a, b: jnp.where(rows.reshape(-1, *(1,) * (a.ndim - 1)), a, b)
    return jax.tree.map(choose, new, old)


def truncate(net: Any, window: float, *, block: int = 1) -> Truncated:
    """The feed-forward network that computes each output from its last `window` inputs.

    With `block` above 1 outputs share starts and read up to `block - 1` inputs more,
    which is cheaper and at least as near to the recurrent network's proved bound.

    >>> import jax.numpy as jnp
    >>> from remanence.cells import Linear
    >>> net = Recurrent(Linear(0.5 * jnp.eye(1), jnp.ones((1, 1))))
    >>> truncate(net, window=2)(jnp.ones((4, 1))).ravel().tolist()
    [1.0, 1.5, 1.5, 1.5]
    """
    net = net if isinstance(net, Recurrent) else Recurrent(net)
    if not float(window).is_integer():  # horizons are floats, and may be infinite
        raise ValueError(f"window must be a whole number, got {window}")
    return Truncated(net, int(window), block)
