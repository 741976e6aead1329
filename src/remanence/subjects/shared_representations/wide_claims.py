"""The claim about H > D: a smaller σ moves the threshold down to connectivity.

Its rule has a history. It first asked that more than 90 % of the connected graphs
generalise at the smallest σ, which was .03 then (69 %); σ = .01 was added and the rule
asked for 70 % and a rise of 20 points. Now thresholds are measured and compared, as the
claim says. That rule was written with σ down to .001, when of those runs only some thirty
had been seen, whose time was taken. On 180 graphs the threshold at .001 was .90 ± .35
points of a hundred above connectivity's, outside its error; σ = .0003 was added (.20 ±
.15). It is judged on graphs (seeds from 40,000 on) that were first drawn after that; there it
was .80 ± .30 once more, and every connected graph that failed was out of steps (8,000)
before a wall. With H > D a wall can be passed: given up to half a million steps all of them
went on to the training loss, and none generalises there (test losses of 20 to 700). So the
limit was raised, and the verdict is what it was.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import xarray as xr
from jaxtyping import Float

from ...report import Evidence, Statement, Verdict
from .config import Config
from .connectivity import probability_connected
from .figure_one import GENERALISES
from .half_way import half_way, half_way_by_scale, taught_share


JUDGED = 40_000
"""Graphs with seeds from here on were first drawn when rule and σ were settled."""


def _comes_down(e: Evidence) -> Verdict:
    """Never below connectivity; at the smallest σ not above it by two errors.

    No error at all means that too few graphs lie between the two to say anything (added
    after sixteen graphs of the quick profile had "held" with a gap of 0.00 ± 0.00).
    """
    above, error = e["above"], e["above_errors"]
    below = any(a < -2 * s for a, s in zip(above, error, strict=True))
    if e["disconnected_generalise"] > 0 or below:
        return "refuted"
    if not 0.0 < error[-1] < np.inf:
        return "open"
    falls = above[-1] + 2 * error[-1] < above[0]
    share = e["single_share"]
    if falls and above[-1] <= 2 * error[-1] and share[-1] > share[0]:
        return "holds"
    return "differs"


def _percent(value: float, error: float) -> str:
    if not np.isfinite(value):
        return "not reached"
    spread = f"{100 * error:.1f}" if np.isfinite(error) else "?"
    return f"{100 * value:.1f} ± {spread} %"


def _measured(e: Evidence) -> str:
    thresholds = ", ".join(
        f"{_percent(value, error)} at σ = {x:g}"
        for x, value, error in zip(
            e["scales"], e["thresholds"], e["threshold_errors"], strict=True
        )
    )
    single = zip(e["single_scales"], e["single_median"], strict=True)
    return (
        f"half of {e['graphs']} graphs generalise from {thresholds} of the pairs on; half are connected from "
        f"{_percent(e['connected'], e['connected_error'])} on, {100 * e['above'][-1]:.2f} ± {100 * e['above_errors'][-1]:.2f} points below the last "
        f"({100 * e['all_above']:.2f} ± {100 * e['all_above_error']:.2f} on all {e['all_graphs']} graphs); "
        f"there {e['connected_generalise'][-1]:.0%} of the connected ones generalise, and {e['last_unfinished']} of the {e['last_failing']} others did not reach the training loss; "
        f"disconnected: {e['disconnected_generalise']} of {e['disconnected']} runs; "
        f"D = {e['single_words']} at 28 % of the pairs, {e['single_connected']} connected graphs: median test loss "
        + ", ".join(f"{m:.2g} at σ = {x:g}" for x, m in single)
    )


_EXAMPLE = {
    "graphs": 90,
    "runs": 180,
    "unfinished": 1,
    "scales": [0.3, 0.003],
    "thresholds": [0.35, 0.231],
    "threshold_errors": [0.02, 0.006],
    "connected": 0.229,
    "connected_error": 0.006,
    "connected_exactly": 0.225,
    "above": [0.121, 0.002],
    "above_errors": [0.02, 0.002],
    "all_graphs": 150,
    "all_above": 0.003,
    "all_above_error": 0.002,
    "connected_generalise": [0.1, 0.97],
    "last_failing": 2,
    "last_unfinished": 1,
    "disconnected_generalise": 0,
    "disconnected": 60,
    "single_words": 8,
    "single_connected": 9,
    "single_scales": [0.3, 0.03],
    "single_median": [0.8, 1e-4],
    "single_share": [0.0, 0.6],
}

STATEMENTS = (
    Statement(
        id="003.12",
        statement="With H > D a smaller σ moves the threshold down to connectivity and never below it.",
        published="not in the document",
        rule=_comes_down,
        measured=_measured,
        example=_EXAMPLE,
        contrary=_EXAMPLE | {"thresholds": [0.35, 0.28], "above": [0.121, 0.051]},
    ),
)


def _generalise(part: xr.Dataset) -> xr.DataArray:
    return (part.test_loss < GENERALISES) & (part.ending == 0)


def fitted_chance(share: Float[np.ndarray, " graphs"], languages: int) -> float:
    """Connectivity's threshold from exact chances, by the fit that graphs get too."""
    pairs = np.rint(share * languages**2).astype(int)
    chance = np.array([probability_connected(languages, int(n)) for n in pairs])
    hit = np.repeat([True, False], share.size)
    weights = np.concatenate([chance, 1.0 - chance])[None]
    return float(half_way(np.tile(share, 2), hit, weights)[0])


def judged(wide: xr.Dataset) -> xr.Dataset:
    """The graphs that no choice was made on; all of them in a profile without such."""
    later = np.flatnonzero(wide.seed.values >= JUDGED)
    return wide.isel(cell=later) if later.size else wide


def evidence(config: Config, data: Mapping[str, xr.Dataset]) -> dict[str, Any]:
    """Thresholds of H > D over σ, and one fraction with more words."""
    everything, single = data["wide"], data["single"]
    wide = judged(everything)
    found = half_way_by_scale(wide, config.wide_scales)
    pooled = half_way_by_scale(everything, config.wide_scales)
    share = lambda part, scale: float(
        _generalise(part)[(part.scale == scale) & (part.connected == 1)].mean()
    )
    apart = wide.where((wide.connected == 0) & (wide.ending == 0), drop=True)
    last = (wide.scale == min(config.wide_scales)) & (wide.connected == 1)
    failing = wide.isel(cell=np.flatnonzero(last & ~_generalise(wide)))
    joined = single.where(single.connected == 1, drop=True)
    medians = joined.test_loss.groupby(joined.scale).median()
    return {
        "003.12": {
            "graphs": int(np.unique(wide.seed).size),
            "runs": int(wide.sizes["cell"]),
            "unfinished": int((wide.ending != 0).sum()),
            "scales": list(config.wide_scales),
            "thresholds": found.thresholds,
            "threshold_errors": found.errors,
            "connected": found.connected,
            "connected_error": found.connected_error,
            "connected_exactly": fitted_chance(taught_share(wide), config.languages),
            "above": found.above,
            "above_errors": found.above_errors,
            "all_graphs": int(np.unique(everything.seed).size),
            "all_above": pooled.above[-1],
            "all_above_error": pooled.above_errors[-1],
            "connected_generalise": [share(wide, s) for s in config.wide_scales],
            "last_failing": int(failing.sizes["cell"]),
            "last_unfinished": int((failing.ending != 0).sum()),
            "disconnected": int(apart.sizes["cell"]),
            "disconnected_generalise": int((apart.across < 0.05).sum()),
            "single_words": config.single_words,
            "single_connected": int(np.unique(joined.seed).size),
            "single_scales": list(config.single_scales),
            "single_median": [
                float(medians.sel(scale=s)) for s in config.single_scales
            ],
            "single_share": [share(single, s) for s in config.single_scales],
        }
    }
