"""Experiments 2 to 6: what is trained, and the labelled results."""

import math
from typing import Any

import numpy as np
import xarray as xr

from ...report import Bench
from ...sweeps import sweep
from ...tasks import Pixels
from .config import Config
from .networks import Case, cases, table
from .training_lanes import ACTIVATIONS, adding_lane, gated_lane, nonlinear_lane, table_lane


MARKED: dict[str, tuple[str, ...]] = {"loss": ("mark",), "tuning": ("mark",), "accuracy": ("mark",)}


def pixel_data(config: Config, task: Pixels, informed: Any) -> dict[str, Any]:
    """The arrays that the lanes share; the permutation is one, the same for all."""
    length = task.train_x.shape[1]
    order = np.random.default_rng(0).permutation(length).astype(np.int32)
    held = config.held_out
    images = max(1, 512 // length)
    return {
        "train_x": task.train_x,
        "train_y": task.train_y,
        "test_x": task.test_x[:held],
        "test_y": task.test_y[:held],
        "order": order,
        "informed": np.asarray(informed),
        "inputs": task.test_x[-images:].reshape(-1, 1),
    }


def trained_table(
    config: Config, bench: Bench, task: Pixels, turned: Pixels, informed: Any
) -> tuple[list[Case], xr.Dataset]:
    """Every case of the table, trained as lanes of one program a size of the images.

    The angles hear the images `turned`, all others those of `task`.
    """
    found = cases(config, task, informed)
    split = {"table": (task, found)}
    if turned is not task:
        by_angle = [c for c in found if c.experiment.startswith("angle")]
        others = [c for c in found if not c.experiment.startswith("angle")]
        split = {"table": (task, others), "angles": (turned, by_angle)}
        found = others + by_angle
    parts = []
    for name, (images, chosen) in split.items():
        data = pixel_data(config, images, informed) | {"table": table(chosen)}
        rows = sweep(
            table_lane(config),
            {"case": range(len(chosen)), "seed": range(config.seeds)},
            data=data,
            dims=MARKED | {"W_h": ("unit", "from"), "W_x": ("unit",), "b": ("unit",)},
            **config.sweep_options(bench, name, f"{images.side} x {images.side} pixels"),
        )
        parts.append(rows.drop_vars("case"))
    results = xr.concat(parts, dim="case")
    marks = np.minimum(config.every * np.arange(1, results.sizes["mark"] + 1), config.steps)
    labels = {
        "name": ("case", [c.name for c in found]),
        "experiment": ("case", [c.experiment for c in found]),
        "value": ("case", [c.value for c in found]),
        "rate": ("case", [c.rate for c in found]),
    }
    return found, results.assign_coords(mark=marks, **labels)


def trained_others(config: Config, bench: Bench, task: Pixels, informed: Any) -> xr.Dataset:
    """Nonlinear residuals in one program, gated cells of each kind in one."""
    data = pixel_data(config, task, informed)
    shared = {"rate": config.rates, "seed": range(config.seeds)}
    lanes = len(config.rates) * config.seeds
    chosen = [list(ACTIVATIONS).index(name) for name in config.nonlinear]
    nonlinear = sweep(
        nonlinear_lane(config),
        {"activation": chosen, **shared},
        data=data,
        dims=MARKED,
        **config.sweep_options(bench, "nonlinear", "nonlinear residuals", len(chosen) * lanes),
    )
    nonlinear = nonlinear.rename(activation="kind").assign_coords(
        kind=[f"nonlinear residual: {name}" for name in config.nonlinear]
    )
    gated = sweep(
        gated_lane(config),
        {"kind": list(config.gated), "behind": [0, 1], **shared},
        static=("kind",),
        data=data,
        dims=MARKED,
        **config.sweep_options(bench, "gated", "gated cells", 2 * lanes),
    )
    gates = [
        gated.isel(behind=b)
        .drop_vars("behind")
        .assign_coords(kind=[f"{g}{' behind a residual' if b else ''}" for g in config.gated])
        for b in (0, 1)
    ]
    return xr.concat([nonlinear, *gates], dim="kind")


ADDING_KINDS = ("homogeneous", "heterogeneous", "Elman, orthogonal")


def trained_adding(config: Config, bench: Bench) -> xr.Dataset:
    """The adding problem over lengths: radii are given per sequence, $r^T$ fixed.

    The homogeneous residual keeps 1/e over the sequence; the heterogeneous one has
    timescales from an eighth of the sequence to eight times it, and slow angles.
    """
    pairs = config.units // 2
    taus = np.geomspace(1 / 8, 8, pairs)
    data = {
        "radii": np.stack([np.full(pairs, math.exp(-1)), np.exp(-1 / taus), np.ones(pairs)]).astype(
            np.float32
        ),
        "angles": np.stack(
            [np.zeros(pairs), np.geomspace(1e-3, 0.3, pairs)[::-1], np.zeros(pairs)]
        ).astype(np.float32),
        "residual": np.array([True, True, False]),
    }
    lanes = len(ADDING_KINDS) * len(config.rates) * config.seeds
    found = sweep(
        adding_lane(config),
        {
            "length": config.lengths,
            "kind": range(len(ADDING_KINDS)),
            "rate": config.rates,
            "seed": range(config.seeds),
        },
        static=("length",),
        data=data,
        dims={"loss": ("mark",), "error": ("mark",)},
        **config.sweep_options(bench, "adding", "the adding problem", lanes),
    )
    return found.assign_coords(kind=list(ADDING_KINDS))
