"""The rules that judge document 001, one a statement.

"Beyond the spread" always means the rule of `comparison.beats`.
"""

from ...report import Evidence, Verdict


def law(e: Evidence) -> Verdict:
    """The gap grows with the first power of the coupling, within its proved bound."""
    if e["bound_broken"]:
        return "refuted"
    near = 0.9 <= e["slope"] <= 1.1 and abs(e["first_order_ratio"] - 1) < 0.1
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
    """The best network sits within 0.05 nats of the edge and beats both far ends."""
    if not (e["beats_most_subcritical"] and e["beats_most_supercritical"]):
        return "refuted"
    return "holds" if abs(e["best_exponent"]) <= 0.05 else "differs"


def fastest(e: Evidence) -> Verdict:
    """Of the radii that reach the target for every seed, the first is near the edge."""
    reached = [
        (steps, exponent)
        for steps, exponent in zip(e["steps"], e["exponents"], strict=True)
        if steps is not None
    ]
    if not reached:
        return "open"
    first = min(steps for steps, _ in reached)
    near = [abs(exponent) <= 0.05 for steps, exponent in reached if steps == first]
    return "holds" if all(near) else "differs" if any(near) else "refuted"


def gradient(e: Evidence) -> Verdict:
    """The slope of the log norm against T log r is 1 at a weak coupling."""
    return "holds" if abs(e["slope_weak"] - 1) < 0.1 else "refuted"


def peak(e: Evidence) -> Verdict:
    """The best angle and the row's beat angle 0; the row's is among the best."""
    if not e["best_beats_angle_zero"] or not e["row_beats_angle_zero"]:
        return "refuted"
    return "differs" if e["best_beats_row"] else "holds"


def no_peak(e: Evidence) -> Verdict:
    """In order, accuracy falls from the row's angle to the largest one; permuted, not."""
    if e["row_beats_far_permuted"]:
        return "refuted"
    return "holds" if e["row_beats_far_sequential"] else "differs"


def first_wins(e: Evidence) -> Verdict:
    """The first beats the second beyond the spread, or is beaten."""
    return (
        "holds" if e["first_beats"] else "refuted" if e["second_beats"] else "differs"
    )


def answered(e: Evidence) -> Verdict:
    """An open question: answered for, answered against, or left open by the spread."""
    return "holds" if e["first_beats"] else "refuted" if e["second_beats"] else "open"


def tasks(e: Evidence) -> Verdict:
    """Well above chance on pixels, and the adding problem solved at every length."""
    above = e["accuracy"] - 2 * e["accuracy_spread"] > 0.5
    solved = max(e["adding_error"]) < 0.1 / 6
    return "holds" if above and solved else "differs" if above else "refuted"


def ends(e: Evidence) -> Verdict:
    """Proved: it cannot end before the bound says so (None: it did not end at all)."""
    kept = all(
        m is None or m >= 0.95 * p
        for m, p in zip(e["measured"], e["proved"], strict=True)
    )
    return "holds" if kept else "refuted"
