"""Claims 002.1 to 002.4 and 002.6: few shared frequencies in pairs, and the ranks they need."""

import statistics
from typing import Any

from ....report import Claim, Evidence, Results, Verdict
from ..dissection import NODES
from ..recipes import overlap


def sharing(results: Results) -> Evidence:
    """Key frequencies of every tensor, and how far they are those of the unembedding."""
    found = results["dissections"]
    common = lambda n: statistics.fmean(overlap(d.nodes[n].frequencies, d.key) for d in found)
    return {
        "counts": [len(d.key) for d in found],
        "frequencies": [list(d.key) for d in found],
        "least_overlap": min(common(n) for n in NODES),  # W_fc's own is 1
        "possible": found[0].task.period // 2,
        "accuracy": [d.accuracy for d in found],
    }


def shared(e: Evidence) -> Verdict:
    """The key frequencies of W_E, h_1, h_2 and h_3, each compared with those of W_fc:
    refuted if one overlaps by less than 0.7 on average over seeds; holds if all do and
    the median count is six, as published; else differs."""
    if not e["counts"] or min(e["counts"]) == 0 or e["least_overlap"] < 0.7:
        return "refuted"
    return "holds" if statistics.median(e["counts"]) == 6 else "differs"


def pairing(results: Results) -> Evidence:
    """Do consecutive singular vectors of the unembedding share their frequency?"""
    found = results["cut dissections"]
    same = [bool(x == y) for d in found for x, y in d.vectors.frequency.values.reshape(-1, 2)]
    return {
        "paired": statistics.fmean(same),
        "pairs": len(same),
        "purity": statistics.fmean(s for d in found for s in d.vectors.share.values.tolist()),
    }


def in_pairs(e: Evidence) -> Verdict:
    """Of at least ten pairs: holds if nine of ten have one frequency, differs if half of
    them, else refuted; open with fewer pairs."""
    if e["pairs"] < 10:
        return "open"
    if e["paired"] >= 0.9:
        return "holds"
    return "differs" if e["paired"] >= 0.5 else "refuted"


def fitting(results: Results) -> Evidence:
    """Relative errors of the fits by waves of the answer."""
    errors = [e for d in results["cut dissections"] for e in d.fits.values()]
    median = float(statistics.median(errors))
    return {"median": median, "squared": median**2}


def fits(e: Evidence) -> Verdict:
    """By the median relative error of the read-out waves: holds up to 1e-2, the published
    range; differs up to 0.1, whose square is 1e-2 (the published errors may be squares);
    else refuted."""
    return "holds" if e["median"] <= 1e-2 else "differs" if e["median"] <= 0.1 else "refuted"


TWICE = ("W_E", "W_ih", "W_fc")
PUBLISHED_RANKS = {"W_E": 12, "W_fc": 12, "W_ih": 12, "W_hh": 32}


def ranks(results: Results) -> Evidence:
    """Smallest ranks that keep the network's own accuracy, by matrix and seed."""
    found = results["cut dissections"]
    full = {n: len(low.singular_values) for n, low in found[0].ranks.items()}
    return {
        "ranks": {n: [d.ranks[n].rank or most for d in found] for n, most in full.items()},
        "energy": {n: statistics.fmean(d.ranks[n].energy or 1.0 for d in found) for n in full},
        "full": full,
        "counts": [len(d.key) for d in found],
    }


def low(e: Evidence) -> Verdict:
    """Refuted if the median rank of a matrix is above half of the full one; holds if all
    four are the published ones; else differs."""
    median = {name: statistics.median(r) for name, r in e["ranks"].items()}
    high = any(median[name] > full / 2 for name, full in e["full"].items())
    return "refuted" if high else "holds" if median == PUBLISHED_RANKS else "differs"


def twice_the_count(e: Evidence) -> Verdict:
    """For each of W_E, W_ih and W_fc: is the rank within one of twice the count, in the
    median over seeds? Holds if for all three, differs if for some, refuted if for none."""
    far = lambda name: statistics.median(
        abs(r - 2 * f) for r, f in zip(e["ranks"][name], e["counts"], strict=True)
    )
    kept = [far(name) <= 1 for name in TWICE]
    return "holds" if all(kept) else "differs" if any(kept) else "refuted"


def comma_separated(values: Any) -> str:
    """Numbers in a row."""
    return ", ".join(f"{v:.3g}" for v in values)


WEIGHTS = (
    Claim(
        id="002.1",
        says="All tensors (W_E, h_1, h_2, h_3, W_fc) share the same few frequencies.",
        published="6 of 56: 6, 15, 20, 29, 47, 54",
        finding=lambda e: (
            f"{', '.join(map(str, e['counts']))} of {e['possible']}; "
            f"least overlap {e['least_overlap']:.2f}"
        ),
        evidence=sharing,
        rule=shared,
        figure="spectra",
    ),
    Claim(
        id="002.3",
        says="Consecutive pairs of singular vectors of W_fc belong to one frequency each.",
        published="all six pairs",
        finding="{paired:.0%} of {pairs} pairs; a vector's own frequency holds {purity:.0%}",
        evidence=pairing,
        rule=in_pairs,
        figure="singular-vectors",
    ),
    Claim(
        id="002.4",
        says="The last layer is Fourier multiplication: waves of ω_k(a+b) fit it.",
        published="relative errors 1e-3 to 1e-2",
        finding="median relative error {median:.2g} (squared {squared:.1g})",
        evidence=fitting,
        rule=fits,
    ),
    Claim(
        id="002.2",
        says="A low rank keeps 100 % accuracy: 12 for W_E, W_fc and W_ih, 32 for W_hh.",
        published="12, 12, 12, 32 (energy 85.4, 95.5, 91.4, 89.4 %)",
        finding=lambda e: "; ".join(
            f"{name} {comma_separated(e['ranks'][name])}" for name in PUBLISHED_RANKS
        ),
        evidence=ranks,
        rule=low,
        figure="singular-values",
    ),
    Claim(
        id="002.6",
        says="The rank that W_E, W_ih and W_fc need is twice the number of key frequencies.",
        published="12 = 2 × 6 (noted, not claimed)",
        finding=lambda e: (
            f"twice the count {comma_separated(2 * c for c in e['counts'])}; "
            + ", ".join(f"{n} {comma_separated(e['ranks'][n])}" for n in TWICE)
        ),
        evidence=ranks,
        rule=twice_the_count,
        figure="singular-values",
    ),
)
