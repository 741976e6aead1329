"""A run of checkpoints: how memory came and went, from the first to the last."""

from collections.abc import Sequence

import numpy as np
import xarray as xr

from ...report import Figure
from ..record import Checkup
from .canvas import blank, short


LEAST = 3  # checkpoints: two are a table
NAMES = 12  # that fit under an axis


def over_training(found: Sequence[Checkup]) -> Figure | None:
    """Horizons, and the largest exponent with its interval, checkpoint by checkpoint."""
    if len(found) < LEAST:
        return None
    at = np.arange(len(found))
    steps = {
        name: np.array([_finite(each.figures[name]) for each in found])
        for name in ("remembers", "window")
    }
    largest = np.array([_finite(each.figures["largest_exponent"]) for each in found])
    # The exponents are sorted, and so are both ends of their intervals.
    low, high = (
        np.array([_finite(each.spectrum.confidence()[end][0]) for each in found]) for end in (0, 1)
    )

    def draw():
        figure, (left, right) = blank(ncols=2)
        for colour, marker, (name, values) in zip(("C0", "C1"), "os", steps.items(), strict=True):
            left.plot(at, values, color=colour, marker=marker, ms=4, label=name)
        left.set(ylabel="steps", ylim=(0, None))
        left.legend()
        right.axhline(0, color="C7", lw=1)
        right.errorbar(at, largest, yerr=(largest - low, high - largest), fmt="o-", ms=4, capsize=2)
        right.set(ylabel="largest exponent (nats per step)")
        for axes in (left, right):
            every = at[:: -(-len(at) // NAMES)]
            axes.set_xticks(every, [short(found[i].name) for i in every], rotation=60)
        return figure

    return Figure(
        "over-training",
        "Checkpoint by checkpoint",
        "How long each remembers, the window that is enough for it as measured, and its "
        "largest exponent with a 95 % interval. What is unbounded or not known is left out.",
        draw,
        xr.Dataset(
            {
                **{name: ("network", values) for name, values in steps.items()},
                "largest_exponent": ("network", largest),
                "low": ("network", low),
                "high": ("network", high),
            },
            coords={"network": [each.name for each in found]},
        ),
    )


def _finite(value: float | None) -> float:
    return float(value) if value is not None and np.isfinite(value) else np.nan
