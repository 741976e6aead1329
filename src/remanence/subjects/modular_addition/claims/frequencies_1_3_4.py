"""Claims 002.1, 002.3 and 002.4: few shared frequencies, in pairs, that fit the last layer."""

import statistics
from collections.abc import Mapping
from typing import Any

from ....report import claim, Evidence, Verdict
from ..dissection import NODES
from ..recipes import overlap


def sharing(results: Mapping[str, Any]) -> Evidence:
    """Key frequencies of every tensor, and how far they are those of the unembedding."""
    found = results["dissections"]
    others = [n for n in NODES if n != "W_fc"]  # it is compared with, not judged
    mean = lambda of: statistics.fmean(of(d) for d in found)
    common = {n: mean(lambda d, n=n: overlap(d.nodes[n].frequencies, d.key)) for n in others}
    return {
        "counts": [len(d.key) for d in found],
        "frequencies": [list(d.key) for d in found],
        "by_node": [{n: list(d.nodes[n].frequencies) for n in NODES} for d in found],
        "overlap": common,
        "least_overlap": min(common.values()),
        "energy": {
            n: mean(lambda d, n=n: sum(d.nodes[n].shares[k - 1] for k in d.key)) for n in NODES
        },
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


def pairing(results: Mapping[str, Any]) -> Evidence:
    """Do consecutive singular vectors of the unembedding share their frequency?"""
    found = results["cut dissections"]
    same = [bool(x == y) for d in found for x, y in d.vectors[1].reshape(-1, 2)]
    return {
        "paired": statistics.fmean(same),
        "pairs": len(same),
        "purity": statistics.fmean(share for d in found for share in d.vectors[2].tolist()),
        "frequencies": [d.vectors[1].tolist() for d in found],
    }


def in_pairs(e: Evidence) -> Verdict:
    """Of at least ten pairs: holds if nine of ten have one frequency, differs if half of
    them, else refuted; open with fewer pairs."""
    if e["pairs"] < 10:
        return "open"
    if e["paired"] >= 0.9:
        return "holds"
    return "differs" if e["paired"] >= 0.5 else "refuted"


def fitting(results: Mapping[str, Any]) -> Evidence:
    """Relative errors of the fits by waves of the answer."""
    found = results["cut dissections"]
    errors = [e for d in found for e in d.fits_by_frequency.values()]
    return {
        "by_frequency": errors,
        "median": float(statistics.median(errors)),
        "squared": float(statistics.median(errors)) ** 2,
        "logits": [d.fits["logits"] for d in found],
        "h3": [d.fits["h3"] for d in found],
        "h3_averaged": [d.fits["h3 averaged"] for d in found],
    }


def fits(e: Evidence) -> Verdict:
    """By the median relative error of the read-out waves: holds up to 1e-2, the published
    range; differs up to 0.1, whose square is 1e-2 (the published errors may be squares);
    else refuted."""
    if e["median"] <= 1e-2:
        return "holds"
    return "differs" if e["median"] <= 0.1 else "refuted"


FREQUENCIES = (
    claim("002.1", sharing, shared, figure="spectra")(
        "All tensors (W_E, h_1, h_2, h_3, W_fc) share the same few frequencies.",
        published="6 of 56: 6, 15, 20, 29, 47, 54",
        finding=lambda e: (
            f"{', '.join(map(str, e['counts']))} of {e['possible']}; "
            f"least overlap {e['least_overlap']:.2f}"
        ),
    ),
    claim("002.3", pairing, in_pairs, figure="singular-vectors")(
        "Consecutive pairs of singular vectors of W_fc belong to one frequency each.",
        published="all six pairs",
        finding="{paired:.0%} of {pairs} pairs; a vector's own frequency holds {purity:.0%}",
    ),
    claim("002.4", fitting, fits)(
        "The last layer is Fourier multiplication: waves of ω_k(a+b) fit it.",
        published="relative errors 1e-3 to 1e-2",
        finding="median relative error {median:.2g} (squared {squared:.1g})",
    ),
)
