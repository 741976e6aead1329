"""Spikes of Figure 1: which are tried again, what becomes of them, how they are drawn."""

import csv
import dataclasses
import pathlib

import matplotlib.pyplot as plt
import numpy as np
import pytest
import xarray as xr

from remanence.report import Bench
from remanence.subjects.shared_representations.claims.figure_one_3_4_13 import (
    spikes_are_numerical,
    spikes_evidence,
)
from remanence.subjects.shared_representations.config import FULL, QUICK
from remanence.subjects.shared_representations.figure_one import highest_spikes, retrained_spikes
from remanence.subjects.shared_representations.network_figures import spikes_figure


def test_an_unfinished_run_says_nothing_about_a_spike():
    """Real where the finished flow has it too; undecided where it did not finish."""
    again = xr.Dataset(
        {"flow": ("cell", [0.4, 1e-5, 0.4, 1e-6]), "flow_ending": ("cell", [0.0, 0.0, 1.0, 0.0])}
    )
    told = spikes_evidence({"spikes": again})
    assert told == {"tried": 4, "step_only": 2, "real": 1, "undecided": 1}
    assert spikes_evidence({})["tried"] == 0


@pytest.mark.parametrize(
    ("step_only", "real", "undecided", "verdict"),
    [
        (0, 0, 0, "open"),
        (0, 0, 4, "open"),
        (1, 1, 3, "open"),
        (1, 1, 0, "open"),  # too few to speak of
        (2, 5, 3, "differs"),
        (2, 1, 2, "differs"),
        (7, 25, 0, "differs"),  # the full run
        (0, 6, 0, "open"),  # the quick run: too few to miss no fifth of the others
        (0, 13, 0, "open"),
        (0, 14, 0, "refuted"),
        (14, 0, 1, "holds"),
        (14, 0, 15, "open"),
    ],
)
def test_spikes_are_judged_only_where_enough_are_decided(step_only, real, undecided, verdict):
    counts = {"step_only": step_only, "real": real, "undecided": undecided}
    assert spikes_are_numerical(counts) == verdict


def test_a_fifth_of_the_other_kind_is_found():
    """Planted among 32 spikes, as the full run has: seen in nearly every draw."""
    rng = np.random.default_rng(0)
    planted = rng.binomial(32, 0.2, size=2_000)
    verdicts = [
        spikes_are_numerical({"step_only": n, "real": 32 - n, "undecided": 0})
        for n in planted.tolist()
    ]
    assert np.mean([verdict == "differs" for verdict in verdicts]) > 0.99


def test_the_full_runs_spikes_are_told_apart_by_the_flow_alone():
    path = pathlib.Path(__file__).parents[3] / "docs/results/shared-representations/spikes.csv"
    with path.open(newline="") as lines:
        rows = list(csv.DictReader(lines))
    columns = {n: ("cell", [float(row[n]) for row in rows]) for n in ("flow", "flow_ending")}
    kinds = spikes_evidence({"spikes": xr.Dataset(columns)})
    assert kinds == {"tried": 32, "step_only": 7, "real": 25, "undecided": 0}


def test_the_tallest_are_chosen_at_each_scale():
    """Neither the disconnected, the unfinished, the low nor a σ without spikes."""
    columns = {
        "scale": [1e-3, 1e-4, 1e-3, 1e-3, 1e-4, 1e-2, 1e-3, 1e-4],
        "test_loss": [0.5, 9.0, 2.0, 1.0, 20.0, 0.3, 7.0, 1e-6],
        "connected": [1, 1, 1, 1, 1, 1, 0, 1],
        "ending": [0, 0, 0, 0, 1, 0, 0, 0],
    }
    cells = xr.Dataset({name: ("cell", v) for name, v in columns.items()})
    chosen = highest_spikes(dataclasses.replace(FULL, spikes=2), cells)
    assert chosen.tolist() == [2, 3, 1]
    low = cells.assign(test_loss=0 * cells.test_loss)
    assert highest_spikes(FULL, low).size == 0


def test_a_spike_is_tried_again_from_its_own_start(tmp_path):
    """SGD's numbers stand beside those of the flow."""
    small = dataclasses.replace(
        QUICK, languages=4, words=3, units=3, spike_scales=(0.2,), spike_limit=2_000
    )
    columns = {
        "fraction": [0.8, 0.7],
        "scale": [0.2, 0.2],
        "seed": [0, 1],
        "test_loss": [0.5, 2.0],
        "connected": [1, 1],
        "ending": [0, 0],
        "signs": [0.0, 0.1],
    }
    cells = xr.Dataset({name: ("cell", v) for name, v in columns.items()})
    found = retrained_spikes(small, cells, Bench(folder=tmp_path))
    assert found is not None
    assert found.seed.values.tolist() == [1, 0] and found.sgd.values[0] == 2.0
    done = found.flow_ending.values == 0
    assert done.any() and (found.flow_train_loss.values[done] <= 1e-6 / 6).all()
    none = cells.isel(cell=[])
    assert retrained_spikes(small, none, Bench(folder=tmp_path)) is None


def test_an_open_mark_is_a_loss_that_was_not_reached():
    names = ("sgd", "flow", "sgd_signs", "flow_signs")
    columns = {name: [0.5, 0.4] for name in names}
    columns |= {"flow_ending": [0, 1], "seed": [0, 1]}
    columns |= {"scale": [1e-3, 1e-4], "fraction": [0.3, 0.4]}
    again = xr.Dataset({name: ("cell", v) for name, v in columns.items()})
    canvas = spikes_figure(again).draw()
    drawn = canvas.axes[0].get_lines()
    open_marks = [np.size(p.get_xdata()) for p in drawn if p.get_mfc() == "none"]
    plt.close(canvas)
    assert sorted(open_marks) == [0, 1]
