"""Our answers to the notes' open question: how precise, how stable, how learned."""

import collections
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from ....report import Claim, Evidence, Verdict
from ..experiments import strings
from ..learned import NEAR, needed
from ..words import word


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


def trade(results: Mapping[str, Any]) -> Evidence:
    """Exponents of three constructions of one word."""
    points = results["frontier"]
    return {
        "one_unit": points["shift"].exponent,
        "harmonic": points["harmonic"].exponent,
        "harmonic_units": points["harmonic"].dimension,
        "contracting": points["tanh"].exponent,
        "period": points["tanh"].dimension,
    }


def stability_costs(e: Evidence) -> Verdict:
    """Holds if one unit expands, rotations do not, and d = p contracts; else refuted."""
    ordered = e["one_unit"] > 0 >= e["harmonic"] > e["contracting"]
    return "holds" if ordered else "refuted"


def sizes(results: Mapping[str, Any]) -> Evidence:
    """The fewest units with which gradient descent learned and kept each word."""
    kept, words = results["learned"].kept.sel(kind="linear").any("seed"), {}
    for w in results["config"].learned_words:
        row = kept.sel(word=w)
        words[w] = min((int(u) for u in row.units if row.sel(units=u)), default=None)
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
    nearest = collections.Counter(m.nearest for m in found)
    return {
        "networks": len(found),
        "near": sum(m.distance <= NEAR for m in found if m.eigenvalues),
        "angles_near": sum(m.nearest != "none" for m in found),
        "median_radius": float(np.median(radii)) if radii else math.nan,
        "nearest": dict(sorted(nearest.items())),
    }


def at_roots(e: Evidence) -> Verdict:
    """Holds if nine of ten networks have all eigenvalues within 0.05 of roots of unity,
    differs if half of them do in angle; else refuted."""
    if e["near"] >= 0.9 * e["networks"] > 0:
        return "holds"
    return "differs" if e["angles_near"] >= 0.5 * e["networks"] > 0 else "refuted"


def least_factor(results: Mapping[str, Any]) -> Evidence:
    """The least |a| of one unit over all necklaces."""
    table = results["least factors"]
    least, period = table.least.values, table.period.values
    return {
        "exact": bool(table.exact.all()),
        "words": len(least),
        "largest_of_period_7": float(least[period == 7].max()),
        "contracting": int((least < 1).sum()),
    }


def below_log_n(e: Evidence) -> Verdict:
    """Holds if every least |a| is exact, those of period 7 are at most 1.47, and some word
    is said by a contracting unit; else refuted."""
    small = e["exact"] and e["largest_of_period_7"] <= 1.47
    return "holds" if small and e["contracting"] > 0 else "refuted"


ANSWERS = (
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
        evidence=trade,
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
        evidence=least_factor,
        rule=below_log_n,
        figure="stability",
    ),
)
