"""Claims 002.2 and 002.6: the rank that keeps the network's own accuracy."""

import statistics
from collections.abc import Mapping
from typing import Any

from ....report import claim, Evidence, Verdict


PUBLISHED_RANKS = {"W_E": 12, "W_fc": 12, "W_ih": 12, "W_hh": 32}


def ranks(results: Mapping[str, Any]) -> Evidence:
    """Smallest ranks that keep the network's own accuracy, by matrix and seed."""
    found = results["cut dissections"]
    names = tuple(found[0].ranks)
    least = lambda r: len(r.singular_values) if r.rank is None else r.rank
    return {
        "ranks": {n: [least(d.ranks[n]) for d in found] for n in names},
        "settled": {n: [d.ranks[n].settled for d in found] for n in names},
        "energy": {n: statistics.fmean(d.ranks[n].energy or 1.0 for d in found) for n in names},
        "full": {n: len(found[0].ranks[n].singular_values) for n in names},
        "accuracy": [d.accuracy for d in found],
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
    far = lambda name: statistics.median(
        abs(r - 2 * f) for r, f in zip(e["ranks"][name], e["counts"], strict=True)
    )
    kept = [far(name) <= 1 for name in ("W_E", "W_ih", "W_fc")]
    return "holds" if all(kept) else "differs" if any(kept) else "refuted"


def comma_separated(values: Any) -> str:
    """Numbers in a row."""
    return ", ".join(f"{v:.3g}" for v in values)


RANKS = (
    claim("002.2", ranks, low, figure="singular-values")(
        "A low rank keeps 100 % accuracy: 12 for W_E, W_fc and W_ih, 32 for W_hh.",
        published="12, 12, 12, 32 (energy 85.4, 95.5, 91.4, 89.4 %)",
        finding=lambda e: "; ".join(
            f"{name} {comma_separated(e['ranks'][name])}" for name in PUBLISHED_RANKS
        ),
    ),
    claim("002.6", ranks, twice_the_count, figure="singular-values")(
        "The rank that W_E, W_ih and W_fc need is twice the number of key frequencies.",
        published="12 = 2 × 6 (noted, not claimed)",
        finding=lambda e: (
            f"twice the count {comma_separated(2 * c for c in e['counts'])}; "
            + ", ".join(f"{n} {comma_separated(e['ranks'][n])}" for n in ("W_E", "W_ih", "W_fc"))
        ),
    ),
)
