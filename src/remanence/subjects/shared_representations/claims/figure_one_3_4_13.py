"""Claims 003.3, 003.4 and 003.13: Figure 1, its spikes, its mask, its author's own cells."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from ....report import Claim, Evidence, Verdict
from ..training_cells import by_scale, GENERALISES


SEVERAL, MANY = 3, 14
"""Spikes of known kind below which nothing is said; a fifth of `MANY` is missed in 4 %."""


def spikes_evidence(results: Mapping[str, Any]) -> Evidence:
    """A spike is real if the flow that reached the loss has it too."""
    again = results.get("spikes")
    if again is None:
        return dict.fromkeys(("tried", "step_only", "real", "undecided"), 0)
    reached, low = again.flow_ending.values == 0, again.flow.values < GENERALISES
    kinds = {"step_only": reached & low, "real": reached & ~low, "undecided": ~reached}
    return {"tried": reached.size} | {kind: int(which.sum()) for kind, which in kinds.items()}


def spikes_are_numerical(e: Evidence) -> Verdict:
    """Counted are spikes that exact flow, followed to the loss, has too (real) or has
    not (from the step). Differs if both kinds are among at least three decided ones, half
    of all or more. Holds if all came from the step, refuted if all are real, but only
    from 14 decided ones on, where a fifth of the other kind would be missed in 4 %."""
    decided = e["step_only"] + e["real"]
    if decided < max(SEVERAL, e["undecided"]):
        return "open"
    if min(e["step_only"], e["real"]) > 0:
        return "differs"
    if decided < MANY:
        return "open"
    return "holds" if e["real"] == 0 else "refuted"


def translation_evidence(results: Mapping[str, Any]) -> Evidence:
    """Accuracy on untaught pairs where the loss is low; the σ with the best mean counts."""
    low, low_full = (
        results[mask].isel(cell=np.flatnonzero(results[mask].test_loss < GENERALISES))
        for mask in ("diagonal", "full")
    )
    best = {f"{s:g}": float(p.accuracy_untrained.mean()) for s, p in by_scale(low).items()}
    translated = low_full.accuracy_untrained
    return {
        "low_loss_runs": low.sizes["cell"],
        "accuracy_by_scale": best,
        "accuracy_diagonal": max(best.values(), default=0.0),
        "accuracy_full": float(translated.mean()) if translated.size else 0.0,
        "chance": 1 / int(results["diagonal"].words[0]),
    }


def low_loss_translates(e: Evidence) -> Verdict:
    """Holds if at the best σ runs of a low test loss (diagonal mask) translate more than
    90 % of the untaught words right, else refuted; open without such runs."""
    if e["low_loss_runs"] == 0:
        return "open"
    return "holds" if e["accuracy_diagonal"] > 0.9 else "refuted"


def author_evidence(results: Mapping[str, Any]) -> Evidence:
    """The author's cells beside ours; those beyond 1 % or on another side by name."""
    found = results["author"]
    columns = zip(*(found[c].values for c in ("fraction", "scale", "seed")), strict=True)
    names = np.array([f"frac={f:g} sigma={s:g} seed={int(n)}" for f, s, n in columns])
    near, same = found.relative.values < 0.01, found.same_side.values.astype(bool)
    return {
        "cells": len(names),
        "within_one_percent": int(near.sum()),
        "same_side": int(same.sum()),
        "beyond": names[~near].tolist(),
        "apart": names[~same].tolist(),
    }


def author_cells_agree(e: Evidence) -> Verdict:
    """Holds if every cell lies on the author's side of a test loss of 1e-3 and at least
    eight of nine are within 1 % of his, else differs; open without his file."""
    if e["cells"] == 0:
        return "open"
    near = 9 * e["within_one_percent"] >= 8 * e["cells"]
    return "holds" if e["same_side"] == e["cells"] and near else "differs"


FIGURE_ONE = (
    Claim(
        id="003.3",
        says="The spikes of the test loss beyond the threshold are numerical.",
        published="an initial guess",
        finding="of {tried} spikes {step_only} from the step, {real} real, {undecided} undecided",
        evidence=spikes_evidence,
        rule=spikes_are_numerical,
        figure="spikes",
    ),
    Claim(
        id="003.4",
        says="A run whose test loss is low translates the pairs it was not taught.",
        published="implied by the figure",
        finding="{accuracy_diagonal:.0%} of untaught words right (chance {chance:.0%}); full mask {accuracy_full:.0%}",
        evidence=translation_evidence,
        rule=low_loss_translates,
        figure="what-is-learned",
    ),
    Claim(
        id="003.13",
        says="The cells of the author's own result file come out again. (It is looked for as gdln/figure1_sample.csv in the folder that REMANENCE_DATA names.)",
        published="18 cells of Figure 1",
        finding="{within_one_percent} of {cells} within 1 %; {same_side} on the same side of 1e-3",
        evidence=author_evidence,
        rule=author_cells_agree,
        figure="figure-1",
    ),
)
