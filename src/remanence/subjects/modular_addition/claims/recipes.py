"""The claim about recipes: what the number of frequencies depends on."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import xarray as xr

from ....report import Claim, Evidence, Verdict


def dependence(results: Mapping[str, Any]) -> Evidence:
    """Mean counts along each axis of the sweep, how far they differ, and their spread."""
    counts: xr.Dataset = results["counts"]
    means, span, error = {}, {}, {}
    for name in ("fraction", "decay", "width"):
        values = counts[f"count by {name}"].transpose(name, "seed").values
        known = [row[np.isfinite(row)] for row in values]
        each = [float(row.mean()) if len(row) else None for row in known]
        means[name] = [[float(x) for x in counts[name].values], each]
        seen = [m for m in each if m is not None]
        span[name] = max(seen) - min(seen) if len(seen) > 1 else None
        several = [row for row in known if len(row) > 1]
        error[name] = max((float(r.std(ddof=1) / np.sqrt(len(r))) for r in several), default=None)
    which = counts["key"].values.reshape(-1, counts.sizes["frequency"])
    learned = np.isfinite(counts["count"].values).ravel()
    return {
        "means": means,
        "span": span,
        "error": error,
        "moved": sum(_moved(span[n], error[n]) for n in span),
        "learned": [int(learned.sum()), len(learned)],
        "which": [counts.frequency.values[row].tolist() for row in which[learned]],
        "chosen": which[learned].sum(0).tolist(),
    }


def _moved(span: float | None, error: float | None) -> bool:
    return span is not None and error is not None and span >= 1 and span > 2 * error


def depends(e: Evidence) -> Verdict:
    """For each of fraction, decay and width: do mean counts differ by one or more, and by
    more than twice their standard error over seeds? Holds if for all three, differs if
    for some, refuted if for none; open where an axis has no spread."""
    if any(e["span"][name] is None or e["error"][name] is None for name in e["span"]):
        return "open"
    moved = sum(_moved(e["span"][name], e["error"][name]) for name in e["span"])
    return "holds" if moved == len(e["span"]) else "differs" if moved else "refuted"


RECIPES = (
    Claim(
        id="002.14",
        says="The number of frequencies depends on train fraction, weight decay and width.",
        published="6 at the paper's settings",
        finding="{moved} of 3 settings move the mean count beyond its error",
        evidence=dependence,
        rule=depends,
        figure="counts",
    ),
)
