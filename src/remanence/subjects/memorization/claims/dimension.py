"""Our answers to the notes' open question: how small can the state be?"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from ....report import Claim, Evidence, Verdict
from ..atlas import counting_bound, largest_dimensions
from ..experiments import drawn_sets


COUNTS = {
    6: {"2": 3, "3": 2},
    7: {"2": 7, "4": 2},
    8: {"2": 7, "3": 4, "4": 5},
    9: {"2": 10, "4": 18},
}
"""Counts of necklaces by dimension that an independent program found."""


def atlas(results: Mapping[str, Any]) -> Evidence:
    """All necklaces by the dimension that they need, beside independent counts."""
    table, counts = results["atlas"], {}
    binary = table["real"].sel(symbols=2)
    largest = largest_dimensions(binary)
    periods = [p for p in COUNTS if p in largest]
    for p in periods:
        row = binary.sel(period=p)
        counts[str(p)] = {str(d): c for d, c in enumerate(row.values.tolist()) if c}
    return {
        "proved": int(table.proved.sum()),
        "counts": counts,
        "checked": {str(p): COUNTS[p] for p in periods},
        "words": int(table["real"].sum()),
        "up_to": max(largest),
        "largest": max(largest.values()),
    }


def all_proved(e: Evidence) -> Verdict:
    """Refuted if the counts of periods 6 to 9 are not those of an independent program; holds if
    every dimension is proved optimal, open if one is not."""
    if not e["checked"] or e["counts"] != e["checked"]:
        return "refuted"
    return "holds" if e["proved"] == e["words"] > 0 else "open"


def growth(results: Mapping[str, Any]) -> Evidence:
    """The largest d of each period beside what counting proves, and a line through it."""
    largest = largest_dimensions(results["atlas"]["real"].sel(symbols=2))
    (slope, _), covariance = np.polyfit(list(largest), list(largest.values()), 1, cov=True)
    return {
        "up_to": max(largest),
        "largest": list(largest.values()),
        "proved": [counting_bound(p) for p in largest],
        "slope": float(slope),
        "error": float(covariance[0, 0] ** 0.5),
    }


def grows(e: Evidence) -> Verdict:
    """Proved by counting: at least 0.174 p from some period on. Refuted if a largest d lies
    below the bound of its own period; holds if the fitted slope is above 0.174 by two errors;
    else open."""
    if any(d < bound for d, bound in zip(e["largest"], e["proved"], strict=True)):
        return "refuted"
    return "holds" if e["slope"] - 2 * e["error"] > 0.174 else "open"


def theorem(e: Evidence) -> Verdict:
    """Proved (docs/science/memorization.md): the mean of a memory over the shifts of its
    period is a memory made of harmonics. Drawn sets of harmonics check it: refuted if one
    cheaper than the optimum spells its word; open unless sets at the optimum are found to
    spell theirs."""
    if e["cheaper_spell"]:
        return "refuted"
    return "holds" if e["optimal_spell"] > 0 else "open"


DIMENSION = (
    Claim(
        id="000.13",
        says="Ours: the smallest linear memory without feedback is the cheapest set of harmonics, "
        "every cheaper one refuted by proof.",
        published="open question",
        finding="{proved:,} of {words:,} necklaces proved; binary up to period {up_to}: at most {largest} units",
        evidence=atlas,
        rule=all_proved,
        figure="atlas",
    ),
    Claim(
        id="000.14",
        says="Ours: with W_x = 0 no real W_h, of any order or none, beats that optimum for a "
        "periodic string (theorem).",
        published="open question",
        finding="proved; {cheaper_spell} of {cheaper} cheaper sets spell, {optimal_spell} of "
        "{optimal} at the optimum",
        evidence=lambda r: drawn_sets(r["config"].attempts, r["seed"] + 3),
        rule=theorem,
    ),
    Claim(
        id="000.20",
        says="Ours: the dimension that the hardest binary word of period p needs grows linearly.",
        published="open question",
        finding="{slope:.2f} ± {error:.2f} units a symbol up to period {up_to}; 0.174 proved",
        evidence=growth,
        rule=grows,
        figure="atlas",
    ),
)
