"""From a configuration to evidence, labelled numbers and figures."""

from typing import Any

from ...report import Bench, cross_table, Outcome
from .ablations import ablations
from .config import Config
from .counting import counted
from .dissection import dissected
from .dynamics import compared, cross_row, forgetting, widened
from .evidence import (
    causality,
    controls,
    dependence,
    fitting,
    number,
    pairing,
    ranks,
    robustness,
    sharing,
)
from .exact_adder import Adder, adder
from .figures import Findings, pictures
from .tables import histories_by_seed, margins_over_frequencies, spectra_by_seed
from .task import Modular
from .training import elsewhere, trained_network


WRITTEN = (3, 4, 12, 17, 31, 59, 64, 97, 113)
"""Moduli at which the adder is written down, odd, even, prime and not."""


def run(config: Config, bench: Bench) -> Outcome:
    """Train, take apart, write down, compare."""
    task = Modular(config.main.modulus)
    seeds = tuple(bench.seed + s for s in config.seeds)
    fits = [trained_network(task, config.main, bench, seed=seed) for seed in seeds]
    found, cuts = [], []
    for seed, fit in zip(seeds, fits, strict=True):
        bench.tell(f"taking apart seed {seed}")
        found.append(dissected(fit.net, task, up_to=config.ranks))
        key = found[-1].key
        if not key:
            break
        bench.tell(f"removing frequencies of seed {seed}")
        pairs = config.all_pairs if seed == seeds[0] else ()
        cuts.append(
            ablations(
                fit.net, task, key, subsets=config.subsets, seed=seed, pairs=pairs
            )
        )
    if not all(d.key for d in found):
        # Nothing to cut: recorded as what it is, the other statements stay open.
        evidence = {"002.1": sharing(found)}
        return Outcome(
            evidence=evidence,
            data={"training": histories_by_seed(fits, seeds)},
            figures=(),
        )
    bench.tell("writing adders down")
    written = [adder(P) for P in WRITTEN]
    twin = adder(task.modulus, found[0].key)
    # In arrays of the learned one's size, so that both are measured by the same programs.
    wide = widened(twin.net, like=fits[0].net)
    twin_found = dissected(wide, task, up_to=1)
    twin_cuts = ablations(
        wide, task, twin.frequencies, subsets=config.subsets, seed=seeds[0]
    )
    margins = margins_over_frequencies(task)
    bench.tell("exponents of the learned adders")
    forgot = [
        forgetting(
            fit.net,
            task,
            steps=config.exponent_steps,
            seed=seed,
            thorough=config.thorough and seed == seeds[0],
        )
        for seed, fit in zip(seeds, fits, strict=True)
    ]
    twin_forgot = forgetting(
        wide,
        task,
        steps=config.exponent_steps,
        seed=bench.seed,
        thorough=config.thorough,
    )
    cells = {cell: elsewhere(config.others, bench, cell=cell) for cell in config.cells}
    operations = {
        op: elsewhere(config.others, bench, operation=op) for op in config.operations
    }
    bench.tell("counting frequencies against fraction, decay and width")
    counts = counted(config, bench)
    alike = compared(fits[0].net, found[0], cuts[0], twin, twin_found, twin_cuts)
    evidence = {
        "002.1": sharing(found),
        "002.2": ranks(found, fits),
        "002.3": pairing(found),
        "002.4": fitting(found),
        "002.5": robustness(cuts, found),
        "002.6": {
            "counts": [len(d.key) for d in found],
            "ranks": ranks(found, fits)["ranks"],
        },
        "002.7": causality(cuts),
        "002.8": controls(found, fits, cuts),
        "002.9": {"networks": cells},
        "002.10": {"networks": operations},
        "002.11": {"tried": [_row(built) for built in [*written, twin]]},
        "002.12": alike,
        "002.13": {
            "exponents": [number(f["exponent"]) for f in forgot],
            "stderr": [number(f.get("stderr")) for f in forgot],
            "rates": [f["rate"] for f in forgot],
            "metrics": [f["metric"] for f in forgot],
            "radius": [f["radius"] for f in forgot],
            "outcomes": [f["outcome"] for f in forgot],
            "growing": [f.get("growing") for f in forgot],
            "lost": [f.get("lost") for f in forgot],
            "horizons": forgot[0]["horizons"],
            "written": {
                "exponent": number(twin_forgot["exponent"]),
                "rate": twin_forgot["rate"],
                "metric": twin_forgot["metric"],
                "horizons": twin_forgot["horizons"],
            },
        },
        "002.14": dependence(counts),
        "002.15": {
            "gap": alike["ablation_gap"],
            "learned": {place: both[0] for place, both in alike["ablation"].items()},
            "written": {place: both[1] for place, both in alike["ablation"].items()},
        },
    }
    rank = found[0].ranks["W_hh"].rank
    rows = [
        cross_row(
            f"modular adder, P = {task.modulus}, learned",
            fits[0].net,
            forgot[0],
            rank=rank,
            key=found[0].key,
        ),
        cross_row(
            f"modular adder, P = {task.modulus}, written",
            twin.net,
            twin_forgot,
            rank=4 * len(twin.frequencies),
            key=twin.frequencies,
        ),
    ]
    histories = histories_by_seed(fits, seeds)
    findings = Findings(
        task, seeds, histories, found, cuts, twin_found, margins, alike, counts
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
    return Outcome(evidence=evidence, data=data, figures=pictures(findings))


def _row(built: Adder) -> dict[str, Any]:
    return {
        "modulus": built.task.modulus,
        "frequencies": list(built.frequencies),
        "units": built.units,
        "margin": built.margin,
        "rounding": built.rounding,
        "right": built.accuracy,
    }
