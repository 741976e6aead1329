"""Experiment 2: is the edge of chaos the best place to learn from, and the fastest?"""

from typing import Any

import numpy as np
import xarray as xr

from .comparison import beats, first_crossing, rows_of
from .config import Config


NEAR = 0.05
"""Nats a step: a largest exponent so near to 0 is at the edge of chaos."""


def radius_evidence(config: Config, table: xr.Dataset) -> dict[str, Any]:
    """The best radius, what it beats, and how soon each reaches an accuracy."""
    rows = rows_of(table, "radius")
    final, radii = rows.accuracy.isel(mark=-1).values, rows.value.values
    exponent = rows.before.values.mean(1)
    best = int(rows.tuning.isel(mark=-1).values.mean(1).argmax())
    far = np.flatnonzero(np.abs(exponent) > NEAR)
    return {
        "001.3": {
            "best_radius": float(radii[best]),
            "best_exponent": float(exponent[best]),
            "best_accuracy": float(final[best].mean()),
            "beats_most_subcritical": beats(final[best], final[0]),
            "beats_most_supercritical": beats(final[best], final[-1]),
            "unbeaten_far": [
                float(radii[i])
                for i in far
                if i != best and not beats(final[best], final[i])
            ],
            "radii": radii.tolist(),
            "exponents": exponent.tolist(),
            "accuracies": final.mean(1).tolist(),
            "spreads": final.std(1, ddof=1).tolist(),
        },
        "001.3-speed": _speed(config, rows, exponent),
    }


def _speed(config: Config, rows: xr.Dataset, exponent: np.ndarray) -> dict[str, Any]:
    """The fastest network near the edge against the fastest far from it.

    At the highest accuracy that some network reaches for every seed; a run that does
    not get there counts as one mark beyond its budget, which is less than it needs.
    """
    radii, late = rows.value.values, config.steps + config.every
    crossing = lambda part, target: first_crossing(part.values, config.every, target)
    reached = [
        target
        for target in config.targets
        if np.isfinite(crossing(rows.accuracy, target)).all(1).any()
    ]
    target = max(reached, default=min(config.targets))
    steps = crossing(rows.accuracy, target)
    chosen = np.nan_to_num(crossing(rows.tuning, target), nan=late).mean(1)
    near = np.abs(exponent) <= NEAR
    found: dict[str, Any] = {
        "target": target,
        "exponents": exponent.tolist(),
        "radii": radii.tolist(),
        # None: some seed never got there.
        "steps": [None if np.isnan(s).any() else float(s.mean()) for s in steps],
        "near_faster": False,
        "far_faster": False,
    }
    if reached and near.any() and not near.all():
        ours, theirs = (
            np.nan_to_num(steps, nan=late)[np.where(group, chosen, np.inf).argmin()]
            for group in (near, ~near)
        )
        found |= {
            "near_faster": beats(-ours, -theirs),
            "far_faster": beats(-theirs, -ours),
        }
    return found
