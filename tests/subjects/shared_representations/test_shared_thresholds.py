"""Thresholds over many graphs and the bound along paths, of shared representations."""

import csv
import dataclasses
import pathlib
import sys

import matplotlib.pyplot as plt
import numpy as np
import pytest
import xarray as xr
from contrary_cases.shared_representations import PATHS, THRESHOLD, WIDE

from remanence.report import Bench
from remanence.subjects.shared_representations import random_graphs
from remanence.subjects.shared_representations.claims.threshold_1_2_12_14 import (
    comes_down_to_connectivity,
    connectivity_decides,
    path_evidence,
    wide_evidence,
    within_path_bound,
)
from remanence.subjects.shared_representations.config import FULL, QUICK
from remanence.subjects.shared_representations.gated_linear import bound_ratios, GatedLinear
from remanence.subjects.shared_representations.language_pairs import path_bound
from remanence.subjects.shared_representations.network_figures import (
    threshold_figure,
    wide_threshold_figure,
)
from remanence.subjects.shared_representations.random_graphs import (
    FRESH,
    fresh_graphs,
    logistic_threshold,
    square_graphs,
    thresholds_by_scale,
)
from remanence.subjects.shared_representations.training_cells import cell_numbers, train_cells


MODULE = sys.modules[bound_ratios.__module__]
KEPT = pathlib.Path(__file__).parents[3] / "docs/results/shared-representations/cells"


def forgetting_inverses(graph, residual):
    """The bound as if a path were a product of taught blocks alone."""
    return (1 + residual) ** ((graph.path_lengths + 1) / 2) - 1


def drawn_graphs(rng, *, scales=(0.3, 0.03), late=0.1, last=0.0, graphs=100):
    """Graphs that connect at .25; the first σ generalises `late` later, the last `last`."""
    share = np.linspace(0.16, 0.41, graphs)
    luck = rng.logistic(size=share.size) * 0.01
    many = lambda values: np.tile(values, len(scales))
    wait = np.repeat(np.linspace(late, last, len(scales)), share.size)
    columns = {
        "fraction": many(share),
        "scale": np.repeat(scales, share.size),
        "seed": many(np.arange(share.size)),
        "connected": many(share + luck > 0.25).astype(float),
        "algebraic": many(share),
        "test_loss": np.where(many(share + luck) > 0.25 + wait, 1e-5, 0.5),
        "ending": np.zeros(wait.size),
    }
    return xr.Dataset({name: ("cell", values) for name, values in columns.items()})


def test_the_threshold_is_where_the_runs_turn():
    rng = np.random.default_rng(1)
    share = np.linspace(0.16, 0.41, 400)
    hit = share + 0.02 * rng.logistic(size=share.size) > 0.27
    one = np.ones((1, share.size))
    assert logistic_threshold(share, hit, one)[0] == pytest.approx(0.27, abs=0.01)
    # Parted completely, and never reached.
    assert logistic_threshold(share, share > 0.3, one)[0] == pytest.approx(0.3, abs=0.003)
    assert logistic_threshold(share, np.zeros_like(hit), one)[0] == np.inf


def test_a_threshold_lies_as_far_above_connectivity_as_it_was_put():
    found = drawn_graphs(np.random.default_rng(2))
    fit = thresholds_by_scale(found)
    assert float(fit.above[0]) == pytest.approx(0.1, abs=3 * float(fit.above_error[0]))
    assert float(fit.above[1]) == float(fit.above_error[1]) == 0.0
    assert 0.0 < float(fit.connected_error) < 0.02


def test_a_run_that_was_given_up_does_not_generalise():
    found = drawn_graphs(np.random.default_rng(3))
    low = (found.scale == 0.03) & (found.fraction < 0.3)
    found["ending"] = xr.where(low, 1.0, found.ending)
    assert thresholds_by_scale(found).above[1] > 0.03


@pytest.mark.parametrize(
    ("changed", "verdict"),
    [
        ({}, "holds"),
        ({"disconnected_generalise": 1}, "refuted"),
        ({"above": [0.121, 0.0], "above_errors": [0.02, 0.0]}, "open"),
        ({"above": [0.121, -0.01]}, "refuted"),
        ({"above": [0.002, 0.002]}, "differs"),
        ({"above": [np.inf, np.inf], "above_errors": [np.inf, np.inf]}, "open"),
        # The quick run (2.2 ± 1.15 points) and the full one (0.8 ± 0.3).
        ({"above": [0.2, 0.022], "above_errors": [0.02, 0.0115]}, "open"),
        ({"above": [0.2, 0.008], "above_errors": [0.02, 0.003]}, "differs"),
    ],
)
def test_the_threshold_must_come_down_and_stay_above(changed, verdict):
    assert comes_down_to_connectivity({**WIDE, **changed}) == verdict


@pytest.mark.parametrize("kind", ["connected", "disconnected"])
def test_too_few_graphs_of_a_kind_decide_nothing(kind):
    assert connectivity_decides(THRESHOLD) == "holds"
    assert connectivity_decides(THRESHOLD | {kind: 4}) == "open"
    none = {kind: 0, f"{kind}_generalise": 0.0}
    assert connectivity_decides(THRESHOLD | none) == "open"


def planted_verdicts(late, *, graphs, draws=3):
    """Verdicts on drawn graphs whose threshold lies `late` above connectivity's."""
    rng, verdicts = np.random.default_rng(6), []
    for _ in range(draws):
        found = drawn_graphs(rng, late=0.1, last=late, graphs=graphs)
        fit = thresholds_by_scale(found)
        seen = {"above": fit.above.values, "above_errors": fit.above_error.values}
        verdicts.append(comes_down_to_connectivity(WIDE | seen))
    return verdicts


def test_a_planted_gap_is_found_and_no_gap_is_not():
    """Two points at the full run's 180 graphs; the quick run's 48 never say "holds"."""
    assert np.mean([v == "differs" for v in planted_verdicts(0.02, graphs=180)]) > 0.8
    none = planted_verdicts(0.0, graphs=180)
    assert "differs" not in none and "refuted" not in none
    assert "holds" not in planted_verdicts(0.02, graphs=48)


def test_the_claim_is_judged_on_graphs_that_no_choice_was_made_on():
    found = drawn_graphs(np.random.default_rng(4))
    assert fresh_graphs(found).sizes["cell"] == 200
    found["seed"] = found.seed + FRESH - 90
    assert fresh_graphs(found).sizes["cell"] == 20


def test_the_threshold_that_is_judged_is_the_one_that_is_drawn():
    """Old graphs, on which everything comes late, are neither judged nor drawn."""
    rng = np.random.default_rng(8)
    old, new = drawn_graphs(rng, late=0.15, last=0.15), drawn_graphs(rng, late=0.1, last=0.0)
    new["seed"] = new.seed + FRESH
    wide = xr.concat([old, new], "cell")
    evidence = wide_evidence({"wide": wide.assign(across=xr.ones_like(wide.test_loss))})
    figure = wide_threshold_figure(wide).draw()
    plt.close(figure)
    line = figure.axes[0].containers[0].lines[0]
    judged = dict(zip(evidence["scales"], evidence["thresholds"], strict=True))
    assert len(line.get_xdata()) == len(judged) == 2
    for scale, height in zip(line.get_xdata(), line.get_ydata(), strict=True):
        assert height == pytest.approx(judged[scale])


def test_kept_graphs_are_still_asked_for(monkeypatch, tmp_path):
    """Every line of the finished tables is a cell of the full profile."""
    asked = {}
    monkeypatch.setattr(
        random_graphs,
        "table",
        lambda name, cells, *_, **__: asked.update({name: cells}) or xr.Dataset(),
    )
    random_graphs.square_graphs(FULL, Bench(folder=tmp_path))
    random_graphs.wide_graphs(FULL, Bench(folder=tmp_path))
    for name, file in (("H = D", "graphs-h-d"), ("H > D", "graphs-h-above-d")):
        cells = asked[f"graphs, {name}"]
        fields = [field.name for field in dataclasses.fields(cells[0])]
        with (KEPT / f"{file}.csv").open(newline="") as lines:
            kept = {"_".join(row[f] for f in fields) for row in csv.DictReader(lines)}
        assert kept and kept <= {cell.name for cell in cells}
        assert len({cell.name for cell in cells}) == len(cells)


def worst_network(error):
    """Taught blocks 1 ± `error` in turn, so that the path's bound is attained."""
    said = np.array([1 + error, 1 - error])
    heard = np.array([1.0, (1 + error) / (1 - error)])
    eye = np.eye(3)
    return GatedLinear(said[:, None, None] * eye, eye, heard[:, None, None] * eye)


def test_the_bound_is_attained_and_one_without_inverses_is_broken(monkeypatch):
    T = np.array([[1.0, 0.0], [1.0, 1.0]])
    ratio = bound_ratios(worst_network(0.1), T)
    assert ratio[0, 1] == pytest.approx(1.0)
    monkeypatch.setattr(MODULE, "path_bound", forgetting_inverses)
    assert bound_ratios(worst_network(0.1), T)[0, 1] > 1.4


def test_trained_blocks_keep_their_bound_and_break_a_wrong_one(monkeypatch, tmp_path):
    config = dataclasses.replace(QUICK, graphs=12, graph_scales=(0.03,), graph_limit=400)
    asked: dict = {}
    monkeypatch.setattr(
        random_graphs,
        "table",
        lambda title, cells, *_, **__: asked.update(cells=cells) or xr.Dataset(),
    )
    square_graphs(config, Bench(folder=tmp_path))
    fits = list(train_cells(asked["cells"], stop=1e-6, limit=400, width=16))
    found = {}
    for bound in (path_bound, forgetting_inverses):
        monkeypatch.setattr(MODULE, "path_bound", bound)
        rows = [cell_numbers(asked["cells"][i], fit) for i, fit in fits]
        columns = {name: ("cell", [row[name] for row in rows]) for name in rows[0]}
        found[bound] = path_evidence({"graphs": xr.Dataset(columns)})
    right, wrong = found[path_bound], found[forgetting_inverses]
    assert within_path_bound(right) == "holds" and right["blocks"] > 100
    assert within_path_bound(wrong) == "refuted" and wrong["violations"] > 0


def test_a_bound_that_nothing_comes_near_does_not_hold():
    assert within_path_bound(PATHS | {"largest": 0.03}) == "differs"
    assert within_path_bound(PATHS | {"blocks": 0}) == "open"


def test_captions_say_what_is_left_out():
    found = drawn_graphs(np.random.default_rng(5))
    found["ending"] = xr.where(found.seed == 40, 1.0, found.ending)
    figure = threshold_figure(found)
    assert "2 of 200 do not" in figure.caption
    assert "among the 1 that did not" in figure.caption
    found["test_loss"] = xr.where(found.scale == 0.3, 0.5, found.test_loss)
    assert "At σ = 0.3 it lies above" in wide_threshold_figure(found).caption
