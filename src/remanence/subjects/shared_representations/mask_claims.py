"""Claims about Figure 1: its mask, its author's own cells."""

from collections.abc import Mapping
from typing import Any

import xarray as xr

from ...report import Evidence, Statement, Verdict
from .config import Config
from .figure_one import by_scale, GENERALISES


def _translates(e: Evidence) -> Verdict:
    if e["low_loss_runs"] == 0:
        return "open"
    return "holds" if e["accuracy_diagonal"] > 0.9 else "refuted"


def _again(e: Evidence) -> Verdict:
    if e["cells"] == 0:
        return "open"
    agree = 9 * e["within_one_percent"] >= 8 * e["cells"]
    return "holds" if e["same_side"] == e["cells"] and agree else "differs"


def _translates_said(e: Evidence) -> str:
    told = ", ".join(
        f"{n['mean']:.2f} ({n['least']:.2f}–{n['most']:.2f}) in {n['runs']} at σ = {scale}"
        for scale, n in e["by_scale"].items()
    )
    return (
        f"runs with a low test loss, diagonal mask: argmax accuracy {told or 'of none'} "
        f"(chance {e['chance']:.2f}), rank at most {e['rank_diagonal']:.1f}; "
        f"full mask: {e['accuracy_full']:.2f}, rank {e['rank_full']:.1f}"
    )


def _again_said(e: Evidence) -> str:
    if e["cells"] == 0:
        return (
            "not measured: it needs the author's file, gdln/figure1_sample.csv in the "
            "folder that REMANENCE_DATA names"
        )
    return (
        f"{e['within_one_percent']} of {e['cells']} within 1 %, {e['same_side']} on the same side of 1e-3"
        + (f"; beyond 1 %: {e['beyond']}" if e["beyond"] else "")
        + (f"; apart: {e['apart']}" if e["apart"] else "")
        + "; losses in the author's unit, 2DΛ"
    )


STATEMENTS = (
    Statement(
        id="003.4",
        statement="A run whose test loss is low translates the pairs it was not taught.",
        published="implied by the figure",
        rule=_translates,
        measured=_translates_said,
        example={
            "low_loss_runs": 9,
            "by_scale": {"0.001": {"runs": 9, "mean": 0.1, "least": 0.0, "most": 0.2}},
            "accuracy_diagonal": 0.1,
            "chance": 0.03,
            "rank_diagonal": 1.2,
            "accuracy_full": 1.0,
            "rank_full": 31.9,
        },
        contrary={
            "low_loss_runs": 9,
            "by_scale": {},
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
        measured=_again_said,
        example={
            "cells": 18,
            "within_one_percent": 16,
            "same_side": 18,
            "beyond": "two",
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
    """What Figure 1 and the author's cells say."""
    return {
        "003.4": translates_evidence(config, data["diagonal"], data["full"]),
        "003.13": samples_evidence(data.get("samples")),
    }


def translates_evidence(
    config: Config, diagonal: xr.Dataset, full: xr.Dataset
) -> dict[str, Any]:
    """Accuracy on untaught pairs where the loss is low; the σ with the best mean counts."""
    low, low_full = (
        part.where(part.test_loss < GENERALISES, drop=True) for part in (diagonal, full)
    )
    found = {
        f"{scale:g}": {
            "runs": part.sizes["cell"],
            "mean": float(part.accuracy_untrained.mean()),
            "least": float(part.accuracy_untrained.min()),
            "most": float(part.accuracy_untrained.max()),
        }
        for scale, part in by_scale(low)
    }
    mean = lambda name: float(low_full[name].mean()) if low_full.sizes["cell"] else 0.0
    return {
        "low_loss_runs": low.sizes["cell"],
        "by_scale": found,
        "accuracy_diagonal": max((n["mean"] for n in found.values()), default=0.0),
        "rank_diagonal": float(low["rank"].max()) if found else 0.0,
        "accuracy_full": mean("accuracy_untrained"),
        "rank_full": mean("rank"),
        "chance": 1 / config.words,
    }


def samples_evidence(found: xr.Dataset | None) -> dict[str, Any]:
    """The author's cells beside ours; those beyond 1 % or on another side by name."""
    if found is None:
        return {"cells": 0}
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
            f"{name(c)} ({float(c.relative):.1%}, training loss {2 * float(c.words) * float(c.train_loss):.0e})"
            for c in rows
            if not float(c.relative) < 0.01
        ),
        "apart": "; ".join(name(c) for c in rows if not bool(c.same_side)),
    }
