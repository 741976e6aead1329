r"""How the gradient fades: $\|\partial h_{t+i} / \partial x_t\|_F$ over lags $i$ and positions $t$.

From each position the columns of $F = \partial h_t / \partial x_t$ are pushed along the orbit, or those
of $L$ in $F = L Q^\top$, which has the same norms: never more columns than the state has numbers.
"""

import dataclasses
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Float, Int

from .._precision import double
from .._types import Key
from ..cells import dimension, pushforward
from .drive import Drive, driven, refuse_fractions
from .replay.token_record import first_good


WORK = 5e10  # multiplications: beyond it fewer positions are looked at, then directions
FEW = 16  # positions, and random directions of the input, that are followed at least
LEVEL = 1e-6  # of the first gradient: a plateau below it is none
KEPT = 1e-2  # of the first gradient: a level that stays above it is memory
FLAT = 0.1  # relative change over a quarter of the lags up to which a gradient is level


@dataclasses.dataclass(frozen=True)
class Plateau:
    """Where the median gradient stops falling: what is left then is not forgotten."""

    level: float
    """Relative to lag 0."""
    lag: int
    """From which the median is within a tenth of the level."""
    until: int
    """The longest lag looked at."""

    def __str__(self) -> str:
        forgotten = f"is forgotten up to lag {self.until}"
        level = f"levels off at {self.level:.2g} of its first size from lag {self.lag} on"
        return f"{level}: nothing more {forgotten}" if self.lag else f"nothing {forgotten}"


@dataclasses.dataclass(frozen=True)
class GradientDecay:
    """The norms of gradients at every lag and position."""

    lags: Int[np.ndarray, " lags"]
    positions: Int[np.ndarray, " positions"]
    """The step of each position in its sequence."""
    sequences: Int[np.ndarray, " positions"]
    """The sequence of the batch that each position belongs to."""
    norms: Float[np.ndarray, "positions lags"]
    """Norm of the derivative of the state at lag i by the input at each position."""
    directions: int
    """Directions of the input that were followed."""
    exact: bool
    """Whether these are all that matter, rather than some drawn for each position."""

    def quantile(self, q: float) -> Float[np.ndarray, " lags"]:
        """A quantile over positions at every lag, relative to lag 0 of each position."""
        return np.quantile(_relative(self.norms), q, axis=0)

    @property
    def fall(self) -> Float[np.ndarray, " positions"]:
        """Per position, the lag from which the gradient stays at or below 1/e of lag 0."""
        return first_good(_relative(self.norms), np.exp(-1.0) * (1 + 1e-9)) - 1

    @property
    def remembers(self) -> float:
        """The median of `fall`: what "remembers about n steps" means; inf if beyond the lags."""
        return float(np.quantile(self.fall, 0.5, method="lower"))

    @property
    def plateau(self) -> Plateau | None:
        """Where the median over positions levels off in the second half of the lags."""
        middle = self.quantile(0.5)
        third, last = (part.mean() for part in np.array_split(middle, 4)[2:])
        level = float(third + last) / 2
        if len(middle) < 8 or level < LEVEL or abs(last - third) > FLAT * third:
            return None
        falls = middle[0] >= level
        near = middle <= (1 + FLAT) * level if falls else middle >= (1 - FLAT) * level
        return Plateau(level, int(np.argmax(near)), int(self.lags[-1]))

    def sentence(self, unit: str = "steps") -> str:
        """How long the network remembers, in words: a level that stays is not forgotten."""
        most, level = int(self.lags[-1]), self.plateau
        more, lag = f"remembers for more than {most} {unit}", f"{self.remembers:.0f}"
        if np.isinf(self.remembers):
            return f"{more}, the longest lag looked at"
        if level is not None and level.level >= KEPT:
            return f"{more}: the gradient is below 1/e from lag {lag} on, but {level}"
        return f"remembers about {lag} {unit.removesuffix('s') if lag == '1' else unit}"


def _relative(norms: np.ndarray) -> np.ndarray:
    start = norms[:, :1]
    return np.divide(norms, start, out=np.zeros_like(norms), where=start > 0)


def gradient_decay(
    cell: Any,
    inputs: Any,
    *,
    lengths: Any = None,
    lags: int | None = None,
    positions: int = 48,
    key: Key | None = None,
) -> GradientDecay:
    """The decay of gradients from about `positions` places, spread over all sequences.

    Places have `lags` more steps behind them; sequences too short for one have none. Where
    the work is too much fewer places are looked at, and then random directions of the
    input instead of all, which the record says.

    >>> import jax.numpy as jnp
    >>> from remanence.cells import Linear
    >>> cell = Linear(0.5 * jnp.eye(2), jnp.eye(2))
    >>> decay = gradient_decay(cell, jnp.ones((40, 2)), lags=3)
    >>> decay.quantile(0.5).tolist(), decay.remembers
    ([1.0, 0.5, 0.25, 0.125], 2.0)
    """
    refuse_fractions(lags=lags, positions=positions)
    with double():
        drive = driven(cell, inputs, lengths=lengths)
        longest = int(drive.ends.max())
        lags = min(256, longest // 2) if lags is None else lags
        if not 1 <= lags < longest:
            raise ValueError(f"lags must lie in 1 to {longest - 1}, got {lags}")
        positions, drawn = _affordable(drive, lags, positions)
        which, at = _places(np.maximum(drive.ends - lags, 0), positions)
        used, row = np.unique(which, return_inverse=True)
        xs = np.asarray(drive.xs)[used]  # in NumPy: JAX compiles programs for every gather
        inputs = xs[row[:, None], at[:, None] + np.arange(lags + 1)]
        keys = jr.split(jr.key(0) if key is None else key, len(at))
        until = xs[:, : at.max() + 1]
        starts = _states_at(drive.cell, until, row, at)
        norms = np.asarray(_gradient_norms(drive.cell, starts, inputs, keys, drawn))
    if not np.isfinite(norms).all():
        raise ValueError("gradients leave the range of floats: the map is unstable on these inputs")
    directions = drawn or min(drive.xs.shape[2], starts.shape[1])
    return GradientDecay(np.arange(lags + 1), at, which, norms, directions, drawn is None)


def _affordable(drive: Drive, lags: int, positions: int) -> tuple[int, int | None]:
    """As many positions as the work allows, and how many directions if not all."""
    size, width = dimension(drive.cell), drive.xs.shape[2]
    weights = sum(np.size(leaf) for leaf in jax.tree.leaves(drive.cell))
    each = WORK / (lags * max(weights, size))  # columns followed from all positions
    columns = min(size, width)
    positions = min(positions, max(FEW, int(each / columns)))
    drawn = max(FEW, int(each / positions))
    return positions, drawn if drawn < columns else None


def _places(room: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Sequence and step of places spread evenly over the steps of each with room."""
    ends = np.cumsum(room)
    chosen = np.unique(np.linspace(0, ends[-1] - 1, count).astype(int))
    which = np.searchsorted(ends, chosen, side="right")
    return which, chosen - (ends - room)[which]


@eqx.filter_jit
def _states_at(cell: Any, xs: Any, row: Any, at: Any) -> Float[Array, "positions dimension"]:
    """The states, flat, that take the inputs at these places of these sequences."""
    flat, unravel = ravel_pytree(cell.initial_state())
    follow = jax.vmap(lambda h, x: ravel_pytree(cell(unravel(h), x))[0])

    def step(carry, now):
        h, found = carry
        t, x = now
        return (follow(h, x), jnp.where((at == t)[:, None], h[row], found)), None

    sequences, time, _ = xs.shape
    start = (jnp.tile(flat, (sequences, 1)), jnp.zeros((len(at), flat.size), flat.dtype))
    return jax.lax.scan(step, start, (jnp.arange(time), xs.swapaxes(0, 1)))[0][1]


@eqx.filter_jit
def _gradient_norms(cell: Any, starts: Array, inputs: Array, keys: Array, drawn: int | None):
    """The norms of each position's gradient at every lag, `positions x lags`."""
    unravel = ravel_pytree(cell.initial_state())[1]
    size, width = starts.shape[1], inputs.shape[2]

    def one(h: Array, xs: Array, key: Key):
        take = lambda x: ravel_pytree(cell(unravel(h), x))[0]
        if drawn is not None:  # E|Gv|² = |G|² for such v
            V = jr.normal(key, (width, drawn)) / drawn**0.5
            along = lambda v: jax.jvp(take, (xs[0],), (v,))[1]
            F = jax.vmap(along, in_axes=1, out_axes=1)(V)
        elif width > size:
            F = jnp.linalg.qr(jax.jacrev(take)(xs[0]).T, mode="r").T
        else:
            F = jax.jacfwd(take)(xs[0])

        def step(carry, x):
            h, frame = carry
            following, frame = pushforward(cell, h, x, frame)
            return (following, frame), jnp.linalg.norm(frame)

        later = jax.lax.scan(step, (unravel(take(xs[0])), F), xs[1:])[1]
        return jnp.concatenate([jnp.linalg.norm(F)[None], later])

    return jax.vmap(one)(starts, inputs, keys)
