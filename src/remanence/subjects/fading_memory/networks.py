r"""The networks that are compared, as rows of one table: $h' = R h + \gamma\tanh(W_h h + W_x x + b)$.

An Elman network is the row with $R = 0$, $\gamma = 1$; orthogonal initialisation and
"initialised to the spectrum of $R$" are two ways to draw its $W_h$; clipping is a
number. Nonlinear residuals $\rho(Rh)$ and gated cells behind a residual,
$Rh + \gamma\,\mathrm{cell}(h, x)$, are rows of families of their own.
"""

import dataclasses
import math
from functools import partial
from typing import Any, Literal

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np

from ...cells import GRU, LSTM, Residual, WeaklyCoupled
from ...tasks import Pixels
from .config import Config
from .informed_residual import informed_residual, InformedResidual
from .residual_spectrum import rotation_blocks


DRAWS = ("gaussian", "orthogonal", "spectrum")
ACTIVATIONS = {"tanh": jnp.tanh, "ReLU": jax.nn.relu, "leaky ReLU": jax.nn.leaky_relu}
GATES = {"GRU": GRU, "LSTM": LSTM}


@dataclasses.dataclass(frozen=True, kw_only=True)
class Case:
    """One row: radii and angles for each seed and pair of units, and how it is trained."""

    experiment: str
    name: str
    family: str = "plain"
    """One program trains all rows of a family: plain, nonlinear, GRU or LSTM."""
    value: float = math.nan
    """The radius or angle, where the experiment is a sweep over one."""
    radii: np.ndarray
    angles: np.ndarray
    residual: bool = True
    draw: Literal["gaussian", "orthogonal", "spectrum"] = "gaussian"
    activation: str = "tanh"
    """Round the residual, in the nonlinear family."""
    clip: float = 1e9
    rate: float = math.nan
    permuted: bool = False
    steps: int


def columns(rows: list[Case]) -> dict[str, Any]:
    """The rows as arrays, for lanes to pick theirs by number."""
    pick = lambda name, dtype: np.array([getattr(row, name) for row in rows], dtype)
    return {
        **{name: pick(name, np.float32) for name in ("radii", "angles", "clip", "rate")},
        **{name: pick(name, bool) for name in ("residual", "permuted")},
        "draw": np.array([DRAWS.index(row.draw) for row in rows]),
        "activation": np.array([list(ACTIVATIONS).index(row.activation) for row in rows]),
    }


def one_block(config: Config, r: float, phi: float = 0.0) -> dict[str, Any]:
    """One radius and one angle for every pair and seed."""
    shape = (config.seeds, config.units // 2)
    return {"radii": np.full(shape, r), "angles": np.full(shape, phi)}


def swept_networks(config: Config) -> list[Case]:
    """Homogeneous residuals over the radius, rotational ones over the angle."""
    block, steps = partial(one_block, config), config.steps
    swept = [("radius", f"r = {r:g}", r, block(r)) for r in config.radii]
    for order, angles in (("sequential", config.angles), ("permuted", config.permuted_angles)):
        swept += [
            (f"angle, {order}", f"angle {phi:.3g}, {order}", phi, block(config.radius, phi))
            for phi in angles
        ]
    return [
        Case(experiment=e, name=name, value=at, permuted="permuted" in e, steps=steps, **made)
        for e, name, at, made in swept
    ]


def kinds_of_networks(config: Config, task: Pixels, informed: InformedResidual) -> list[Case]:
    """Residuals and their rivals, each with the same budget."""
    seeds, length = (config.seeds, 1), task.train_x.shape[1]
    ours = {name: np.tile(getattr(informed, name), seeds) for name in ("radii", "angles")}
    elman = {**one_block(config, 1.0), "residual": False}
    # Drawn blindly: timescales even in logarithm, as the informed one's; any angle.
    draw, pairs = np.random.default_rng(1), config.units // 2
    radii = np.exp(-1 / np.geomspace(length / 8, length, pairs))
    blind = {
        "radii": np.stack([draw.permutation(radii) for _ in range(config.seeds)]),
        "angles": draw.uniform(0, math.pi, (config.seeds, pairs)),
    }
    kinds: dict[str, dict[str, Any]] = {
        "homogeneous": one_block(config, config.radius),
        "rotational": one_block(config, config.radius, math.tau / task.side),
        "heterogeneous": blind,
        "informed": ours,
        "Elman: Gaussian": elman,
        "Elman: Gaussian, clipped": elman | {"clip": 1.0},
        "Elman: orthogonal": elman | {"draw": "orthogonal"},
        "Elman: orthogonal, clipped": elman | {"draw": "orthogonal", "clip": 1.0},
        "Elman: informed spectrum": ours | {"residual": False, "draw": "spectrum"},
    }
    nonlinear = ours | {"family": "nonlinear"}
    kinds |= {f"nonlinear residual: {n}": nonlinear | {"activation": n} for n in ACTIVATIONS}
    for name in config.gated:
        kinds[name] = ours | {"family": name, "residual": False}
        kinds[f"{name} behind a residual"] = ours | {"family": name}
    shared = {"experiment": "kind", "steps": config.kind_steps}
    return [Case(name=name, **shared, **made) for name, made in kinds.items()]


def adding_networks(config: Config) -> list[Case]:
    r"""Of the adding problem: radii are given per sequence, $r^T$, whatever its length $T$.

    The homogeneous residual keeps 1/e over the sequence; the heterogeneous one has
    timescales from an eighth of the sequence to eight times it, and slow angles.
    """
    seeds, pairs = (config.seeds, 1), config.units // 2
    radii, slow = np.exp(-1 / np.geomspace(1 / 8, 8, pairs)), np.geomspace(1e-3, 0.3, pairs)[::-1]
    kinds: dict[str, dict[str, Any]] = {
        "homogeneous": one_block(config, math.exp(-1)),
        "heterogeneous": {"radii": np.tile(radii, seeds), "angles": np.tile(slow, seeds)},
        "Elman: orthogonal": one_block(config, 1.0) | {"residual": False, "draw": "orthogonal"},
    }
    shared: Any = {"experiment": "adding", "clip": 1.0, "rate": config.adding_rate}
    shared["steps"] = config.adding_steps
    return [Case(name=name, **shared, **made) for name, made in kinds.items()]


def informed_by(task: Pixels, config: Config) -> InformedResidual:
    """The residual that the training images themselves suggest."""
    return informed_residual(task.train_x[:2000], config.units, peaks=4)


class NonlinearByNumber(eqx.Module):
    """A nonlinear residual whose activation is traced: all of them train in one program."""

    R: Any
    which: Any

    def __call__(self, h: Any) -> Any:
        every = jnp.stack([f(self.R @ h) for f in ACTIVATIONS.values()])
        return every[self.which]


def cell_of(config: Config, family: str, row: dict[str, Any], inputs: int, *, key: Any) -> Any:
    """The untrained cell of a row; its radii and angles are those of one seed."""
    R = rotation_blocks(row["radii"], row["angles"])
    used = jnp.where(row["residual"], R, jnp.zeros_like(R))
    coupling = jnp.where(row["residual"], jnp.float32(config.coupling), jnp.float32(1))
    if family in GATES:
        return WeaklyCoupled(GATES[family].init(inputs, config.units, key=key), used, coupling)
    base = Residual.init(inputs, config.units, key=key)
    if family == "nonlinear":
        rho = NonlinearByNumber(R, row["activation"])
        return Residual(rho, base.W_h, base.W_x, base.b, coupling)
    Q = jr.orthogonal(key, config.units)
    W_h = jnp.stack([base.W_h, Q, Q @ R @ Q.T])[row["draw"]]
    return Residual(used, W_h, base.W_x, base.b, coupling)
