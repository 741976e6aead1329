r"""Where the map stands still, $\phi(h, x) = h$, or nearly: minima of $q(h) = \frac12\|\phi(h, x) - h\|^2$.

Sussillo and Barak 2013. Levenberg and Marquardt's method (optimistix) from many
starts; a minimum with $q$ above the tolerance is a *slow* point. A fixed point is
stable if every eigenvalue of $J$ lies inside the unit circle.
"""

import dataclasses
from typing import Any, Literal

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
from jax.flatten_util import ravel_pytree
from jaxtyping import Complex, Float

from .._precision import double
from .._types import Key
from ..cells import dimension, jacobian
from ..nets import Recurrent
from .drive import driven


@dataclasses.dataclass(frozen=True)
class FixedPoint:
    """A state that the map leaves where it is, or moves slowly."""

    state: Float[np.ndarray, " dimension"]
    speed: float
    r"""$\|\phi(h, x) - h\|$."""
    kind: Literal["fixed", "slow"]
    eigenvalues: Complex[np.ndarray, " dimension"]
    found: int
    """How many starts led here."""

    @property
    def radius(self) -> float:
        """The spectral radius of the Jacobian."""
        return float(np.abs(self.eigenvalues).max())

    @property
    def unstable(self) -> int:
        """How many directions grow."""
        return int((np.abs(self.eigenvalues) > 1 + 1e-9).sum())

    @property
    def stability(self) -> str:
        """stable, marginal, saddle or repeller."""
        if self.unstable == len(self.eigenvalues):
            return "repeller"
        if self.unstable:
            return "saddle"
        return "marginal" if self.radius > 1 - 1e-9 else "stable"


@eqx.filter_jit
def _search(cell, x, starts, steps):
    import optimistix as optx  # a third of a second

    unravel = ravel_pytree(cell.initial_state())[1]

    residual = lambda flat, _: ravel_pytree(cell(unravel(flat), x))[0] - flat

    def search(flat):
        solver = optx.LevenbergMarquardt(rtol=1e-11, atol=1e-12)
        found = optx.least_squares(residual, solver, flat, max_steps=steps, throw=False).value
        return found, jnp.linalg.norm(residual(found, None))

    return jax.lax.map(search, starts)


@eqx.filter_jit
def jacobian_at(cell: Any, flat: Any, x: Any) -> Any:
    """The Jacobian at a flat state; one program serves every network of the same shapes."""
    return jacobian(cell, ravel_pytree(cell.initial_state())[1](flat), x)


def fixed_points(
    cell: Any,
    x: Any = None,
    *,
    starts: int = 32,
    near: Any = None,
    tolerance: float = 1e-7,
    slow: float = 1e-2,
    steps: int = 100,
    key: Key | None = None,
) -> tuple[FixedPoint, ...]:
    """The fixed and slow points of a map at a constant input: fixed before slow, near 0 first.

    `x` is the input held constant (None: the map is left alone, or reads zeros if it must read
    something). Starts are `starts` draws from the states `near` (rows of a `points x dimension`
    array, say those of an orbit) with noise, or from a unit normal. Points closer than 1e-4 of
    their size are one; what moves faster than `slow` is dropped.

    >>> import jax.numpy as jnp
    >>> from remanence.cells import Elman
    >>> cell = Elman(2 * jnp.eye(1), jnp.zeros((1, 1)))
    >>> [(abs(p.state).round(4).tolist(), p.stability) for p in fixed_points(cell)]
    [([0.0], 'repeller'), ([0.9575], 'stable'), ([0.9575], 'stable')]
    """
    if int(starts) < 1:
        raise ValueError(f"starts must be at least 1, got {starts}")
    with double():
        cell = cell.cell if isinstance(cell, Recurrent) else cell
        if x is None:
            cell = driven(cell, None, steps=1).cell
        else:
            drive = driven(cell, np.asarray(x)[None])
            cell, x = drive.cell, drive.xs[0, 0]
        origins = _origins(dimension(cell), int(starts), near, jr.key(0) if key is None else key)
        found, speeds = (np.asarray(a) for a in _search(cell, x, origins, steps))
        points = []
        for i, count in _distinct(found, np.where(speeds <= slow, speeds, np.inf)):
            kind = "fixed" if speeds[i] <= tolerance else "slow"
            J = np.asarray(jacobian_at(cell, found[i], x))
            eigenvalues = np.linalg.eigvals(J).astype(complex)
            points.append(FixedPoint(found[i], float(speeds[i]), kind, eigenvalues, count))
    size = lambda p: round(float(np.linalg.norm(p.state)), 6)
    return tuple(sorted(points, key=lambda p: (p.kind, size(p), *np.round(p.state, 6))))


def _origins(size: int, starts: int, near: Any, key: Key) -> Any:
    """Zero, and draws from the states `near` with noise or from a unit normal."""
    key_pick, key_noise = jr.split(key)
    origins = jr.normal(key_noise, (starts, size))
    if near is not None:
        near = jnp.asarray(np.asarray(near), jnp.float64)
        if near.ndim != 2 or near.shape[1] != size or len(near) == 0:
            raise ValueError(f"near must be rows of {size} numbers, got shape {near.shape}")
        picked = near[jr.randint(key_pick, (starts,), 0, len(near))]
        origins = picked + 0.1 * jnp.std(near) * origins
    return origins.at[0].set(0.0)


def _distinct(found: np.ndarray, speeds: np.ndarray) -> list[tuple[int, int]]:
    """One index for each place, the slowest of those that lead there, with their number."""
    counts: dict[int, int] = {}
    for i in np.argsort(speeds, kind="stable"):
        if not (np.isfinite(speeds[i]) and np.isfinite(found[i]).all()):
            continue
        gaps = {j: np.linalg.norm(found[i] - found[j]) for j in counts}
        near = (j for j in counts if gaps[j] <= 1e-4 * (1 + np.linalg.norm(found[j])))
        place = next(near, int(i))
        counts[place] = counts.get(place, 0) + 1
    return list(counts.items())
