r"""Modular addition: the Fourier circuit inside a recurrent network, found and written down.

A network that reads a, b and `=` learns a + b modulo P by turning numbers into
waves, $\cos(2\pi k a/P)$ and $\sin(2\pi k a/P)$ at a few frequencies $k$. This
study trains such networks, dissects them by frequency, rank and ablation, writes one down in
closed form, and asks what changes with the cell, the operation and the recipe.
"""

from typing import Any

import xarray as xr

from ...cells import dimension
from ...report import Bench, cross_table, Headline, Outcome, Row, Study
from ..references import REFERENCES
from .ablation import ablations
from .claims import CLAIMS
from .config import Config, FULL, QUICK
from .dissection import compare_adders, dissect, measure_dynamics
from .exact_adder import adder
from .figures import figures
from .recipes import other_network, recipe_map, trained_network
from .task import Modular


MODULI = (3, 4, 12, 17, 31, 59, 64, 97, 113)
"""Moduli at which the adder is written down: odd, even, prime and not."""


def run(config: Config, bench: Bench) -> Outcome:
    """Train, dissect, write down, compare."""
    task = Modular(config.main.modulus)
    bench.tell("counting frequencies, one dial of the recipe at a time")
    recipes = recipe_map(config, bench)
    seeds = tuple(bench.seed + s for s in config.seeds)
    fits = [trained_network(config.main, bench, seed=seed) for seed in seeds]
    per_seed = xr.IndexVariable("seed", list(seeds))
    histories = xr.concat([fit.history for fit in fits], per_seed, join="exact")
    bench.tell("dissecting them")
    found = [dissect(fit.model, task, up_to=config.ranks) for fit in fits]
    results: dict[str, Any] = {"fits": fits, "dissections": found, "recipes": recipes}
    if not all(each.key for each in found):
        # Nothing to cut: recorded as what it is, the other claims stay open.
        return Outcome(results=results, data={"training": histories}, figures=())
    bench.tell("removing frequencies")
    cuts = [
        ablations(fit.model, task, each.key, subsets=config.subsets, seed=seed)
        for seed, fit, each in zip(seeds, fits, found, strict=True)
    ]
    bench.tell("writing adders down")
    exact = adder(task.modulus, found[0].key)
    exact_cuts = ablations(exact.net, task, found[0].key, subsets=config.subsets, seed=seeds[0])
    bench.tell("exponents of learned and written adders")
    nets = [(s, fit.model) for s, fit in zip(seeds, fits, strict=True)] + [(bench.seed, exact.net)]
    *dynamics, exact_dynamics = (
        measure_dynamics(net, task, steps=config.exponent_steps, seed=s) for s, net in nets
    )
    comparison = compare_adders(task, (fits[0].model, cuts[0]), (exact.net, exact_cuts))
    results |= {
        "cut dissections": found,
        "ablations": cuts,
        "exact adders": [*(adder(P) for P in MODULI), exact],
        "dynamics": dynamics,
        "cells": {c: other_network(config.others, bench, cell=c) for c in config.cells},
        "operations": {
            op: other_network(config.others, bench, operation=op) for op in config.operations
        },
        "comparison": comparison,
    }
    units, rank = 4 * len(exact.frequencies), found[0].ranks["W_hh"].rank
    networks = {
        "learned": (fits[0].model, dynamics[0], rank, found[0].key),
        "exact": (exact.net, exact_dynamics, units, exact.frequencies),
    }
    rows = [
        Row(
            network=f"modular adder, P = {task.modulus}, {name}",
            dimension=dimension(net.cell),
            largest_exponent=seen["exponent"],
            certified_rate=seen["rate"],
            window=seen["window"],
            rank=rank,
            key_frequencies=", ".join(map(str, key)),
        )
        for name, (net, seen, rank, key) in networks.items()
    ]
    data = {"training": histories, "recipes": recipes, "cross": cross_table(rows)}
    return Outcome(results=results, data=data, figures=figures(found[0], cuts, data, comparison))


STUDY = Study(
    name="modular-addition",
    document="002",
    title="Modular addition: Fourier structure in a trained RNN",
    reference=REFERENCES["modular-addition"].text,
    claims=CLAIMS,
    profiles={"quick": QUICK, "full": FULL},
    run=run,
    cost={
        "quick": "about a minute",
        "full": "hours on two cores: some twenty recipes at P = 113, two seeds, 5,000 steps each; then three fresh seeds of the declared one",
    },
    headline=Headline(
        claim="002.1",
        number="{counts[0]} of {possible}",
        sentence="frequencies carry modular addition in the output weights of a trained network.",
        panel=2,
    ),
)
