"""Our answers to the notes' open question: how small, how precise, how stable, how learned."""

import collections
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from ....report import Claim, Evidence, Verdict
from ..atlas import counting_bound, largest_dimensions
from ..experiments import drawn_sets, strings
from ..learned import NEAR, needed
from ..words import word


# Counts of necklaces by dimension that an independent program found.
COUNTS = {6: {"2": 3, "3": 2}, 7: {"2": 7, "4": 2}}
COUNTS |= {8: {"2": 7, "3": 4, "4": 5}, 9: {"2": 10, "4": 18}}


def atlas(results: Mapping[str, Any]) -> Evidence:
    """All necklaces by the dimension that they need, beside independent counts."""
    table = results["atlas"]
    binary = table["real"].sel(symbols=2)
    largest = largest_dimensions(binary)
    periods = [p for p in COUNTS if p in largest]
    rows = {str(p): enumerate(binary.sel(period=p).values.tolist()) for p in periods}
    return {
        "proved": int(table.proved.sum()),
        "counts": {p: {str(d): c for d, c in row if c} for p, row in rows.items()},
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


def one_unit(results: Mapping[str, Any]) -> Evidence:
    """The shift map: strings recalled, bits of state and exponent."""
    point = results["frontier"]["shift"]
    w = word(results["config"].word)
    n = len(w.used)
    return {
        **strings(results["config"].drawn, "shift", results["seed"] + 4),
        "bits": point.bits,
        "bits_expected": w.period * math.log2(n),
        "bits_slack": math.ceil(2 * math.log2(n)),
        "exponent": point.exponent,
        "log_n": math.log(n),
    }


def one_unit_serves(e: Evidence) -> Verdict:
    """Holds if every string is recalled, the state takes p·log2 n bits (within 2 log2 n)
    and the exponent is log n; else refuted."""
    right = e["recalled"] == e["tried"] > 0
    right = right and abs(e["bits"] - e["bits_expected"]) <= e["bits_slack"]
    return "holds" if right and abs(e["exponent"] - e["log_n"]) < 1e-6 else "refuted"


def stability_costs(e: Evidence) -> Verdict:
    """Holds if one unit expands, rotations do not, and d = p contracts; else refuted."""
    return "holds" if e["one_unit"] > 0 >= e["harmonic"] > e["contracting"] else "refuted"


def sizes(results: Mapping[str, Any]) -> Evidence:
    """The fewest units with which gradient descent learned and kept each word."""
    kept = results["learned"].kept.sel(kind="linear").any("seed")
    by = lambda w: [int(u) for u in kept.units if kept.sel(word=w, units=u)]
    words = {w: min(by(w), default=None) for w in results["config"].learned_words}
    more = [k - needed(w) for w, k in words.items() if k is not None]
    margin = min(more, default=None)
    return {"kept_by": words, "kept": len(more), "words": len(words), "margin": margin}


def at_least_the_optimum(e: Evidence) -> Verdict:
    """Refuted if a linear network keeps a string with fewer than d* units; open if none
    was kept; else holds."""
    if e["margin"] is None:
        return "open"
    return "holds" if e["margin"] >= 0 else "refuted"


def roots(results: Mapping[str, Any]) -> Evidence:
    """How near the eigenvalues of learned networks lie to roots of unity."""
    found = results["modes"]
    radii = [abs(z) for m in found for z in m.eigenvalues]
    return {
        "networks": len(found),
        "near": sum(m.distance <= NEAR for m in found if m.eigenvalues),
        "angles_near": sum(m.nearest != "none" for m in found),
        "median_radius": float(np.median(radii)) if radii else math.nan,
        "nearest": dict(sorted(collections.Counter(m.nearest for m in found).items())),
    }


def at_roots(e: Evidence) -> Verdict:
    """Holds if nine of ten networks have all eigenvalues within 0.05 of roots of unity,
    differs if half of them do in angle; else refuted."""
    if e["near"] >= 0.9 * e["networks"] > 0:
        return "holds"
    return "differs" if e["angles_near"] >= 0.5 * e["networks"] > 0 else "refuted"


def below_log_n(e: Evidence) -> Verdict:
    """Holds if every least |a| is exact, those of period 7 are at most 1.47, and some word
    is said by a contracting unit; else refuted."""
    right = e["exact"] and e["largest_of_period_7"] <= 1.47 and e["contracting"] > 0
    return "holds" if right else "refuted"


ANSWERS = (
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
        id="000.15",
        says="Ours: with feedback one unit spells every string, at exponent log n and "
        "p·log2 n bits of state.",
        published="open question",
        finding="{recalled} of {tried}; {bits} bits (p·log2 n = {bits_expected:.1f}), "
        "exponent {exponent:.4f}",
        evidence=one_unit,
        rule=one_unit_serves,
        figure="frontier",
    ),
    Claim(
        id="000.16",
        says="Ours: dimension trades against stability: one unit is chaotic, rotations are "
        "marginal, d = p can contract.",
        published="open question",
        finding="exponents {one_unit:.2f} (d = 1), {harmonic:.2f} (d = {harmonic_units}), "
        "{contracting:.2f} (d = {period})",
        evidence=lambda r: {
            "one_unit": r["frontier"]["shift"].exponent,
            "harmonic": r["frontier"]["harmonic"].exponent,
            "harmonic_units": r["frontier"]["harmonic"].dimension,
            "contracting": r["frontier"]["tanh"].exponent,
            "period": r["frontier"]["tanh"].dimension,
        },
        rule=stability_costs,
        figure="frontier",
    ),
    Claim(
        id="000.17",
        says="Ours: gradient descent on a linear network needs at least d* units to keep a string.",
        published="not asked",
        finding="{kept} of {words} words kept, by d* + {margin} units at least",
        evidence=sizes,
        rule=at_least_the_optimum,
        figure="learned",
    ),
    Claim(
        id="000.18",
        says="Ours: what a linear network learns lies at the p-th roots of unity.",
        published="not asked",
        finding="{near} of {networks} networks near roots, {angles_near} in angle only",
        evidence=roots,
        rule=at_roots,
        figure="eigenvalues",
    ),
    Claim(
        id="000.19",
        says="Ours: per word one unit does with less than log n. Every binary word of period "
        "7 is said with |a| ≤ 1.47, and some words by a contracting unit.",
        published="open question",
        finding="at most {largest_of_period_7:.5f} at period 7; {contracting} of {words} contract",
        evidence=lambda r: {
            "exact": bool(r["least factors"].exact.all()),
            "words": r["least factors"].least.size,
            "largest_of_period_7": float(r["least factors"].groupby("period")[7].least.max()),
            "contracting": int((r["least factors"].least < 1).sum()),
        },
        rule=below_log_n,
        figure="stability",
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
