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
    mean, error = fall(a, b)
    return bool(mean > 2 * error and mean > 0 and np.all(np.asarray(a) >= b))


def fall(a: np.ndarray, b: np.ndarray) -> tuple[float, float]:
    """The mean of the paired differences A − B over seeds, and its standard error."""
    d = np.asarray(a, float) - np.asarray(b, float)
    error = d.std(ddof=1) / np.sqrt(len(d)) if len(d) > 1 else np.inf
    return float(d.mean()), float(error)


def summary(values: np.ndarray) -> dict[str, float]:
    """Mean and standard deviation over seeds."""
    values = np.asarray(values, float)
    return {"mean": float(values.mean()), "spread": float(values.std(ddof=1))}


def versus(kinds: dict[str, np.ndarray], first: str, second: str) -> dict[str, Any]:
    """Two kinds side by side, with the verdict of the spread both ways."""
    a, b = kinds[first], kinds[second]
    found: dict[str, Any] = {"first": first, "second": second}
    for which, ours, theirs in (("first", a, b), ("second", b, a)):
        found |= {f"{which}_{name}": value for name, value in summary(ours).items()}
        found[f"{which}_beats"] = beats(ours, theirs)
    return found


def first_crossing(history: np.ndarray, every: int | np.ndarray, target: float) -> np.ndarray:
    """The first step at which each run reached the target; NaN if it never did."""
    reached = history >= target
    at = np.where(reached.any(-1), reached.argmax(-1) + 1.0, np.nan)
    return at * every


def rows_of(table: xr.Dataset, experiment: str) -> xr.Dataset:
    """The rows of the table of cases that belong to one experiment."""
    return table.isel(case=np.flatnonzero(table.experiment.values == experiment))


def accuracy_by_kind(table: xr.Dataset) -> xr.DataArray:
    """Final accuracy of each kind of network, over `kind` and `seed`."""
    rows = rows_of(table, "kind").accuracy.isel(mark=-1)
    return rows.swap_dims(case="name").rename(name="kind").reset_coords(drop=True)
