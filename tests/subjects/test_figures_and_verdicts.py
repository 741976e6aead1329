"""A figure shows what its claim says: the optimum or the order is read off the drawing itself.

Claims of memorization, fading memory and recurrent language models are in their own folders.
"""

import itertools
from types import SimpleNamespace

import numpy as np
import pytest
import xarray as xr
from read_figures import drawn_axes, DRAWS, lines_of, verdict_and_evidence

from remanence.subjects.modular_addition.ablation import Ablations, PLACES
from remanence.subjects.modular_addition.config import Recipe
from remanence.subjects.modular_addition.figures import (
    ablation_figure,
    ablation_table,
    recipes_figure,
)
from remanence.subjects.modular_addition.recipes import DIALS
from remanence.subjects.shared_representations.network_figures import (
    threshold_figure,
    wide_threshold_figure,
)
from remanence.subjects.shared_representations.training_cells import GENERALISES
from remanence.subjects.stable_recurrence import figures as stable


def test_settings_that_move_the_count_are_drawn_so():
    rng, seen = np.random.default_rng(6), set()
    centre = Recipe(modulus=7, steps=1, every=1)
    dials = {"fraction": (0.3, 0.5), "weight_decay": (0.3, 3.0), "units": (64, 256)}
    rows = [{name: getattr(centre, name) for name in DIALS}]
    rows += [rows[0] | {name: value} for name, values in dials.items() for value in values]
    for draw in range(6):
        moved = [0, 0, 0] if draw == 0 else rng.integers(0, 2, size=3)
        lift = [0, *np.repeat(moved, 2) * np.tile([4, -4], 3)]
        counts = 8.0 + np.array(lift)[:, None] + rng.permuted(np.tile([0, 0, 1], (7, 1)), axis=1)
        recipes = xr.Dataset(
            {name: ("recipe", [row[name] for row in rows]) for name in DIALS}
            | {"count": (("recipe", "seed"), counts), "centre": ("recipe", [True] + [False] * 6)}
        )
        verdict, evidence = verdict_and_evidence("002.14", {"recipes": recipes})
        drawn = {}
        for axes in drawn_axes(recipes_figure(recipes).draw):
            mean = next(line for line in axes.lines if line.get_marker() == "o").get_ydata()
            drawn[axes.get_xlabel()] = float(np.ptp(mean))
        for name in dials:
            assert drawn[name.replace("_", " ")] == pytest.approx(evidence["span"][name], abs=1e-5)
        assert evidence["moved"] == sum(moved)
        seen.add(verdict)
    assert "refuted" in seen and "differs" in seen


def test_the_metric_that_wins_is_drawn_above_the_others():
    rng, seen = np.random.default_rng(3), set()
    for draw in range(DRAWS):
        gain = [0.4, 0.5, 0.8 if draw % 2 else 0.45, 1.0] + rng.uniform(0, 0.1, size=(2, 6, 4))
        coordinates = {"units": [8, 24], "metric": ["norm", "diagonal", "full", "limit"]}
        table = xr.Dataset({"gain": (("units", "draw", "metric"), gain)}, coordinates)
        verdict, _ = verdict_and_evidence("004.8", {"gains": table})
        (axes,) = drawn_axes(stable._gains(table).draw)
        lines = {line.get_label(): line.get_ydata() for line in axes.lines}
        above = lines["full"][-1] > max(lines["norm"][-1], lines["diagonal"][-1])
        assert verdict != "holds" or above
        seen.add(verdict)
    assert len(seen) == 2


def test_a_certificate_beyond_the_limit_is_drawn_beyond_it():
    coordinates = {"units": [8, 24], "metric": ["norm", "diagonal", "full", "limit"]}
    for full, expected in ((0.9, "holds"), (0.7, "differs"), (1.05, "refuted")):
        gain = np.broadcast_to([0.4, 0.5, full, 1.0], (2, 6, 4))
        table = xr.Dataset({"gain": (("units", "draw", "metric"), gain)}, coordinates)
        verdict, evidence = verdict_and_evidence("004.9", {"gains": table})
        lines = lines_of(drawn_axes(stable._gains(table).draw)[0])
        left = 1 - lines["full"] / lines["limit"]
        assert verdict == expected and left.mean() == pytest.approx(evidence["mean_room"])
        assert (left.min() < 0) == (verdict == "refuted")


@pytest.mark.parametrize(("stable_loss", "free_loss"), [(0.95, 0.1), (0.5, 0.1), (0.95, 0.9)])
def test_where_stability_costs_the_stable_line_ends_near_forgetting(stable_loss, free_loss):
    models = ["rnn free", "rnn stable"]
    loss = np.array([[0.05, free_loss], [0.1, stable_loss]])
    table = xr.Dataset(
        {"loss": (("model", "length"), loss), "floor": ("length", [0.0, 0.2])},
        {"model": models, "length": [10, 50]},
        {"chance": 1.0},
    )
    tasks = dict.fromkeys(("a", "b", "c"), table)
    verdict, _ = verdict_and_evidence("004.12", {"memory": tasks})
    drawn = [lines_of(axes) for axes in drawn_axes(stable._memory(table, tasks).draw)]
    fails = [line["RNN stable"][-1] > 0.8 * line["forgetting"][0] > line["RNN free"][-1]
             for line in drawn]  # fmt: skip
    assert (verdict == "holds") == all(fails) and verdict in ("holds", "differs")


def made_up_graphs(loss):
    """Forty runs, every other one on a connected graph, with these test losses."""
    rng, joined = np.random.default_rng(9), np.arange(40) % 2
    columns = {
        "connected": joined,
        "algebraic": joined * rng.uniform(0.1, 1, 40),
        "test_loss": loss,
        "train_loss": np.full(40, 1e-9),
        "ending": np.zeros(40, int),
        "fraction": rng.uniform(0.2, 0.4, 40),
        "scale": np.full(40, 0.1),
        "words": np.full(40, 5),
        "seed": np.arange(40),
    }
    return xr.Dataset({name: ("cell", np.asarray(values)) for name, values in columns.items()})


@pytest.mark.parametrize("mixed", [False, True])
def test_graphs_that_generalise_are_drawn_right_of_zero(mixed):
    loss = np.where(np.arange(40) % 2, 1e-7, 0.4)
    if mixed:
        loss[:5] = loss[1:6]
    runs = made_up_graphs(loss)
    full = runs.assign(
        seed=("cell", np.zeros(40)),
        fraction=("cell", np.linspace(0.2, 0.4, 40)),
        test_loss=("cell", np.where(np.arange(40) < 20, 0.4, 1e-7)),
    )
    verdict, _ = verdict_and_evidence("003.1", {"graphs": runs, "full": full})
    left = drawn_axes(threshold_figure(runs).draw)[0]
    (dots,) = (line for line in left.lines if line.get_label().startswith("σ"))
    agree = (dots.get_xdata() > 0) == (dots.get_ydata() < GENERALISES)
    assert verdict == ("open" if mixed else "holds") and agree.all() != mixed


@pytest.mark.parametrize(
    ("one_left", "several_left"), [(1.0, 0.2), (0.8, 0.3), (0.99, 0.9), (0.3, 0.6)]
)
def test_removing_several_is_drawn_below_removing_one(one_left, several_left):
    rng = np.random.default_rng(12)
    falling = [[1.0], *(rng.uniform(-0.01, 0.01, 5) + at for at in (one_left, several_left))]
    falling = [list(np.clip(size, 0, 1)) for size in (*falling, [several_left] * 3)]
    dims, padded = ("removed", "subset"), itertools.zip_longest(*falling, fillvalue=np.nan)
    curve = xr.DataArray(np.array([*padded]).T, {"removed": range(4)}, dims)
    growing = curve.expand_dims(place=list(PLACES))
    control = xr.DataArray(np.ones((4, 1)), {"removed": range(4)}, dims)
    single = dict(enumerate(falling[1]))
    cuts = [Ablations(single=single, growing=growing, control=control, causal={})] * 2
    results = {"ablations": cuts, "cut dissections": [SimpleNamespace(key=(1, 2, 3))] * 2}
    verdict, evidence = verdict_and_evidence("002.5", results)
    drawn = drawn_axes(ablation_figure(ablation_table(cuts), 7).draw)[0].lines[1].get_ydata()
    assert drawn[1] == pytest.approx(evidence["single"], abs=1e-5)
    assert drawn[2:].mean() == pytest.approx(evidence["several"], abs=0.01)
    assert (verdict == "refuted") == (drawn[1] <= drawn[2:].mean())
    assert verdict != "holds" or (drawn[1] > 0.98 and drawn[2:].max() < 0.52)


@pytest.mark.parametrize("above", [(0.2, 0.1, 0.0), (0.2, 0.2, 0.2), (0.0, 0.0, -0.15)])
def test_the_threshold_is_drawn_coming_down_to_connectivity_where_it_holds(above):
    rng, scales = np.random.default_rng(13), (0.1, 0.01, 0.001)
    fraction, blur = rng.uniform(0.1, 0.6, 800), rng.normal(0, 0.03, 800)
    connected = fraction + blur > 0.3
    parts = []
    for scale, shift in zip(scales, above, strict=True):
        known = fraction + blur + rng.normal(0, 0.01, 800) > 0.3 + shift
        columns = {
            "connected": connected.astype(int), "fraction": fraction, "seed": np.arange(800),
            "test_loss": np.where(known, 1e-7, 0.4), "across": np.where(connected, 1e-7, 0.9),
            "train_loss": np.full(800, 1e-9), "ending": np.zeros(800, int),
            "scale": np.full(800, scale), "words": np.full(800, 5),
        }  # fmt: skip
        parts.append(xr.Dataset({name: ("cell", values) for name, values in columns.items()}))
    wide = xr.concat(parts, "cell")
    verdict, _ = verdict_and_evidence("003.12", {"wide": wide})
    (axes,) = drawn_axes(wide_threshold_figure(wide).draw)
    line = next(c for c in axes.containers if c.get_label().startswith("half of the runs"))[0]
    middle = next(x for x in axes.lines if "connected" in str(x.get_label())).get_ydata()[0]
    left = dict(zip(line.get_xdata(), line.get_ydata() - middle, strict=True))
    assert verdict == {0.0: "holds", 0.2: "differs", -0.15: "refuted"}[above[-1]]
    assert (abs(left[0.001]) < 0.02 and left[0.1] > 0.1) == (verdict == "holds")
    assert (left[0.001] < -0.02) == (verdict == "refuted")


@pytest.mark.parametrize("lost", [-0.02, 0.1, 0.5])
def test_a_stable_model_that_loses_more_is_drawn_above_the_free_one(lost):
    rng, windows = np.random.default_rng(14), [1, 4, 16]
    models = {}
    for end, shift in (("free", 0.0), ("stable", lost)):
        scores = 9.0 * np.exp(shift + rng.uniform(0, 0.01, 3))
        models[f"sonnets rnn {end}"] = [
            {"perplexity": x, "untruncated": x, "windows": windows, "truncated": [2 * x, x, x]}
            for x in scores
        ]
    verdict, evidence = verdict_and_evidence("004.5", {"language": models, "music": {}})
    first = {name: draws[0] for name, draws in models.items()}
    (axes,) = drawn_axes(stable._context(stable.context_table(first), first).draw)
    ends = {k: line[-1] for k, line in lines_of(axes).items() if not str(k).startswith("_")}
    drawn = np.log(ends["RNN stable"] / ends["RNN free"])
    (least, most), = evidence["gaps"].values()  # fmt: skip
    assert least - 1e-4 <= drawn <= most + 1e-4
    assert verdict == {-0.02: "holds", 0.1: "differs", 0.5: "refuted"}[lost]
    assert (drawn > np.log(1.05)) == (verdict != "holds")
