r"""Shared representations: gated deep linear networks that translate.

$L$ languages of $D$ words are taught into each other, a few pairs only, by
$W_o^k W_h W_i^l$. The notes ask when the other pairs come for free. This study
redoes their Figure 1 cell by cell, shows what its mask did, and answers: the threshold
is the connectivity of the graph of taught pairs; a smaller σ cannot pass it; spikes
are steps or sign barriers; and what σ a graph needs follows from its singular values.

Chosen by us: the full mask is trained to Λ = 1e-6, by gradient flow in the full profile
and by float32 descent with a safe step in the quick one; the diagonal mask by the
document's own SGD in float32 with its own draw.
"""

import math
import time
from collections.abc import Mapping
from typing import Any

import xarray as xr

from ...report import Bench, cross_table, Headline, Outcome, Row, Study
from .claims import CLAIMS
from .config import Config, FULL, QUICK
from .equivalences import equivalence_gaps
from .figure_one import author_cells, figure_one, stages
from .figures import figures
from .one_cell import one_cell
from .path_bounds import ratios_to_path_bound
from .race_reduction import race
from .random_graphs import graphs_of_one_fraction, square_graphs, wide_graphs
from .random_matrices import random_spectrum
from .spikes import retrained_spikes
from .toy_alignment import alignment, times_to_half_loss
from .toy_barriers import predicted_scales, predicted_success, success_over_scale
from .training_cells import GENERALISES


def run(config: Config, bench: Bench) -> Outcome:
    """Figure 1 on a coarse grid, theory, toys, graphs, the finer grids; then its spikes.

    Every cell is kept at once, so a stopped run loses little. Under a time limit the
    finer grids go as far as it allows.
    """
    limit = math.inf if bench.time_limit is None else 0.85 * bench.time_limit
    until, seed = time.monotonic() + limit, bench.seed
    data: dict[str, xr.Dataset] = {}
    author = author_cells(config, bench)
    if author is not None:
        data["author"] = author
    coarse, *finer = stages(config.fractions)
    bench.tell(f"Figure 1 under both masks, {len(coarse)} fractions")
    data["diagonal"], data["full"] = figure_one(config, coarse, bench)
    bench.tell("random matrices and the race")
    data["random"] = random_spectrum(config.random_size, seed)
    data["race"] = race(config.race_seeds)
    bench.tell("the toy: alignment, times, sign barriers and their prediction")
    data["alignment"] = alignment(config, seed)
    data["times"] = times_to_half_loss(config, seed)
    data["barriers"] = success_over_scale(config, seed)
    data["predictor"] = predicted_success(config, seed)
    data["predicted_scales"] = predicted_scales(config, seed)
    bench.tell("trainings on random graphs, H = D and H > D")
    data["graphs"] = square_graphs(config, bench)
    data["wide"] = wide_graphs(config, bench)
    data["single"] = graphs_of_one_fraction(config, bench)
    data["paths"] = ratios_to_path_bound(config, bench)
    for fractions in finer:
        bench.tell(f"Figure 1 again, {len(fractions)} fractions")
        data["diagonal"], data["full"] = figure_one(
            config, fractions, bench, until=until
        )
    bench.tell("the spikes of Figure 1 again, other ways")
    again = retrained_spikes(config, _published_cells(data), bench)
    if again is not None:
        data["spikes"] = again
    return Outcome(
        results={**data, "equivalences": equivalence_gaps(seed)},
        data={**data, "cross": _cross(config, data)},
        figures=figures(data),
    )


def _published_cells(data: Mapping[str, xr.Dataset]) -> xr.Dataset:
    """The grid's cells and the author's of its size, each once."""
    grid, author = data["diagonal"], data.get("author")
    if author is None or author.words[0] != grid.words[0]:
        return grid
    cells = xr.concat([grid, author[list(grid)]], "cell", combine_attrs="override")
    names = ("fraction", "scale", "seed")
    keys = zip(*(cells[name].values for name in names), strict=True)
    places = {key: place for place, key in enumerate(keys)}
    return cells.isel(cell=sorted(places.values()))


def _cross(config: Config, data: Mapping[str, xr.Dataset]) -> xr.Dataset:
    """A gated linear network has no time: only its dimension and rank have a meaning."""
    rows: list[Any] = []
    for mask in ("full", "diagonal"):
        rank = data[mask]["rank"].where(data[mask].test_loss < GENERALISES)
        if rank.notnull().any():
            name = f"gated linear, {mask} mask, D = {config.words}"
            median = round(float(rank.median()), 1)
            rows.append(Row(network=name, dimension=config.units, rank=median))
    return cross_table(rows)


STUDY = Study(
    name="shared-representations",
    document="003",
    title="Shared representations: gated deep linear networks",
    reference="Notes on gated deep linear networks (unpublished), after Saxe, Sodhani and Lewallen (2022), The neural race reduction: dynamics of abstraction in gated networks, ICML, arXiv:2207.10430",
    claims=CLAIMS,
    profiles={"quick": QUICK, "full": FULL},
    run=run,
    cost={
        "quick": "about a minute: six words, a coarse grid",
        "full": "about an hour and a half on two cores: 32 words and units, the document's grid of 234 cells with its SGD and again with the full mask, its spikes two other ways, hundreds of graphs, its 18 sample cells compared if their file is there",
    },
    cell=one_cell,
    headline=Headline(
        claim="003.1",
        number="{connected_generalise:.0%} against {disconnected_generalise:.0%}",
        sentence="of trained networks translate untaught pairs: where the graph of taught pairs is connected, and where it is not.",
    ),
)
