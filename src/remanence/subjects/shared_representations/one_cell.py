"""One cell of the document's Figure 1, redone as its author ran it."""

import math
from collections.abc import Mapping
from typing import Any

from ...report import Bench
from .training_cells import Cell, DOCUMENT_STEPS, document_stop, measured, trained, Way


NAMES = {"frac": float, "sigma": float, "seed": int, "mask": str, "way": str}
TIMES: dict[Way, str] = {
    "sgd": "the document's SGD takes a few seconds to half a minute",
    "descent": "descent with a safe step takes seconds to a minute",
    "flow": "the flow takes seconds, or minutes where σ is small",
}
SEEDS = 2**32
"""So many the document's generator tells apart."""


def named_cell(wanted: Mapping[str, str]) -> Cell:
    """The cell that `frac=…,sigma=…,seed=…` names, or a refusal."""
    unknown = set(wanted) - set(NAMES)
    if unknown or not {"frac", "sigma"} <= set(wanted):
        raise ValueError(
            f"a cell is named by frac, sigma and seed (and mask, way), "
            f"got {', '.join(wanted) or 'nothing'}"
        )
    given: dict[str, Any] = {"seed": 0, "mask": "diagonal", "way": "sgd"}
    for name, text in wanted.items():
        try:
            given[name] = NAMES[name](text)
        except ValueError:
            what = "a whole number" if NAMES[name] is int else "a number"
            raise ValueError(f"{name} must be {what}, got {text!r}") from None
    if given["mask"] not in ("diagonal", "full"):
        raise ValueError(f"mask must be diagonal or full, got {given['mask']!r}")
    if given["way"] not in TIMES:
        raise ValueError(f"way must be sgd, descent or flow, got {given['way']!r}")
    if not math.isfinite(given["frac"]):
        raise ValueError(f"frac must be a number, got {wanted['frac']!r}")
    if not 0 <= given["seed"] < SEEDS:
        raise ValueError(f"seed must lie between 0 and 2^32 - 1, got {given['seed']}")
    return Cell(fraction=given.pop("frac"), scale=given.pop("sigma"), **given)


def one_cell(wanted: Mapping[str, str], bench: Bench) -> dict[str, Any]:
    """Train the cell that `frac=…,sigma=…,seed=…` names, and measure it.

    Losses are in the document's normalisation (a sum over words). `mask=full` and
    `way=descent` or `way=flow` ask for what the document did not do.
    """
    cell = named_cell(wanted)
    bench.tell(
        f"training {int(cell.run().T.sum())} of {cell.languages**2} pairs, "
        f"at most {DOCUMENT_STEPS:,} steps; {TIMES[cell.way]}"
    )
    stop = document_stop(cell.words)
    ((_, fit),) = trained([cell], stop=stop, limit=DOCUMENT_STEPS, width=1)
    if cell.way != "flow" and fit.precision != "float32":
        bench.tell(
            f"sigma = {cell.scale:g} is too small for float32, whose rounding would "
            "swallow every step, so this ran in float64"
        )
    if cell.way == "sgd" and fit.ending == "out of steps":
        bench.tell(
            "the time to leave the start grows as 1/sigma, and SGD's steps have one "
            "length; way=flow takes longer ones"
        )
    found = measured(cell, fit)
    unit = 2 * cell.words
    numbers = {
        "train_loss": unit * found["train_loss"],
        "test_loss": unit * found["test_loss"],
        "accuracy_trained": found["accuracy_trained"],
        "accuracy_untrained": found["accuracy_untrained"],
        "rank": found["rank"],
        "negative_untrained": found["signs"],
    }
    # Null where a run diverged or the number has no meaning.
    known = {name: x if math.isfinite(x) else None for name, x in numbers.items()}
    return {
        "frac": cell.fraction,
        "sigma": cell.scale,
        "seed": cell.seed,
        "mask": cell.mask,
        "way": cell.way,
        "ending": fit.ending,
        "steps": fit.steps,
        "precision": fit.precision,
        "connected": bool(found["connected"]),
    } | known
