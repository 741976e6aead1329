"""Claims about Figure 1: its spikes, its mask, its author's own cells."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import xarray as xr

from ...report import Evidence, Statement, Verdict
from .config import Config
from .figure_one import GENERALISES


def _spikes(e: Evidence) -> Verdict:
    real = e["real"] > 0 or e["toy_walls"] > 0
    if e["step_only"] > 0:
        return "differs" if real else "holds"
    return "refuted" if real else "open"


def _translates(e: Evidence) -> Verdict:
    if e["low_loss_runs"] == 0:
        return "open"
    return "holds" if e["accuracy_diagonal"] > 0.9 else "refuted"


def _again(e: Evidence) -> Verdict:
    if e["same_side"] < e["cells"]:
        return "differs"
    return "holds" if e["within_one_percent"] >= 0.7 * e["cells"] else "differs"


STATEMENTS = (
    Statement(
        id="003.3",
        statement="The spikes of the test loss beyond the threshold are numerical.",
        published="an initial guess",
        rule=_spikes,
        measured=lambda e: (
            f"of {e['tried']} spikes tried again, {e['step_only']} came from the step, {e['real']} "
            f"are there under a safe step (and the flow, if followed) too, {e['undecided']} reached the loss by neither; exact flow of the toy stands before a sign wall in {e['toy_walls']:.0%} "
            f"of starts (loss {e['toy_wall_loss']:.4f})"
        ),
        example={
            "tried": 3,
            "step_only": 1,
            "real": 2,
            "undecided": 0,
            "toy_walls": 0.4,
            "toy_wall_loss": 1.0,
        },
        contrary={
            "tried": 3,
            "step_only": 3,
            "real": 0,
            "undecided": 0,
            "toy_walls": 0.0,
            "toy_wall_loss": 0.0,
        },
    ),
    Statement(
        id="003.4",
        statement="A run whose test loss is low translates the pairs it was not taught.",
        published="implied by the figure",
        rule=_translates,
        measured=lambda e: (
            f"diagonal mask: argmax accuracy {e['accuracy_diagonal']:.2f} (chance {e['chance']:.2f}), rank {e['rank_diagonal']:.1f}; "
            f"full mask: {e['accuracy_full']:.2f}, rank {e['rank_full']:.1f}"
        ),
        example={
            "low_loss_runs": 9,
            "accuracy_diagonal": 0.1,
            "chance": 0.03,
            "rank_diagonal": 1.2,
            "accuracy_full": 1.0,
            "rank_full": 31.9,
        },
        contrary={
            "low_loss_runs": 9,
            "accuracy_diagonal": 0.99,
            "chance": 0.03,
            "rank_diagonal": 30.0,
            "accuracy_full": 1.0,
            "rank_full": 31.9,
        },
    ),
    Statement(
        id="003.13",
        statement="The cells of the author's own result file come out again.",
        published="18 cells of Figure 1",
        rule=_again,
        measured=lambda e: (
            f"{e['within_one_percent']} of {e['cells']} within 1 %, {e['same_side']} on the same side of 1e-3"
            + (f"; beyond 1 %: {e['beyond']}" if e["beyond"] else "")
            + (f"; apart: {e['apart']}" if e["apart"] else "")
        ),
        example={
            "cells": 18,
            "within_one_percent": 15,
            "same_side": 18,
            "beyond": "three",
            "apart": "",
        },
        contrary={
            "cells": 18,
            "within_one_percent": 2,
            "same_side": 9,
            "beyond": "most",
            "apart": "many",
        },
    ),
)


def evidence(config: Config, data: Mapping[str, xr.Dataset]) -> dict[str, Any]:
    """What Figure 1, its spikes tried again and the author's cells say."""
    diagonal, full = data["diagonal"], data["full"]
    low = diagonal.where(diagonal.test_loss < GENERALISES, drop=True)
    low_full = full.where(full.test_loss < GENERALISES, drop=True)
    walls = data["walls"]
    middle = int(np.argmin(np.abs(walls.wall.values - 0.5)))
    mean = lambda part, name: float(part[name].mean()) if part.sizes["cell"] else 0.0
    found = {
        "003.3": tried_again(data.get("spikes"))
        | {
            "toy_walls": float(walls.wall[middle]),
            "toy_wall_loss": float(np.nan_to_num(walls.wall_loss[middle])),
        },
        "003.4": {
            "low_loss_runs": int(low.sizes["cell"]),
            "accuracy_diagonal": mean(low, "accuracy_untrained"),
            "rank_diagonal": mean(low, "rank"),
            "accuracy_full": mean(low_full, "accuracy_untrained"),
            "rank_full": mean(low_full, "rank"),
            "chance": 1 / config.words,
        },
    }
    if "samples" in data:
        found["003.13"] = samples_evidence(data["samples"])
    return found


def tried_again(again: xr.Dataset | None) -> dict[str, int]:
    """A spike is real if no way that reached the loss is without it."""
    if again is None:
        return {"tried": 0, "step_only": 0, "real": 0, "undecided": 0}
    tests = np.stack(
        [
            np.where(again[f"{way}_ending"] == 0, again[way], np.inf)
            for way in ("descent", "flow")
            if way in again
        ]
    ).min(axis=0)
    return {
        "tried": int(again.sizes["cell"]),
        "step_only": int((tests < GENERALISES).sum()),
        "real": int(((tests >= GENERALISES) & np.isfinite(tests)).sum()),
        "undecided": int(np.isinf(tests).sum()),
    }


def samples_evidence(found: xr.Dataset) -> dict[str, Any]:
    """The author's cells beside ours; those beyond 1 % or on another side by name."""
    rows = [found.isel(cell=i) for i in range(found.sizes["cell"])]
    name = lambda c: (
        f"frac={float(c.fraction):g} sigma={float(c.scale):g} seed={int(c.seed)}"
    )
    return {
        "cells": int(found.sizes["cell"]),
        "within_one_percent": int((found.relative < 0.01).sum()),
        "same_side": int(found.same_side.sum()),
        "relative": [float(v) for v in found.relative.values],
        "beyond": "; ".join(
            f"{name(c)} ({float(c.relative):.1%}, training loss {float(c.train_loss):.0e})"
            for c in rows
            if not float(c.relative) < 0.01
        ),
        "apart": "; ".join(name(c) for c in rows if not bool(c.same_side)),
    }
