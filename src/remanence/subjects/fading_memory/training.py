"""Experiments 2 to 6: rows of the table of networks, trained as lanes of sweeps.

The residual and the coupling are given, not learned: only $W_h$, $W_x$, $b$ and the
readout are in the hands of the optimiser.
"""

import dataclasses
import math
from collections.abc import Callable, Mapping
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import optax
import xarray as xr

from ...measure import exponents_along
from ...nets import on_batch, Recurrent
from ...report import Bench
from ...sweeps import sweep
from ...tasks import adding, Pixels
from ...train import trained
from .config import Config
from .informed_residual import InformedResidual
from .networks import adding_networks, Case, cell_of, columns, kinds_of_networks, swept_networks


HELD_OUT_SUMS = 500
WEIGHTS: dict[str, tuple[str, ...]] = {"W_h": ("unit", "from"), "W_x": ("unit",), "b": ("unit",)}


def learned_part(net: Recurrent) -> tuple[Any, Any]:
    """The network in two: what is trained, and the rest with residual and coupling."""
    mask = jax.tree.map(eqx.is_inexact_array, net)
    keep = lambda net: (net.cell.R, net.cell.coupling)
    fixed = jax.tree.map(lambda _: False, keep(mask))
    return eqx.partition(net, eqx.tree_at(keep, mask, fixed))


def trained_network(
    net: Recurrent,
    row: Mapping[str, Any],
    loss: Callable,
    steps: int,
    marks: int,
    metrics: Callable,
    **options: Any,
) -> tuple[dict[str, Any], Recurrent]:
    """Metrics at every mark, and the network, trained but for residual and coupling by Adam on
    clipped gradients; its rate falls to a twentieth along half a cosine."""
    part, rest = learned_part(net)
    whole = lambda part: eqx.combine(part, rest)
    fall = lambda count: -row["rate"] * (0.525 + 0.475 * jnp.cos(jnp.pi * count / steps))
    clipping = optax.clip_by_global_norm(row["clip"])
    part, history = trained(
        part,
        lambda part, batch, key: loss(whole(part), batch),
        optax.chain(clipping, optax.scale_by_adam(), optax.scale_by_schedule(fall)),
        steps=steps,
        metrics=lambda part, data: metrics(whole(part), data),
        every=-(-steps // marks),
        **options,
    )
    return history, whole(part)


def pixel_loss(net: Recurrent, batch: Any) -> Any:
    """The mean cross entropy of the class after the last pixel."""
    xs, ys = batch
    return optax.softmax_cross_entropy_with_integer_labels(on_batch(net, xs), ys).mean()


def share_right(net: Recurrent, order: Any, xs: Any, ys: Any) -> Any:
    """The share of images that are classified right."""
    group = math.gcd(len(ys), 250)  # at a time: all states of all images would fill the memory
    groups = (xs.reshape(-1, group, *xs.shape[1:]), ys.reshape(-1, group))
    right = lambda part: on_batch(net, part[0][:, order]).argmax(1) == part[1]
    return jax.lax.map(right, groups).mean(dtype=jnp.float32)


def sum_loss(net: Recurrent, batch: Any) -> Any:
    """The mean square error of the sum."""
    xs, y = batch
    return jnp.square(on_batch(net, xs)[:, 0] - y).mean()


def largest_exponent(cell: Any, xs: Any) -> Any:
    """In nats a step, along some images one after another; a fifth is warm-up."""
    h, warmup = cell.initial_state(), xs.shape[0] // 5
    return exponents_along(cell, h, xs, k=1, interval=8, warmup=warmup)[0]


def pixel_lane(config: Config, family: str, steps: int, marks: int) -> Callable:
    """A row of the table trained on pixels, with accuracies at every mark."""

    def lane(point: dict[str, Any], key: Any, data: Any) -> dict[str, Any]:
        row = _row(point["case"], point["seed"], data)
        cell_key, net_key, train_key = jr.split(key, 3)
        cell = cell_of(config, family, row, 1, key=cell_key)
        net = Recurrent.init(cell, outputs=10, key=net_key, readout="last")
        order = jnp.where(row["permuted"], data["order"], jnp.arange(data["order"].shape[0]))

        def batch(data, step, key):
            rows = jr.randint(key, (config.batch,), 0, data["train_y"].shape[0])
            return data["train_x"][rows][:, order], data["train_y"][rows]

        metrics = lambda net, data: {
            "tuning": share_right(net, order, *data["validation"]),
            "accuracy": share_right(net, order, *data["test"]),
        }
        options = {"key": train_key, "data": data, "batch": batch}
        history, net = trained_network(net, row, pixel_loss, steps, marks, metrics, **options)
        if family != "plain":
            return history
        before, after = (largest_exponent(c, data["inputs"]) for c in (cell, net.cell))
        weights = {"W_h": net.cell.W_h, "W_x": net.cell.W_x[:, 0], "b": net.cell.b}
        return history | {"before": before, "after": after} | weights

    return lane


def adding_lane(config: Config) -> Callable:
    """A row of the table trained on the adding problem; `length` is static."""

    def lane(point: dict[str, Any], key: Any, data: Any) -> dict[str, Any]:
        row, length = _row(point["kind"], point["seed"], data), point["length"]
        row["radii"] = row["radii"] ** (1 / length)
        cell_key, net_key, train_key, test_key = jr.split(key, 4)
        cell = cell_of(config, "plain", row, 2, key=cell_key)
        net = Recurrent.init(cell, outputs=1, key=net_key, readout="last")
        held_out = adding(HELD_OUT_SUMS, length, key=test_key)
        metrics = lambda net, data: {"error": sum_loss(net, held_out)}
        batch = lambda data, step, key: adding(config.batch, length, key=key)
        options = {"key": train_key, "batch": batch}
        return trained_network(net, row, sum_loss, config.adding_steps, 4, metrics, **options)[0]

    return lane


def _row(case: Any, seed: Any, data: Any) -> dict[str, Any]:
    row = {name: column[case] for name, column in data["table"].items()}
    return row | {name: row[name][seed] for name in ("radii", "angles")}


def pixel_data(config: Config, task: Pixels) -> dict[str, Any]:
    """The arrays that the lanes share; the permutation is one, the same for all."""
    length, last = task.train_x.shape[1], len(task.train_y) - config.validation
    images = max(1, 512 // length)
    return {
        "train_x": task.train_x[:last],
        "train_y": task.train_y[:last],
        "validation": (task.train_x[last:], task.train_y[last:]),
        "test": (task.test_x, task.test_y),
        "order": np.random.default_rng(0).permutation(length).astype(np.int32),
        "inputs": task.test_x[-images:].reshape(-1, 1),
    }


def train_on_pixels(
    config: Config, bench: Bench, data: Mapping[str, Any], rows: list[Case], *, pilot: bool = False
) -> xr.Dataset:
    """Every row trained, one sweep a family and number of steps; labelled by `case`."""
    parts: list[xr.Dataset] = []
    seeds, marks, stage = (1, 1, "pilot") if pilot else (config.seeds, config.marks, "pixels")
    curves = dict.fromkeys(("loss", "tuning", "accuracy"), ("mark",))
    for family, steps in dict.fromkeys((row.family, row.steps) for row in rows):
        ours = [row for row in rows if (row.family, row.steps) == (family, steps)]
        found = sweep(
            pixel_lane(config, family, steps, marks),
            {"case": range(len(ours)), "seed": range(seeds)},
            data={**data, "table": columns(ours)},
            dims=curves | (WEIGHTS if family == "plain" else {}),
            **config.sweep_options(bench, f"{stage}-{family}-{steps}", len(ours) * seeds),
        )
        labels = {n: [getattr(r, n) for r in ours] for n in ("name", "experiment", "value", "rate")}
        labels["every"] = [-(-steps // marks)] * len(ours)
        coordinates = {name: ("case", values) for name, values in labels.items()}
        parts.append(found.drop_vars("case").assign_coords(coordinates))
    return xr.concat(parts, dim="case", join="outer")


def best_rates(tried: xr.Dataset) -> dict[str, float]:
    """The rate at which each name was best on validation images."""
    score = tried.tuning.isel(mark=-1, seed=0)
    best = lambda ours: float(ours.rate[int(ours.values.argmax())])
    return {str(name): best(ours) for name, ours in score.groupby("name")}


def train_networks(
    config: Config, bench: Bench, task: Pixels, informed: InformedResidual
) -> xr.Dataset:
    """All networks of the sweeps over radius and angle, and all kinds, on pixels."""
    data, kinds = pixel_data(config, task), kinds_of_networks(config, task, informed)
    rates = dict.fromkeys((row.name for row in kinds), config.rates[0])
    if config.pilot_steps:
        short = {"steps": config.pilot_steps}
        tried = [dataclasses.replace(r, rate=rate, **short) for r in kinds for rate in config.rates]
        rates = best_rates(train_on_pixels(config, bench, data, tried, pilot=True))
    like = lambda row: "homogeneous" if row.experiment == "radius" else "rotational"
    named = [(row, like(row)) for row in swept_networks(config)] + [
        (row, row.name) for row in kinds
    ]
    rows = [dataclasses.replace(row, rate=rates[name]) for row, name in named]
    return train_on_pixels(config, bench, data, rows)


def train_on_sums(config: Config, bench: Bench) -> xr.Dataset:
    """The adding problem over length, kind and seed: errors at every mark."""
    rows = adding_networks(config)
    found = sweep(
        adding_lane(config),
        {"length": config.lengths, "kind": range(len(rows)), "seed": range(config.seeds)},
        static=("length",),
        data={"table": columns(rows)},
        dims={"loss": ("mark",), "error": ("mark",)},
        **config.sweep_options(bench, "adding", len(rows) * config.seeds),
    )
    return found.assign_coords(kind=[row.name for row in rows])
