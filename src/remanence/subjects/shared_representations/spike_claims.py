"""The claim about Figure 1's spikes: are they numerical?"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import xarray as xr

from ...report import Evidence, Statement, Verdict
from .config import Config
from .figure_one import by_scale, GENERALISES


FEWEST = 3
"""Spikes whose kind is known, below which nothing is said of spikes."""


def _spikes(e: Evidence) -> Verdict:
    """What the toy does is told beside it and does not count."""
    decided = e["step_only"] + e["real"]
    if decided < FEWEST:
        return "open"
    if min(e["step_only"], e["real"]) > 0 and decided >= e["undecided"]:
        return "differs"
    if decided <= e["undecided"]:
        return "open"
    return "holds" if e["real"] == 0 else "refuted"


def _spikes_said(e: Evidence) -> str:
    kinds = lambda n: (
        f"{n['step_only']} from the step, {n['real']} real, {n['undecided']} undecided"
    )
    above = ", ".join(
        f"{high} of {runs} at σ = {scale}" for scale, (high, runs) in e["above"].items()
    )
    slow = " and ".join(e["slow"])
    tried = f"spikes tried again by {e['ways']}: {e['tried']}, of them {kinds(e)}"
    return (
        (tried if e["tried"] else "no spike to try again")
        + "".join(f"; σ = {scale}: {kinds(n)}" for scale, n in e["by_scale"].items())
        + f". Connected runs above 1e-3: {above}"
        + (
            f" (at σ = {slow} they fall slowly with the fraction: no spikes)"
            if slow
            else ""
        )
        + f". Not judged: at σ = {e['toy_scale']:g} the toy's exact flow stands before a "
        f"sign wall in {e['toy_walls']:.0%} of starts (loss {e['toy_wall_loss']:.4f})"
    )


_MADE_UP = {
    "ways": "a safe step",
    "by_scale": {},
    "above": {"0.001": [3, 60]},
    "slow": [],
    "toy_scale": 1e-3,
    "toy_walls": 0.4,
    "toy_wall_loss": 1.0,
}
STATEMENTS = (
    Statement(
        id="003.3",
        statement="The spikes of the test loss beyond the threshold are numerical.",
        published="an initial guess",
        rule=_spikes,
        measured=_spikes_said,
        example={
            **_MADE_UP,
            "tried": 3,
            "step_only": 1,
            "real": 2,
            "undecided": 0,
        },
        contrary={
            **_MADE_UP,
            "tried": 3,
            "step_only": 3,
            "real": 0,
            "undecided": 0,
        },
    ),
)


def evidence(config: Config, data: Mapping[str, xr.Dataset]) -> dict[str, Any]:
    """What became of the spikes, how many runs lie so high, and the toy's walls."""
    again, diagonal, walls = data.get("spikes"), data["diagonal"], data["walls"]
    joined = diagonal.where(
        (diagonal.connected == 1) & (diagonal.ending == 0), drop=True
    )
    near = walls.sel(log10_scale=np.log10(config.spike_scales[-1]), method="nearest")
    scales = {f"{scale:g}": part for scale, part in by_scale(joined)}
    followed = config.spike_flow > 0
    told = tried_again(again) | {
        "ways": "a safe step and the flow" if followed else "a safe step",
        "by_scale": {}
        if again is None
        else {f"{scale:g}": tried_again(part) for scale, part in by_scale(again)},
        "above": {
            scale: [int((part.test_loss > GENERALISES).sum()), part.sizes["cell"]]
            for scale, part in scales.items()
        },
        "slow": sorted(set(scales) - {f"{scale:g}" for scale in config.spike_scales}),
        "toy_scale": 10.0 ** float(near.log10_scale),
        "toy_walls": float(near.wall),
        "toy_wall_loss": float(np.nan_to_num(near.wall_loss)),
    }
    return {"003.3": told}


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
