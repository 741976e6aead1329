r"""Modular addition: the Fourier circuit inside a recurrent network, found and written down.

A network that reads a, b and `=` learns a + b modulo P by turning numbers into
waves, $\cos\frac{2\pi k a}{P}$ and $\sin\frac{2\pi k a}{P}$ at a few frequencies $k$. This study trains such networks, takes them apart by frequency, rank and
ablation, writes one down in closed form, and asks what changes with the cell,
the operation and the recipe.
"""

from typing import Any

from ...report import Bench, cross_table, Headline, Outcome, Study
from ..references import REFERENCES
from .ablations import ablations
from .claims import CLAIMS
from .config import Config, FULL, QUICK
from .dissection import dissect
from .dynamics import compare_adders, cross_row, measure_dynamics, pad_network
from .exact_adder import adder
from .figures import Findings, pictures
from .frequency_counts import count_frequencies
from .tables import histories_by_seed, margins_over_frequencies, spectra_by_seed
from .task import Modular
from .training import other_network, trained_network


MODULI = (3, 4, 12, 17, 31, 59, 64, 97, 113)
"""Moduli at which the adder is written down: odd, even, prime and not."""


def run(config: Config, bench: Bench) -> Outcome:
    """Train, take apart, write down, compare."""
    task = Modular(config.main.modulus)
    seeds = tuple(bench.seed + s for s in config.seeds)
    fits = [trained_network(task, config.main, bench, seed=seed) for seed in seeds]
    found, cuts = [], []
    for seed, fit in zip(seeds, fits, strict=True):
        bench.tell(f"taking apart seed {seed}")
        found.append(dissect(fit.net, task, up_to=config.ranks))
        if not found[-1].key:
            break
        bench.tell(f"removing frequencies of seed {seed}")
        pairs = config.all_pairs if seed == seeds[0] else ()
        options = {"subsets": config.subsets, "seed": seed, "pairs": pairs}
        cuts.append(ablations(fit.net, task, found[-1].key, **options))
    results: dict[str, Any] = {"fits": fits, "dissections": found}
    histories = histories_by_seed(fits, seeds)
    if not all(d.key for d in found):
        # Nothing to cut: recorded as what it is, the other claims stay open.
        return Outcome(results=results, data={"training": histories}, figures=())
    bench.tell("writing adders down")
    exact = adder(task.modulus, found[0].key)
    # In arrays of the learned one's size, so that both are measured by the same programs.
    wide = pad_network(exact.net, like=fits[0].net)
    exact_found = dissect(wide, task, up_to=1)
    exact_cuts = ablations(wide, task, exact.frequencies, subsets=config.subsets, seed=seeds[0])
    margins = margins_over_frequencies(task)
    bench.tell("exponents of the learned adders")
    options = {"steps": config.exponent_steps}
    dynamics = [
        measure_dynamics(
            fit.net, task, seed=seed, thorough=config.thorough and seed == seeds[0], **options
        )
        for seed, fit in zip(seeds, fits, strict=True)
    ]
    exact_dynamics = measure_dynamics(
        wide, task, seed=bench.seed, thorough=config.thorough, **options
    )
    cells = {c: other_network(config.others, bench, cell=c) for c in config.cells}
    operations = {op: other_network(config.others, bench, operation=op) for op in config.operations}
    bench.tell("counting frequencies against fraction, decay and width")
    counts = count_frequencies(config, bench)
    comparison = compare_adders(fits[0].net, found[0], cuts[0], exact, exact_found, exact_cuts)
    results |= {
        "cut dissections": found,
        "ablations": cuts,
        "exact adders": [*(adder(P) for P in MODULI), exact],
        "dynamics": dynamics,
        "exact dynamics": exact_dynamics,
        "cells": cells,
        "operations": operations,
        "counts": counts,
        "comparison": comparison,
    }
    name = f"modular adder, P = {task.modulus}"
    rank, units = found[0].ranks["W_hh"].rank, 4 * len(exact.frequencies)
    rows = [
        cross_row(f"{name}, learned", fits[0].net, dynamics[0], rank=rank, key=found[0].key),
        cross_row(f"{name}, exact", exact.net, exact_dynamics, rank=units, key=exact.frequencies),
    ]
    findings = Findings(
        task, seeds, histories, found, cuts, exact_found, margins, comparison, counts
    )
    data = {
        "training": histories,
        "spectra": spectra_by_seed(found, seeds),
        "counts": counts,
        "margins": margins,
        "cross": cross_table(rows),
    }
    if cuts[0].pairs is not None:
        data["pairs"] = cuts[0].pairs.to_dataset()
    return Outcome(results=results, data=data, figures=pictures(findings))


STUDY = Study(
    name="modular-addition",
    document="002",
    title="Modular addition: Fourier structure in a trained RNN",
    reference=REFERENCES["modular-addition"].text,
    claims=CLAIMS,
    profiles={"quick": QUICK, "full": FULL},
    run=run,
    cost={"quick": "about a minute", "full": "about twenty minutes"},
    headline=Headline(
        claim="002.1",
        number="{counts[0]} of {possible}",
        sentence="frequencies carry modular addition in the output weights of a trained network.",
        panel=2,
    ),
)
