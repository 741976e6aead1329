r"""Shared representations: gated deep linear networks that translate.

$L$ languages of $D$ words are taught into each other, a few pairs only, by $W_o^k W_h W_i^l$. The notes
ask when the other pairs come for free. This study redoes their Figure 1 cell by cell, shows what its
mask did, and answers: the threshold is the connectivity of the graph of taught pairs; a smaller σ
cannot pass it; spikes are steps or sign barriers; and what σ a graph needs follows from its singular
values.

Chosen by us: the full mask is trained to Λ = 1e-6 by gradient flow; the diagonal mask by the
document's own SGD in float32 with its own draw.
"""

from collections.abc import Mapping
from typing import Any

import xarray as xr

from ...report import Bench, cross_table, Headline, Outcome, Row, Study
from . import toy_experiments as toy
from .claims import CLAIMS
from .config import Config, FULL, QUICK
from .figure_one import author_cells, figure_one, one_cell, retrained_spikes
from .figures import figures
from .random_graphs import square_graphs, wide_graphs
from .theory import equivalence_gaps, race, random_spectrum
from .training_cells import GENERALISES


def run(config: Config, bench: Bench) -> Outcome:
    """The author's cells, Figure 1, theory, toys, graphs; then the figure's spikes."""
    seed, data = bench.seed, {}
    author = author_cells(config, bench)
    if author is not None:
        data["author"] = author
    bench.tell(f"Figure 1 under both masks, {len(config.fractions)} fractions")
    data["diagonal"], data["full"] = figure_one(config, bench)
    bench.tell("random matrices and the race")
    data["random"] = random_spectrum(config.random_size, seed)
    data["race"] = race(config.race_seeds)
    bench.tell("the toy: alignment, times, sign barriers and their prediction")
    data["alignment"] = toy.alignment(config, seed)
    data["times"] = toy.times_to_half_loss(config, seed)
    data["barriers"] = toy.success_over_scale(config, seed)
    data["predictor"] = toy.predicted_success(config, seed)
    data["predicted_scales"] = toy.predicted_scales(config, seed)
    bench.tell("trainings on random graphs, H = D and H > D")
    data["graphs"] = square_graphs(config, bench)
    data["wide"] = wide_graphs(config, bench)
    bench.tell("the spikes of Figure 1 again, by the flow")
    again = retrained_spikes(config, data["diagonal"], bench)
    if again is not None:
        data["spikes"] = again
    return Outcome(
        results={**data, "equivalences": equivalence_gaps(seed)},
        data={**data, "cross": _cross(config, data)},
        figures=figures(data),
    )


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
        "full": "about an hour and a half on two cores: 32 words and units, the document's grid of 234 cells with its SGD and again with the full mask, its spikes by the flow, hundreds of graphs, its 18 sample cells compared if their file is there",
    },
    cell=one_cell,
    headline=Headline(
        claim="003.1",
        number="{connected_generalise:.0%} against {disconnected_generalise:.0%}",
        sentence="of trained networks translate untaught pairs: where the graph of taught pairs is connected, and where it is not.",
    ),
)
