r"""The networks that are compared, as rows of one table: all are $h' = R h + \gamma\tanh(W_h h + W_x x + b)$.

An Elman network is the row with $R = 0$, $\gamma = 1$; orthogonal initialisation and
"initialised to the spectrum of $R$" are two ways to draw its $W_h$; clipping is a
number. So radii, angles and rivals train side by side in one batch.
"""

import dataclasses
import math
from typing import Any, Literal

import jax.numpy as jnp
import numpy as np

from ...tasks import Pixels
from .config import Config
from .informed_residual import informed_residual


Draw = Literal["gaussian", "orthogonal", "spectrum"]
DRAWS: tuple[Draw, ...] = ("gaussian", "orthogonal", "spectrum")


@dataclasses.dataclass(frozen=True, kw_only=True)
class Case:
    """One row: radii and angles for each seed and pair of units, and how it is trained."""

    experiment: str
    name: str
    value: float = math.nan
    """The radius or angle, where the experiment is a sweep over one."""
    radii: np.ndarray
    angles: np.ndarray
    residual: bool = True
    draw: Draw = "gaussian"
    clip: float = 1e9
    rate: float = 1e-2
    permuted: bool = False


def cases(config: Config, task: Pixels, informed: Any) -> list[Case]:
    """Every residual and Elman network of experiments 2 to 5."""
    pairs = config.units // 2

    def even(r: float, phi: float) -> dict[str, Any]:
        shape = (config.seeds, pairs)
        return {"radii": np.full(shape, r), "angles": np.full(shape, phi)}

    row = 2 * math.pi / task.side
    rate = config.rates[-1]
    found = [
        Case(experiment="radius", name=f"r = {r:g}", value=r, rate=rate, **even(r, 0.0))
        for r in config.radii
    ]
    for permuted, angles in ((False, config.angles), (True, config.permuted_angles)):
        where = "permuted" if permuted else "sequential"
        found += [
            Case(
                experiment=f"angle, {where}",
                name=f"angle {phi:.3g}, {where}",
                value=phi,
                rate=config.angle_rate,
                permuted=permuted,
                **even(config.radius, phi),
            )
            for phi in angles
        ]
    for rate in config.rates:
        kinds: dict[str, dict[str, Any]] = {
            "homogeneous": even(config.radius, 0.0),
            "rotational": even(config.radius, row),
            "heterogeneous": _heterogeneous(config, task),
            "informed": _of(informed, config),
            "Elman, Gaussian": {**even(1.0, 0.0), "residual": False},
            "Elman, Gaussian, clipped": {**even(1.0, 0.0), "residual": False, "clip": 1.0},
            "Elman, orthogonal": {**even(1.0, 0.0), "residual": False, "draw": "orthogonal"},
            "Elman, orthogonal, clipped": {
                **even(1.0, 0.0),
                "residual": False,
                "draw": "orthogonal",
                "clip": 1.0,
            },
            "Elman, informed spectrum": {
                **_of(informed, config),
                "residual": False,
                "draw": "spectrum",
            },
        }
        found += [
            Case(experiment="kind", name=name, rate=rate, **made) for name, made in kinds.items()
        ]
    return found


def _of(informed: Any, config: Config) -> dict[str, Any]:
    spread = lambda values: np.tile(np.asarray(values), (config.seeds, 1))
    return {"radii": spread(informed.radii), "angles": spread(informed.angles)}


def _heterogeneous(config: Config, task: Pixels) -> dict[str, Any]:
    """Drawn blindly: timescales even in logarithm, as the informed one's; any angle."""
    pairs = config.units // 2
    draw = np.random.default_rng(1)
    length = task.train_x.shape[1]
    taus = np.geomspace(length / 8, length, pairs)
    radii = np.stack([draw.permutation(np.exp(-1 / taus)) for _ in range(config.seeds)])
    angles = draw.uniform(0, math.pi, (config.seeds, pairs))
    return {"radii": radii, "angles": angles}


def informed_by(task: Pixels, config: Config) -> Any:
    """The residual that the training images themselves suggest."""
    length = task.train_x.shape[1]
    taus = np.geomspace(length / 8, length, 4).tolist()
    images = task.train_x[:2000]
    return informed_residual(images, config.units, timescales=taus, peaks=4)


def table(found: list[Case]) -> dict[str, Any]:
    """The rows as arrays, for lanes to pick theirs by number."""
    column = lambda pick, dtype: jnp.asarray(np.array([pick(c) for c in found], dtype))
    return {
        "radii": column(lambda c: c.radii, np.float32),
        "angles": column(lambda c: c.angles, np.float32),
        "residual": column(lambda c: c.residual, bool),
        "draw": column(lambda c: DRAWS.index(c.draw), np.int32),
        "clip": column(lambda c: c.clip, np.float32),
        "rate": column(lambda c: c.rate, np.float32),
        "permuted": column(lambda c: c.permuted, bool),
    }
