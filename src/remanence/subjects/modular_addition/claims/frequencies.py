"""Claims of the paper: few shared frequencies, low ranks, robustness."""

import statistics
from collections.abc import Mapping
from typing import Any

import numpy as np

from ....report import Claim, Evidence, Verdict
from ..ablations import Ablations
from ..dissection import NODES
from ..numbers import listed, mean, overlap


PUBLISHED_RANKS = {"W_E": 12, "W_fc": 12, "W_ih": 12, "W_hh": 32}


def sharing(results: Mapping[str, Any]) -> Evidence:
    """Key frequencies of every tensor, and how far they are those of the unembedding."""
    found = results["dissections"]
    others = [n for n in NODES if n != "W_fc"]  # it is compared with, not judged
    common = {n: mean(overlap(d.nodes[n].frequencies, d.key) for d in found) for n in others}
    energy = {n: mean(sum(d.nodes[n].shares[k - 1] for k in d.key) for d in found) for n in NODES}
    return {
        "counts": [len(d.key) for d in found],
        "frequencies": [list(d.key) for d in found],
        "by_node": [{n: list(d.nodes[n].frequencies) for n in NODES} for d in found],
        "overlap": common,
        "least_overlap": min(common.values()),
        "energy": energy,
        "energy_of_drives": [d.driven for d in found],
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


def ranks(results: Mapping[str, Any]) -> Evidence:
    """Smallest ranks that keep every answer, by matrix and seed."""
    found = results["cut dissections"]
    names = tuple(found[0].ranks)
    least = lambda r: len(r.singular_values) if r.rank is None else r.rank
    return {
        "ranks": {n: [least(d.ranks[n]) for d in found] for n in names},
        "settled": {n: [d.ranks[n].settled for d in found] for n in names},
        "energy": {n: mean(d.ranks[n].energy or 1.0 for d in found) for n in names},
        "full": {n: len(found[0].ranks[n].singular_values) for n in names},
        "held_out": [float(fit.history.held_out[-1]) for fit in results["fits"]],
        "counts": [len(d.key) for d in found],
    }


def low(e: Evidence) -> Verdict:
    """Refuted if the median rank of a matrix is above half of the full one; holds if all
    four are the published ones; else differs."""
    median = {name: statistics.median(r) for name, r in e["ranks"].items()}
    if any(median[name] > full / 2 for name, full in e["full"].items()):
        return "refuted"
    return "holds" if median == PUBLISHED_RANKS else "differs"


def twice_the_count(e: Evidence) -> Verdict:
    """For each of W_E, W_ih and W_fc: is the rank within one of twice the count, in the
    median over seeds? Holds if for all three, differs if for some, refuted if for none."""
    kept = [
        statistics.median(
            abs(r - 2 * f) for r, f in zip(e["ranks"][name], e["counts"], strict=True)
        )
        <= 1
        for name in ("W_E", "W_ih", "W_fc")
    ]
    return "holds" if all(kept) else "differs" if any(kept) else "refuted"


def pairing(results: Mapping[str, Any]) -> Evidence:
    """Do consecutive singular vectors of the unembedding share their frequency?"""
    found, same, purity = results["cut dissections"], [], []
    for d in found:
        _, frequencies, shares = d.vectors
        same += [bool(x == y) for x, y in frequencies.reshape(-1, 2)]
        purity += shares.tolist()
    by_matrix = {
        name: {
            "paired": mean(
                x == y for d in found for x, y in np.reshape(d.directions[name][0], (-1, 2))
            ),
            "purity": mean(s for d in found for s in d.directions[name][1]),
            "frequencies": [d.directions[name][0] for d in found],
        }
        for name in found[0].directions
    }
    return {
        "paired": mean(same),
        "pairs": len(same),
        "purity": mean(purity),
        "frequencies": [d.vectors[1].tolist() for d in found],
        "by_matrix": by_matrix,
    }


def in_pairs(e: Evidence) -> Verdict:
    """Of at least ten pairs: holds if nine of ten have one frequency, differs if half of
    them, else refuted; open with fewer pairs."""
    if e["pairs"] < 10:
        return "open"
    if e["paired"] >= 0.9:
        return "holds"
    return "differs" if e["paired"] >= 0.5 else "refuted"


def robustness(results: Mapping[str, Any]) -> Evidence:
    """Accuracy with one key frequency removed, and with half of them or more."""
    cuts, found, single, several = results["ablations"], results["cut dissections"], [], []
    for cut, d in zip(cuts, found, strict=True):
        single += [cut.single["embedding"][k] for k in d.key]
        half = max(2, (len(d.key) + 1) // 2)
        several += [a for size in cut.growing["embedding"][half:] for a in size]
    each = lambda pick: [pick(cut, d) for cut, d in zip(cuts, found, strict=True)]
    places = cuts[0].growing
    return {
        "single": mean(single),
        "intact": mean(a >= 0.99 for a in single),
        "several": mean(several),
        "one_and_all_removed": {
            place: [mean(mean(cut.growing[place][s]) for cut in cuts) for s in (1, -1)]
            for place in places
        },
        "single_by_place": {
            place: {
                "key": each(lambda cut, d, p=place: [cut.single[p][k] for k in d.key]),
                "worst_other": each(
                    lambda cut, d, p=place: min(
                        (a for k, a in cut.single[p].items() if k not in d.key), default=None
                    )
                ),
            }
            for place in places
        },
        "pairs": _pairs_removed(cuts[0], found[0].key),
    }


def _pairs_removed(cut: Ablations, key: tuple[int, ...]) -> dict[str, Any]:
    """Mean accuracy over all pairs of frequencies by how many of the two are key."""
    if cut.pairs is None:
        return {}
    is_key = np.isin(cut.pairs.frequency.values, key).astype(int)
    several = is_key[:, None] + is_key
    upper = np.triu(np.ones(several.shape, dtype=bool), 1)
    means = {}
    for place in cut.pairs.place.values:
        table = cut.pairs.sel(place=place).values
        chosen = [table[(several == n) & upper] for n in range(3)]
        means[str(place)] = [mean(a) if len(a) else None for a in chosen]
    return means


def robust(e: Evidence) -> Verdict:
    """Holds if half of the single removals keep 99 % and half or more removed leave at
    most 50 %; differs if one removed is at least less harmful than several."""
    if e["intact"] >= 0.5 and e["several"] <= 0.5:
        return "holds"
    return "differs" if e["single"] > e["several"] else "refuted"


FREQUENCIES = (
    Claim(
        id="002.1",
        says="All tensors (W_E, h_1, h_2, h_3, W_fc) share the same few frequencies.",
        published="6 of 56: 6, 15, 20, 29, 47, 54",
        finding=lambda e: (
            f"{listed(e['counts'])} of {e['possible']}; least overlap {e['least_overlap']:.2f}"
        ),
        evidence=sharing,
        rule=shared,
        figure="spectra",
    ),
    Claim(
        id="002.2",
        says="A low rank keeps 100 % accuracy: 12 for W_E, W_fc and W_ih, 32 for W_hh.",
        published="12, 12, 12, 32 (energy 85.4, 95.5, 91.4, 89.4 %)",
        finding=lambda e: "; ".join(
            f"{name} {listed(e['ranks'][name])}" for name in PUBLISHED_RANKS
        ),
        evidence=ranks,
        rule=low,
        figure="singular-values",
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
        id="002.5",
        says="Removing one frequency often leaves accuracy intact; removing several destroys it.",
        published="robust to one, drastic with more",
        finding="{intact:.0%} of single removals keep 99 %; half removed leaves {several:.0%}",
        evidence=robustness,
        rule=robust,
        figure="ablation",
    ),
    Claim(
        id="002.6",
        says="The rank that W_E, W_ih and W_fc need is twice the number of key frequencies.",
        published="12 = 2 × 6 (noted, not claimed)",
        finding=lambda e: (
            f"twice the count {listed(2 * c for c in e['counts'])}; "
            + ", ".join(f"{n} {listed(e['ranks'][n])}" for n in ("W_E", "W_ih", "W_fc"))
        ),
        evidence=ranks,
        rule=twice_the_count,
        figure="singular-values",
    ),
)
