"""Networks by their recipe, and what the number of frequencies depends on: a map of recipes."""

import dataclasses
import statistics
from collections.abc import Sequence
from typing import Any

import numpy as np
import xarray as xr

from ...measure.fourier import key_frequencies
from ...nets import Recurrent
from ...report import Bench
from ...train import Fit
from .ablation import ablated_accuracies
from .config import Config, Recipe
from .dissection import dissect, node_tables, NODES, profile
from .fit_modular import fit_modular
from .task import Modular


DIALS = ("activation", "start", "fraction", "weight_decay", "units", "steps")
LEARNED = 0.99
"""Held-out accuracy from which a network has learned."""


def overlap(one: Sequence[int], other: Sequence[int]) -> float:
    """Size of the intersection over that of the union."""
    return len({*one} & {*other}) / max(len({*one} | {*other}), 1)


def trained_network(
    recipe: Recipe, bench: Bench, *, seed: int, cell: str = "elman", operation: str = "+"
) -> Fit:
    """One network by a recipe, kept in a folder of its own."""
    bench.tell(f"training {cell}, {operation} modulo {recipe.modulus}, seed {seed}")
    words = {"+": "plus", "-": "minus", "×": "times"}[operation]
    dials = (str(getattr(recipe, name)) for name in ("modulus", *DIALS))
    asked = {"cell": cell, "operation": operation, "seed": seed}
    folder = bench.folder / "-".join([cell, words, *dials, str(seed)])
    return fit_modular(recipe, folder=folder, quiet=bench.quiet, **asked)


def other_network(
    recipe: Recipe, bench: Bench, *, cell: str = "elman", operation: str = "+"
) -> dict[str, Any]:
    """Another cell or operation: what it reached and which frequencies it uses."""
    fit = trained_network(recipe, bench, seed=bench.seed, cell=cell, operation=operation)
    task = Modular(recipe.modulus, operation)
    tables = node_tables(fit.model, task)
    nodes = {n: key_frequencies(profile(tables[n], task, n)) for n in NODES}
    key = nodes["W_fc"].frequencies
    return {
        "held_out": float(fit.history.held_out[-1]),
        "count": len(key),
        "frequencies": list(key),
        "share": nodes["W_fc"].share,
        "shared": statistics.fmean(overlap(nodes[n].frequencies, key) for n in NODES),
    }


def recipes_of(config: Config) -> list[Recipe]:
    """Every centre, and each with one dial moved, once."""
    turns = [{name: value} for name, values in config.dials for value in values]
    moved = [dataclasses.replace(centre, **turn) for centre in config.centres for turn in turns]
    return list(dict.fromkeys((*config.centres, *moved)))


def recipe_map(config: Config, bench: Bench) -> xr.Dataset:
    """Count, ranks, robustness and error of the fit over recipes and seeds; NaN if not learned."""
    recipes, columns = recipes_of(config), {}
    shape = (len(recipes), config.map_seeds)
    for i, j in np.ndindex(shape):
        fit = trained_network(recipes[i], bench, seed=bench.seed + j)
        row = {"held_out": float(fit.history.held_out[-1])}
        if row["held_out"] >= LEARNED:
            row |= network_numbers(fit.model, Modular(recipes[i].modulus), ranks=config.ranks)
        for name, value in row.items():
            columns.setdefault(name, np.full(shape, np.nan))[i, j] = value
    columns.setdefault("count", np.full(shape, np.nan))
    return xr.Dataset(
        {name: (("recipe", "seed"), values) for name, values in columns.items()}
        | {name: ("recipe", [getattr(recipe, name) for recipe in recipes]) for name in DIALS}
        | {"centre": ("recipe", [recipe in config.centres for recipe in recipes])}
    )


def network_numbers(net: Recurrent, task: Modular, *, ranks: int) -> dict[str, float]:
    """One network by frequency, rank and ablation, as numbers."""
    found = dissect(net, task, up_to=ranks)
    single = ablated_accuracies(net, task, [(k,) for k in found.key], at="embedding")
    least = min(overlap(found.nodes[n].frequencies, found.key) for n in NODES)
    return {
        "count": len(found.key),
        "least_overlap": least,
        "one_removed": float(single.mean()) if found.key else np.nan,
        "fit_error": float(np.median(list(found.fits.values()) or [np.nan])),
    } | {f"rank_{name}": low.rank or np.nan for name, low in found.ranks.items()}


def one_dial(recipes: xr.Dataset) -> dict[str, list[xr.DataArray]]:
    """For each dial that was moved, by centre: the counts of the networks over its values."""
    dials, moved = recipes[list(DIALS)].to_dataframe(), {}
    for centre in np.flatnonzero(recipes.centre):
        same = dials == dials.iloc[centre]
        for name in DIALS:
            beside = np.flatnonzero(same.drop(columns=name).all(axis=1))
            if len(beside) > 1:
                counts = recipes["count"][beside].rename(recipe=name)
                counts[name] = dials[name].iloc[beside].to_numpy()
                moved.setdefault(name, []).append(counts.sortby(name))
    return moved
