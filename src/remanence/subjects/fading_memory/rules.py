"""The rules that judge document 001, one a statement.

"Beyond the spread" always means the rule of `comparison.beats`.
"""

from ...report import Evidence, Verdict


def law(e: Evidence) -> Verdict:
    """Every network's gap grows with the first power of the coupling, within its bound."""
    if e["bound_broken"]:
        return "refuted"
    near = 0.9 <= e["slope_least"] <= e["slope_most"] <= 1.1
    near = near and abs(e["first_order_ratio"] - 1) < 0.1
    return "holds" if near else "differs"


def defective(e: Evidence) -> Verdict:
    """The claim is first order for every R; a law of the N-th root contradicts it."""
    roots = all(
        abs(slope * units - 1) < 0.15
        for slope, units in zip(e["slopes"], e["units"], strict=True)
    )
    linear = all(abs(slope - 1) < 0.15 for slope in e["slopes"])
    return "holds" if linear else "refuted" if roots else "differs"


def multiplicity(e: Evidence) -> Verdict:
    """As many exponents as units, equal without a coupling."""
    exact = e["gap_without_coupling"] < 1e-9 and e["count"] == e["units"]
    return "holds" if exact else "refuted"


def edge(e: Evidence) -> Verdict:
    """The best network sits within 0.05 nats of the edge and beats all that do not."""
    if not (e["beats_most_subcritical"] and e["beats_most_supercritical"]):
        return "refuted"
    if abs(e["best_exponent"]) > 0.05:
        return "differs"
    return "open" if e["unbeaten_far"] else "holds"


def fastest(e: Evidence) -> Verdict:
    """The fastest near the edge is faster, beyond the spread, than the fastest far from it."""
    return "holds" if e["near_faster"] else "refuted" if e["far_faster"] else "open"


def gradient(e: Evidence) -> Verdict:
    """The slope of the log norm against T log r is 1 at a weak coupling, for every seed."""
    slopes = e["slope_least"], e["slope_most"]
    return "holds" if all(abs(slope - 1) < 0.1 for slope in slopes) else "refuted"


def peak(e: Evidence) -> Verdict:
    """The best angle and the row's beat angle 0; the row's is among the best."""
    if e["angle_zero_beats_row"]:
        return "refuted"
    if not e["best_beats_angle_zero"] or not e["row_beats_angle_zero"]:
        return "open"
    return "differs" if e["best_beats_row"] else "holds"


def no_peak(e: Evidence) -> Verdict:
    """In order, accuracy falls from the row's angle to the largest one; permuted, not."""
    if e["row_beats_far_permuted"]:
        return "refuted"
    return "holds" if e["row_beats_far_sequential"] else "open"


def first_wins(e: Evidence) -> Verdict:
    """The first beats the second beyond the spread, or is beaten."""
    return (
        "holds" if e["first_beats"] else "refuted" if e["second_beats"] else "differs"
    )


def answered(e: Evidence) -> Verdict:
    """An open question: answered for, answered against, or left open by the spread."""
    return "holds" if e["first_beats"] else "refuted" if e["second_beats"] else "open"


def tasks(e: Evidence) -> Verdict:
    """Well above chance on pixels, and the adding problem solved at every length and seed."""
    above = e["accuracy"] - 2 * e["accuracy_spread"] > 0.5
    solved = max(e["adding_worst"]) < 0.1 / 6
    return "holds" if above and solved else "differs" if above else "refuted"


def ends(e: Evidence) -> Verdict:
    """Proved: no network's ends before its bound says so (None: it did not end at all)."""
    # A twentieth for the interpolation between two couplings of the grid.
    return "holds" if e["least_ratio"] >= 0.95 else "refuted"
