"""Claims about trained networks: the edge of chaos, speed, and the angle of the data."""

import math
from collections.abc import Sequence

import numpy as np
import xarray as xr

from ....report import Claim, Evidence, Results, Verdict
from .kinds import beats, fall, first_crossing, rows_of


NEAR = 0.05
"""Nats a step: a largest exponent so near to 0 is at the edge of chaos."""


def radius_evidence(results: Results) -> Evidence:
    """The best radius on validation images, its exponent, and what it beats on test images."""
    rows = rows_of(results["table"], "radius")
    final, radii = rows.accuracy.isel(mark=-1).values, rows.value.values
    exponent = rows.before.values.mean(1)
    best = int(rows.tuning.isel(mark=-1).values.mean(1).argmax())
    far = [i for i in np.flatnonzero(np.abs(exponent) > NEAR) if i != best]
    return {
        "best_radius": float(radii[best]),
        "best_exponent": float(exponent[best]),
        "best_accuracy": float(final[best].mean()),
        "beats_most_subcritical": beats(final[best], final[0]),
        "beats_most_supercritical": beats(final[best], final[-1]),
        "unbeaten_far": [float(radii[i]) for i in far if not beats(final[best], final[i])],
        "exponents": exponent.tolist(),
    }


def best_at_the_edge(e: Evidence) -> Verdict:
    """Holds if the best network on the validation images has a largest exponent within 0.05
    nats of 0 and beats, beyond the spread over seeds, every network farther from 0;
    open where it does not beat them all; refuted if it does not beat the ends."""
    if not (e["beats_most_subcritical"] and e["beats_most_supercritical"]):
        return "refuted"
    near = abs(e["best_exponent"]) <= NEAR
    return "differs" if not near else "open" if e["unbeaten_far"] else "holds"


def learning_speed(table: xr.Dataset, targets: Sequence[float]) -> xr.Dataset:
    """Steps of each radius to the highest accuracy that some radius reaches for every seed.

    A run that does not get there is NaN and counts as `late`, one mark beyond its budget, which
    is less than it needs. The `fastest` near the edge and far from it are chosen on validation
    images; there are none where no target is reached or all radii lie on one side.
    """
    rows = rows_of(table, "radius")
    every, exponent = int(rows.every[0]), rows.before.values.mean(1)
    crossing = lambda part, target: first_crossing(part.values, every, target)
    reached = [t for t in targets if np.isfinite(crossing(rows.accuracy, t)).all(1).any()]
    target, late = max(reached, default=min(targets)), every * (rows.sizes["mark"] + 1)
    chosen = np.nan_to_num(crossing(rows.tuning, target), nan=late).mean(1)
    near, fastest = np.abs(exponent) <= NEAR, np.zeros(len(exponent), dtype=bool)
    if reached and near.any() and not near.all():
        for group in (near, ~near):
            fastest[np.where(group, chosen, np.inf).argmin()] = True
    steps = crossing(rows.accuracy, target)
    columns = {"exponent": ("radius", exponent), "fastest": ("radius", fastest)}
    columns |= {"steps": (("radius", "seed"), steps), "target": target, "late": late}
    return xr.Dataset(columns, {"radius": rows.value.values})


def speed_evidence(results: Results) -> Evidence:
    """The fastest network near the edge against the fastest far from it."""
    speed = learning_speed(results["table"], results["config"].targets)
    near, counted = np.abs(speed.exponent) <= NEAR, speed.steps.fillna(speed.late)
    ours, theirs = (-counted.values[speed.fastest & group] for group in (near, ~near))
    mean = speed.steps.mean("seed", skipna=False).values
    return {
        "target": float(speed.target),
        "radii": speed.radius.values.tolist(),
        # None: some seed never got there.
        "steps": [None if np.isnan(steps) else float(steps) for steps in mean],
        "near_faster": len(ours) > 0 and beats(ours[0], theirs[0]),
        "far_faster": len(ours) > 0 and beats(theirs[0], ours[0]),
    }


def fastest_at_the_edge(e: Evidence) -> Verdict:
    """Holds if the fastest network near the edge is faster, beyond the spread over seeds,
    than the fastest far from it; refuted if slower; else open."""
    return "holds" if e["near_faster"] else "refuted" if e["far_faster"] else "open"


def _speed_finding(e: Evidence) -> str:
    reached = [pair for pair in zip(e["steps"], e["radii"], strict=True) if pair[0] is not None]
    if not reached:
        return f"no radius reaches {e['target']:.0%} for every seed"
    steps, radius = min(reached)
    return f"{e['target']:.0%} first at r = {radius:g}, after {steps:.0f} steps"


def _angles(table: xr.Dataset, where: str) -> tuple[np.ndarray, np.ndarray]:
    rows = rows_of(table, f"angle, {where}").sortby("value")
    return rows.value.values, rows.accuracy.isel(mark=-1).values


def angle_evidence(results: Results) -> Evidence:
    """Test accuracy at the row's angle, at 0, at its neighbours and at the best."""
    row = math.tau / results["side"]
    angles, final = _angles(results["table"], "sequential")
    at, zero = int(np.abs(angles - row).argmin()), int(angles.argmin())
    best = int(final.mean(1).argmax())
    beside = [i for i in (at - 1, at + 1) if 0 <= i < len(angles) and i != zero]
    return {
        "best": float(angles[best]),
        "row": float(angles[at]),
        "best_accuracy": float(final[best].mean()),
        "row_accuracy": float(final[at].mean()),
        "zero_accuracy": float(final[zero].mean()),
        "row_beats_angle_zero": beats(final[at], final[zero]),
        "row_beats_neighbours": all(beats(final[at], final[i]) for i in beside),
        "best_beats_row": beats(final[best], final[at]),
        "angle_zero_beats_row": beats(final[zero], final[at]),
    }


def best_at_the_row(e: Evidence) -> Verdict:
    """Holds if the row's angle is the best on test images and beats, beyond the
    spread over seeds, angle 0 and both neighbours. Refuted if angle 0 beats it, differs
    if another angle does, else open."""
    if e["angle_zero_beats_row"]:
        return "refuted"
    if e["best_beats_row"]:
        return "differs"
    won = e["row_beats_angle_zero"] and e["row_beats_neighbours"]
    return "holds" if won and e["best"] == e["row"] else "open"


def permuted_evidence(results: Results) -> Evidence:
    """The fall in accuracy from the row's angle to the largest, in order and permuted."""
    row, found = math.tau / results["side"], {}
    for where in ("sequential", "permuted"):
        angles, final = _angles(results["table"], where)
        mean, error = fall(final[np.abs(angles - row).argmin()], final[-1])
        found |= {where: mean, f"{where}_error": error}
    return found


def no_peak(e: Evidence) -> Verdict:
    """Of the fall in accuracy from the row's angle to the largest: permuted, it (mean + 2
    standard errors) is below half of the fall in order (mean − 2 standard errors). Refuted if it
    is above (mean − 2 errors against mean); open where the seeds do not decide, or nothing falls
    in order."""
    in_order = e["sequential"] - 2 * e["sequential_error"]
    if not in_order > 0:
        return "open"
    if e["permuted"] + 2 * e["permuted_error"] < in_order / 2:
        return "holds"
    return "refuted" if e["permuted"] - 2 * e["permuted_error"] > e["sequential"] / 2 else "open"


ACCURACY = (
    Claim(
        id="001.3",
        says="Networks close to the edge of chaos learn best: largest exponent near 0.",
        published="best at the edge; subcritical slow, supercritical unstable",
        finding="best at r = {best_radius:g} ({best_accuracy:.3f}), largest exponent "
        "{best_exponent:+.3f}",
        evidence=radius_evidence,
        rule=best_at_the_edge,
        figure="radius",
    ),
    Claim(
        id="001.3-speed",
        says="Networks close to the edge of chaos learn fastest.",
        published="speed of convergence best at the edge",
        finding=_speed_finding,
        evidence=speed_evidence,
        rule=fastest_at_the_edge,
        figure="speed",
    ),
    Claim(
        id="001.4",
        says="Rotational residuals do best at the data's characteristic frequency.",
        published="φ ≈ 2π/28 = 0.22 on 28 × 28 pixels, the peak of the mean power spectrum",
        finding="best {best_accuracy:.3f} at {best:.3g}; {row_accuracy:.3f} at "
        "{row:.3f}; {zero_accuracy:.3f} at 0",
        evidence=angle_evidence,
        rule=best_at_the_row,
        figure="angle",
    ),
    Claim(
        id="001.4-permuted",
        says="On permuted pixels accuracy has no peak at the frequency of a row.",
        published="prediction: no such peak",
        finding="beyond the row's angle falls by {sequential:.3f} ± {sequential_error:.3f} in "
        "order, {permuted:.3f} ± {permuted_error:.3f} permuted",
        evidence=permuted_evidence,
        rule=no_peak,
        figure="angle",
    ),
)
