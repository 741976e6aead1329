"""The experiments in order, and the evidence that they give."""

import math
import time
from collections.abc import Mapping

import xarray as xr

from ...report import Bench, Outcome
from ...report.cross import cross_table, Row
from . import (
    graph_claims,
    mask_claims,
    path_claims,
    spike_claims,
    theory_claims,
    toy_claims,
    wide_claims,
)
from .aligned import alignment, clocks
from .config import Config
from .figure_one import figure_one, GENERALISES, samples, samples_of_the_grid, stages
from .figures import figures
from .graphs import counted, single_fraction, square, wide
from .paths import paths
from .spikes import spike_limits, spikes
from .theory import equivalences, random_spectrum
from .toys import foretold_scales, predictor, race, walls


def run(config: Config, bench: Bench) -> Outcome:
    """Figure 1 on a coarse grid, theory, toys, graphs, the finer grids; then claims.

    Every cell is kept at once, so a stopped run loses little. Under a time limit the
    finer grids go as far as it allows.
    """
    limit = math.inf if bench.time_limit is None else 0.85 * bench.time_limit
    until = time.monotonic() + limit
    data: dict[str, xr.Dataset] = {}
    found = samples(config, bench)
    if found is not None:
        data["samples"] = found
    coarse, *finer = stages(config.fractions)
    bench.tell(f"Figure 1 under both masks, {len(coarse)} fractions")
    data["diagonal"], data["full"] = figure_one(config, coarse, bench)
    bench.tell("random matrices, equivalences and the race")
    data["random"] = random_spectrum(config.random_size, bench.seed)
    same = equivalences(bench.seed)
    data["race"] = race(config)
    bench.tell("the toy: alignment, clocks, walls, the predictor")
    data["alignment"] = alignment(config, bench.seed)
    data["clocks"] = clocks(config, bench.seed)
    data["walls"] = walls(config, bench.seed)
    data["predictor"] = predictor(config, bench.seed)
    data["foretold_scales"] = foretold_scales(config, bench.seed)
    bench.tell(counted(config))
    data["graphs"] = square(config, bench)
    data["wide"] = wide(config, bench)
    data["single"] = single_fraction(config, bench)
    data["paths"] = paths(config, bench)
    for fractions in finer:
        bench.tell(f"Figure 1 again, {len(fractions)} fractions")
        data["diagonal"], data["full"] = figure_one(
            config, fractions, bench, until=until
        )
    flow = " and by the flow" if "flow" in spike_limits(config) else ""
    bench.tell(f"its spikes again, with a safe step{flow}")
    again = spikes(config, _all_cells(data), bench)
    if again is not None:
        data["spikes"] = again
    evidence = {
        **graph_claims.evidence(config, data),
        **wide_claims.evidence(config, data),
        **path_claims.evidence(data),
        **spike_claims.evidence(config, data),
        **mask_claims.evidence(config, data),
        **toy_claims.evidence(data),
        **theory_claims.evidence(data, same),
    }
    return Outcome(
        evidence=evidence,
        data={**data, "cross": _cross(config, data)},
        figures=figures(data),
    )


def _all_cells(data: Mapping[str, xr.Dataset]) -> xr.Dataset:
    """The grid's cells and the author's, each once."""
    theirs = samples_of_the_grid(data)
    seen = [data["diagonal"], *([] if theirs is None else [theirs])]
    cells = xr.concat([part[list(data["diagonal"])] for part in seen], "cell")
    keys = zip(
        cells.fraction.values, cells.scale.values, cells.seed.values, strict=True
    )
    places = {key: place for place, key in enumerate(keys)}
    return cells.isel(cell=sorted(places.values()))


def _cross(config: Config, data: Mapping[str, xr.Dataset]) -> xr.Dataset:
    """A gated linear network has no time: only its dimension and rank have a meaning."""
    rows = []
    for mask in ("full", "diagonal"):
        low = data[mask].where(data[mask].test_loss < GENERALISES, drop=True)
        if low.sizes["cell"]:
            rows.append(
                Row(
                    network=f"gated linear, {mask} mask, D = {config.words}",
                    dimension=config.units,
                    rank=round(float(low["rank"].median()), 1),
                )
            )
    return cross_table(rows)
