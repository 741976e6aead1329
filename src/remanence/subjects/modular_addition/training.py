"""Networks trained for this study, and what another cell or operation reaches."""

import dataclasses
from typing import Any

from ...measure.fourier import key_frequencies
from ...report import Bench
from .ablation import modular_accuracy
from .config import Recipe
from .dissection import node_tables, NODES, profile
from .fit_modular import fit_modular, ModularFit
from .numbers import mean, overlap
from .task import Modular


def trained_network(
    task: Modular,
    recipe: Recipe,
    bench: Bench,
    *,
    seed: int,
    cell: str = "elman",
    record_spectra: bool = True,
) -> ModularFit:
    """One network by a recipe, kept in a folder of its own."""
    bench.tell(f"training {cell}, {task.operation} modulo {task.modulus}, seed {seed}")
    settings = dataclasses.asdict(recipe)
    del settings["modulus"]
    words = {"+": "plus", "-": "minus", "×": "times"}[task.operation]
    folder = bench.folder / f"{cell}-{words}-{task.modulus}-{seed}"
    return fit_modular(
        task,
        seed=seed,
        cell=cell,
        record_spectra=record_spectra,
        folder=folder,
        quiet=bench.quiet,
        **settings,
    )


def other_network(
    recipe: Recipe, bench: Bench, *, cell: str = "elman", operation: str = "+"
) -> dict[str, Any]:
    """Another cell or operation: what it reached and which frequencies it uses."""
    task = Modular(recipe.modulus, operation)
    fit = trained_network(task, recipe, bench, seed=bench.seed, cell=cell, record_spectra=False)
    tables = node_tables(fit.net, task)
    nodes = {n: key_frequencies(profile(tables[n], task, n)) for n in NODES}
    key = nodes["W_fc"].frequencies
    return {
        "held_out": modular_accuracy(fit.net, task, pairs=~fit.seen),
        "count": len(key),
        "frequencies": list(key),
        "share": nodes["W_fc"].share,
        "shared": mean(overlap(nodes[n].frequencies, key) for n in NODES),
    }
