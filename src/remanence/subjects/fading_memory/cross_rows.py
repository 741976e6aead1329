"""Trained networks of this study as rows of the table of all documents."""

import math
from typing import Any

import jax.numpy as jnp
import numpy as np
import xarray as xr

from ...cells import Residual
from ...measure import contraction, lyapunov_spectrum
from ...report import cross_table, Row
from ...tasks import Pixels
from .config import Config
from .residual_spectrum import rotation_blocks


def cross_rows(config: Config, table: xr.Dataset, found: Any, task: Pixels) -> xr.Dataset:
    """One row a kind: its exponent, its certified rate, its rank and its angles."""
    inputs = task.test_x[-40:].reshape(-1, 1).astype(np.float64)
    rows = []
    for name in ("homogeneous", "informed", "Elman, orthogonal"):
        at = next(i for i, case in enumerate(found) if case.name == name)
        case, ours = found[at], table.isel(case=at, seed=0)
        R = rotation_blocks(jnp.asarray(case.radii[0]), jnp.asarray(case.angles[0]))
        weights = (jnp.asarray(ours[part].values) for part in ("W_h", "W_x", "b"))
        W_h, W_x, b = weights
        cell = Residual(
            R if case.residual else 0.0,
            W_h,
            W_x[:, None],
            b,
            config.coupling if case.residual else 1.0,
        )
        top = float(lyapunov_spectrum(cell, inputs, k=1).exponents[0])
        rate = contraction(cell, metric="norm").rate
        angles = np.unique(np.round(case.angles[0], 2))
        rows.append(
            Row(
                network=f"{name} ({config.source}, trained)",
                dimension=config.units,
                largest_exponent=top,
                horizon=-1 / top if top < 0 else math.inf,
                certified_rate=rate,
                rank=int(np.linalg.matrix_rank(np.asarray(W_h))),
                key_frequencies=", ".join(f"{a:g}" for a in angles if case.residual),
            )
        )
    return cross_table(rows)
