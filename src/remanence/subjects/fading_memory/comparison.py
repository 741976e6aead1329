"""Two networks compared seed by seed, and what the spread allows to be said.

The rule, declared once: A beats B if the mean of the paired differences exceeds
twice its standard error and no seed says the opposite. Seeds are paired: the same
initial weights, the same batches.
"""

from typing import Any

import numpy as np
import xarray as xr


def beats(a: np.ndarray, b: np.ndarray) -> bool:
    """Whether A is better than B beyond the spread over seeds."""
    d = np.asarray(a, float) - np.asarray(b, float)
    error = d.std(ddof=1) / np.sqrt(len(d)) if len(d) > 1 else np.inf
    return bool(d.mean() > 2 * error and (d >= 0).all() and d.mean() > 0)


def summary(values: np.ndarray) -> dict[str, float]:
    """Mean and standard deviation over seeds."""
    values = np.asarray(values, float)
    return {"mean": float(values.mean()), "spread": float(values.std(ddof=1))}


def first_crossing(history: np.ndarray, every: int, target: float) -> np.ndarray:
    """The first step at which each run reached the target; NaN if it never did."""
    reached = history >= target
    at = np.where(reached.any(-1), reached.argmax(-1) + 1.0, np.nan)
    return at * every


def tuned(tuning: np.ndarray, accuracy: np.ndarray) -> tuple[int, np.ndarray]:
    """The rate (axis 0) that is best on the tuning half, and its accuracies by seed."""
    best = int(np.asarray(tuning).mean(1).argmax())
    return best, np.asarray(accuracy)[best]


def versus(kinds: dict[str, np.ndarray], first: str, second: str) -> dict[str, Any]:
    """Two kinds side by side, with the verdict of the spread both ways."""
    a, b = kinds[first], kinds[second]
    return {
        "first": first,
        "second": second,
        **{f"first_{k}": v for k, v in summary(a).items()},
        **{f"second_{k}": v for k, v in summary(b).items()},
        "first_beats": beats(a, b),
        "second_beats": beats(b, a),
    }


def rows_of(table: xr.Dataset, experiment: str) -> xr.Dataset:
    """The rows of the table of cases that belong to one experiment."""
    return table.isel(case=np.flatnonzero(table.experiment.values == experiment))
