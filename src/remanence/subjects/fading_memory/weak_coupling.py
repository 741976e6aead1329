r"""Experiment 1: exponents against $\log|\mathrm{eig}\,R|$ as the coupling grows.

For $R = rI$ the first order is known in closed form: the product of
$rI + \gamma D_t W$ is $r^T \exp(\gamma/r \sum_t D_t W)$ to first order, so
$\lambda_i \approx \log r + (\gamma / r)\,\mathrm{Re\,eig}_i(\langle D \rangle W)$.
"""

import math
from typing import Any

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import xarray as xr

from ...cells import Residual
from ...measure import exponents_along
from ...sweeps import sweep
from .config import Config
from .residual_spectrum import jordan_block


LEAVES = 0.01
"""Weak coupling is said to end where an exponent has moved by this much (nats a step)."""


def exponents_over_coupling(config: Config, bench: Any) -> xr.Dataset:
    """Exponents of drawn networks under noise and their exact bound, over coupling, radius,
    size and seed, in float64."""

    def lane(point: dict[str, Any], key: Any, data: Any) -> dict[str, Any]:
        cell_key, input_key = jr.split(key)
        units, gamma, r = point["units"], point["coupling"], point["radius"]
        wide = lambda leaf: jnp.asarray(leaf, jnp.float64)
        drawn = jax.tree.map(wide, Residual.init(1, units, key=cell_key))
        cell = Residual(r, drawn.W_h, drawn.W_x, drawn.b, gamma)
        xs = jr.normal(input_key, (config.spectrum_steps, 1), jnp.float64)
        # Exponents that differ by O(γ) need O(1/γ) steps to part, and as many to be measured.
        interval = (5 / (2 * gamma + 0.02)).astype(jnp.int32)
        options = {"interval": interval, "warmup": len(xs) // 3}
        found = exponents_along(cell, cell.initial_state(), xs, **options)
        slopes = 1 - jnp.tanh(xs * cell.W_x[:, 0]) ** 2
        first = jnp.linalg.eigvals(slopes.mean(0)[:, None] * cell.W_h).real / r
        norm = jnp.linalg.norm(cell.W_h, 2)
        return {
            "gap": jnp.abs(found - jnp.log(r)).max(),
            "top": found[0] - jnp.log(r),
            "first_order": first.max(),
            "bound": -jnp.log1p(-jnp.minimum(gamma * norm / r, 1.0)),
        }

    axes = {
        "units": config.spectrum_units,
        "coupling": config.couplings,
        "radius": config.spectrum_radii,
        "seed": range(config.seeds),
    }
    return sweep(lane, axes, static=("units",), x64=True, **config.sweep_options(bench, "spectra"))


def fitted_slope(x: np.ndarray, y: np.ndarray) -> float:
    """The slope of log y against log x."""
    return float(np.polyfit(np.log(x), np.log(y), 1)[0])


def proved_ends(spectra: xr.Dataset) -> xr.DataArray:
    """The coupling below which the bound lets no exponent move by `LEAVES`."""
    norm = spectra.radius * -np.expm1(-spectra.bound) / spectra.coupling
    # The bound stops at ‖γW‖ = r: the least coupling is where it says most.
    return -math.expm1(-LEAVES) * spectra.radius / norm.isel(coupling=0)


def where_it_ends(spectra: xr.Dataset) -> xr.DataArray:
    """The coupling at which an exponent has moved by `LEAVES`, over units, radius and seed;
    NaN where none has."""
    gamma = np.log(spectra.coupling.values)

    def crossing(gap: np.ndarray) -> float:
        logs = np.maximum.accumulate(np.log(gap))
        return math.exp(np.interp(math.log(LEAVES), logs, gamma, right=math.nan))

    return xr.apply_ufunc(crossing, spectra.gap, input_core_dims=[["coupling"]], vectorize=True)


def defective(units: tuple[int, ...] = (2, 4, 8)) -> xr.Dataset:
    """How far the largest exponent of a Jordan block moves, over coupling and size.

    Without input the origin is fixed: the exponents are log|eig J|.
    """
    radius, couplings, moved = 0.9, 10.0 ** np.arange(-12, -5), []
    for N in units:
        R = np.asarray(jordan_block(N, radius=radius), np.float64)
        # Positive weights: the positive root, the one that grows, is there for every size.
        W = np.abs(np.asarray(jr.normal(jr.key(N), (N, N)), np.float64)) * N**-0.5
        values = np.linalg.eigvals(R + couplings[:, None, None] * W)
        moved.append(np.log(np.abs(values).max(1) / R[0, 0]))
    axes = {"units": list(units), "coupling": couplings}
    return xr.Dataset({"moved": (tuple(axes), moved)}, axes)


def gradients_over_radius(config: Config, bench: Any, length: int) -> xr.Dataset:
    r"""How much of a loss's gradient is left after $T$ steps back, at initialisation, as a
    logarithm, against $T \log r$."""

    def lane(point: dict[str, Any], key: Any, data: Any) -> dict[str, Any]:
        cell_key, input_key, way_key = jr.split(key, 3)
        drawn = {"residual": point["radius"], "coupling": point["coupling"]}
        cell = Residual.init(1, config.units, key=cell_key, **drawn)
        xs = jr.uniform(input_key, (length, 1))
        end = lambda h: jax.lax.scan(lambda h, x: (cell(h, x), None), h, xs)[0]
        _, back = jax.vjp(end, cell.initial_state())
        way = jr.normal(way_key, (config.units,))
        (gradient,) = back(way)
        return {"left": jnp.log(jnp.linalg.norm(gradient) / jnp.linalg.norm(way))}

    axes = {
        "radius": np.linspace(0.8, 1.1, 7).round(3).tolist(),
        "coupling": [1e-3, config.coupling],
        "seed": range(config.seeds),
    }
    found = sweep(lane, axes, **config.sweep_options(bench, "gradients"))
    return found.assign_attrs(length=length)
