"""One cell of the document's Figure 1, redone as its author ran it."""

import math
from collections.abc import Mapping
from typing import Any

from ...report import Bench
from .alignment import translation
from .cells import Cell, DOCUMENT_STEPS, document_stop, trained, Way
from .connectivity import connectivity


NAMES = {"frac": float, "sigma": float, "seed": int, "mask": str, "way": str}
MEASURED = (
    "train_loss",
    "test_loss",
    "accuracy_trained",
    "accuracy_untrained",
    "rank",
    "negative_untrained",
)
"""Null where a run diverged or the number has no meaning."""
TIMES: dict[Way, str] = {
    "sgd": "the document's SGD takes a few seconds to a quarter of a minute",
    "descent": "descent with a safe step takes seconds to a minute",
    "flow": "the flow takes seconds, or minutes where σ is small",
}
SEEDS = 2**32
"""So many the document's generator tells apart."""


def one_cell(wanted: Mapping[str, str], bench: Bench) -> dict[str, Any]:
    """Train the cell that `frac=…,sigma=…,seed=…` names, and measure it.

    Losses are in the document's normalisation (a sum over words). `mask=full` and
    `way=descent` or `way=flow` ask for what the document did not do.
    """
    unknown = set(wanted) - set(NAMES)
    if unknown or not {"frac", "sigma"} <= set(wanted):
        raise ValueError(
            f"a cell is named by frac, sigma and seed (and mask, way), "
            f"got {', '.join(wanted) or 'nothing'}"
        )
    given: dict[str, Any] = {}
    for name, text in wanted.items():
        try:
            given[name] = NAMES[name](text)
        except ValueError:
            what = "a whole number" if NAMES[name] is int else "a number"
            raise ValueError(f"{name} must be {what}, got {text!r}") from None
    mask, way = given.get("mask", "diagonal"), given.get("way", "sgd")
    if mask not in ("diagonal", "full"):
        raise ValueError(f"mask must be diagonal or full, got {mask!r}")
    if way not in ("sgd", "descent", "flow"):
        raise ValueError(f"way must be sgd, descent or flow, got {way!r}")
    if not math.isfinite(given["frac"]):
        raise ValueError(f"frac must be a number, got {wanted['frac']!r}")
    if not 0 <= given.get("seed", 0) < SEEDS:
        raise ValueError(f"seed must lie between 0 and 2^32 - 1, got {given['seed']}")
    cell = Cell(
        fraction=given["frac"],
        scale=given["sigma"],
        seed=given.get("seed", 0),
        mask=mask,
        way=way,
    )
    run = cell.run()
    bench.tell(
        f"training {int(run.T.sum())} of {cell.languages**2} pairs, "
        f"at most {DOCUMENT_STEPS:,} steps; {TIMES[cell.way]}"
    )
    ((_, fit),) = trained(
        [cell], stop=document_stop(cell.words), limit=DOCUMENT_STEPS, width=1
    )
    if way != "flow" and fit.precision != "float32":
        bench.tell(
            f"sigma = {cell.scale:g} is too small for float32, whose rounding would "
            "swallow every step, so this ran in float64"
        )
    if way == "sgd" and fit.ending == "out of steps":
        bench.tell(
            "the time to leave the start grows as 1/sigma, and SGD's steps have one "
            "length; way=flow takes longer ones"
        )
    graph = connectivity(run.T)
    told: dict[str, Any] = {
        "frac": cell.fraction,
        "sigma": cell.scale,
        "seed": cell.seed,
        "mask": mask,
        "way": way,
        "ending": fit.ending,
        "steps": fit.steps,
        "precision": fit.precision,
        "connected": graph.connected,
    }
    if fit.ending == "diverged":
        return told | dict.fromkeys(MEASURED)
    seen = translation(fit.net, run.T, mask=mask)
    scale = 2 * cell.words
    numbers = (
        scale * seen.loss_trained,
        scale * seen.loss_untrained,
        seen.accuracy_trained,
        seen.accuracy_untrained,
        seen.rank,
        seen.signs,
    )
    return told | {
        name: value if math.isfinite(value) else None
        for name, value in zip(MEASURED, numbers, strict=True)
    }
