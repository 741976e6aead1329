"""The rules that turn evidence on modular addition into verdicts."""

import statistics

from ...report import Evidence, Verdict


def shared(e: Evidence) -> Verdict:
    """Shared if the key sets of the nodes overlap; six, as published, or another number."""
    if e["jaccard"] < 0.7:
        return "refuted"
    return "holds" if statistics.median(e["counts"]) == 6 else "differs"


def ranks(e: Evidence) -> Verdict:
    """Low if every rank is at most half of the full one; equal to the published, or not."""
    median = {name: statistics.median(r) for name, r in e["ranks"].items()}
    if any(median[name] > full / 2 for name, full in e["full"].items()):
        return "refuted"
    published = {"W_E": 12, "W_fc": 12, "W_ih": 12, "W_hh": 32}
    return "holds" if median == published else "differs"


def pairs(e: Evidence) -> Verdict:
    """Nine pairs of ten, or half of them."""
    if e["paired"] >= 0.9:
        return "holds"
    return "differs" if e["paired"] >= 0.5 else "refuted"


def fit(e: Evidence) -> Verdict:
    """By the relative error of the read-out waves; their squares decide what still differs."""
    error = statistics.median(e["by_frequency"])
    if error <= 1e-2:
        return "holds"
    return "differs" if error**2 <= 0.1 else "refuted"


def robust(e: Evidence) -> Verdict:
    """One removed is mostly harmless and several are not; or at least less harmless."""
    if e["intact"] >= 0.5 and e["several"] <= 0.5:
        return "holds"
    return "differs" if e["single"] > e["several"] else "refuted"


def law(e: Evidence) -> Verdict:
    """Rank against twice the count, off by one at most in the median: for all three, or some.

    Made stricter after numbers had been seen: the first rule pooled the three matrices
    and said "holds" where this one, matrix by matrix, says "differs".
    """
    kept = [
        statistics.median(
            abs(r - 2 * f) for r, f in zip(e["ranks"][name], e["counts"], strict=True)
        )
        <= 1
        for name in ("W_E", "W_ih", "W_fc")
    ]
    if all(kept):
        return "holds"
    return "differs" if any(kept) else "refuted"


def causal(e: Evidence) -> Verdict:
    """Later states move, and with all key frequencies cut the answers are gone."""
    moved = min(e["change"].values()) > 0.01
    return "holds" if moved and max(e["all_removed"].values()) < 0.5 else "refuted"


def null(e: Evidence) -> Verdict:
    """The controls are quiet, and key frequencies matter more than as many others."""
    quiet = e["false_keys"] <= 0.05 and e["random_fit"] >= 0.9
    if not quiet:
        return "refuted"
    return "holds" if e["random_removed"] - e["key_removed"] >= 0.3 else "differs"


def everywhere(e: Evidence) -> Verdict:
    """Every network that learned has key frequencies with half the energy or more."""
    learned = [c for c in e["networks"].values() if c["held_out"] >= 0.99]
    if not learned:
        return "open"
    sparse = [c["count"] >= 1 and c["share"] >= 0.5 for c in learned]
    if all(sparse) and len(learned) == len(e["networks"]):
        return "holds"
    return "differs" if any(sparse) else "refuted"


def written(e: Evidence) -> Verdict:
    """All answers right, and fewer units than residues from 17 on."""
    right = all(row["right"] == 1.0 for row in e["tried"])
    below = all(
        row["units"] < row["modulus"] for row in e["tried"] if row["modulus"] >= 17
    )
    return "holds" if right and below else "refuted"


def alike(e: Evidence) -> Verdict:
    """By the mean cosine of the principal angles."""
    cosine = min(e["mean_cosine"].values())
    if cosine >= 0.9:
        return "holds"
    return "differs" if cosine >= 0.5 else "refuted"


def missed_alike(e: Evidence) -> Verdict:
    """Curves a tenth apart on average, in every place; or a quarter over all places."""
    if max(e["gap"].values()) <= 0.1:
        return "holds"
    return "differs" if statistics.mean(e["gap"].values()) <= 0.25 else "refuted"


def stable(e: Evidence) -> Verdict:
    """The largest exponent of every network is negative."""
    known = [x for x in e["exponents"] if isinstance(x, float) and x == x]
    if not known:
        return "open"
    return "holds" if max(known) < 0 else "refuted"


def depends(e: Evidence) -> Verdict:
    """Mean counts differ by one frequency or more along some axis."""
    spans = [x for x in e["span"].values() if x is not None]
    if not spans:
        return "open"
    return "holds" if max(spans) >= 1 else "refuted"
