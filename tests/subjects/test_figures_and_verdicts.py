"""A figure shows what its claim says: the optimum or the order is read off the drawing itself."""

import dataclasses
from types import SimpleNamespace

import numpy as np
import pytest
import xarray as xr
from read_figures import drawn_axes, DRAWS, lines_of, verdict_and_evidence

from remanence.report import Bench
from remanence.subjects.memorization import figures as memorization
from remanence.subjects.memorization.atlas import atlas
from remanence.subjects.memorization.frontier import frontier
from remanence.subjects.modular_addition.config import Recipe
from remanence.subjects.modular_addition.figures import recipes_figure
from remanence.subjects.modular_addition.recipes import DIALS
from remanence.subjects.shared_representations.network_figures import threshold_figure
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
        (axes,) = drawn_axes(stable._gains, table)
        lines = {line.get_label(): line.get_ydata() for line in axes.lines}
        above = lines["full"][-1] > max(lines["norm"][-1], lines["diagonal"][-1])
        assert verdict != "holds" or above
        seen.add(verdict)
    assert len(seen) == 2


def test_the_largest_dimension_of_the_atlas_is_the_highest_step_drawn(tmp_path):
    table = atlas(((2, 9), (3, 5)), Bench(tmp_path, quiet=True))
    verdict, evidence = verdict_and_evidence("000.13", {"atlas": table})
    real, _, growth, *_ = drawn_axes(memorization._draw_atlas, table)
    assert verdict == "holds" and lines_of(real)["largest needed"].max() == evidence["largest"]
    shares = real.collections[0].get_array()
    counts = evidence["counts"]["9"]
    for dimension in range(table.sizes["dimension"]):
        share = counts.get(str(dimension), 0) / sum(counts.values())
        drawn = shares[:, -1][dimension]
        assert np.ma.is_masked(drawn) if share == 0 else drawn == pytest.approx(share)
    verdict, evidence = verdict_and_evidence("000.20", {"atlas": table})
    lines = lines_of(growth)
    assert verdict == "holds" and list(lines["2 symbols"]) == evidence["largest"]
    assert (lines["2 symbols"] >= lines["2 symbols, proved by counting"]).all()


@pytest.mark.parametrize("swap", [False, True])
def test_the_order_of_stability_is_the_order_drawn(swap):
    word = "0001011"
    points = {p.method: p for p in frontier(word, steps=20, directions=4) if p is not None}
    if swap:  # as if the shift map contracted and the rotations expanded
        shift, harmonic = points["shift"], points["harmonic"]
        points["shift"] = dataclasses.replace(shift, exponent=harmonic.exponent - 1)
        points["harmonic"] = dataclasses.replace(harmonic, exponent=shift.exponent)
    verdict, _ = verdict_and_evidence("000.16", {"frontier": points})
    left = drawn_axes(memorization.frontier_figure(word, list(points.values())).draw)[0]
    lines = lines_of(left)
    one_unit, rotations, tanh = (float(lines[name][0]) for name in ("shift", "harmonic", "tanh"))
    ordered = one_unit > 0 >= rotations > tanh
    assert verdict == ("holds" if ordered else "refuted") and ordered != swap


@pytest.mark.parametrize("least", [1, 4, None])
def test_words_are_drawn_as_kept_from_the_units_that_are_judged(least):
    word, units = "0010111", [1, 2, 4, 6]
    kept = np.zeros((1, 2, len(units), 3), dtype=bool)
    if least:
        kept[:, 0, units.index(least) :, 0] = True
    dims = ("word", "kind", "units", "seed")
    table = xr.Dataset(
        dict.fromkeys(("learned", "kept"), (dims, kept)),
        {"word": [word], "kind": ["linear", "tanh"], "units": units},
    )
    config = SimpleNamespace(learned_words=(word,))
    verdict, _ = verdict_and_evidence("000.17", {"learned": table, "config": config})
    (axes,) = drawn_axes(memorization._draw_learned, table)
    share = next(c for c in axes.containers if c.get_label() == "linear, ten periods")[0]
    limit = next(line for line in axes.lines if len(set(line.get_xdata())) == 1).get_xdata()[0]
    drawn = share.get_xdata()[share.get_ydata() > 0]
    assert verdict == {1: "refuted", 4: "holds", None: "open"}[least]
    assert verdict == "open" or (drawn.min() >= limit) == (verdict == "holds")


def test_a_certificate_beyond_the_limit_is_drawn_beyond_it():
    coordinates = {"units": [8, 24], "metric": ["norm", "diagonal", "full", "limit"]}
    for full, expected in ((0.9, "holds"), (0.7, "differs"), (1.05, "refuted")):
        gain = np.broadcast_to([0.4, 0.5, full, 1.0], (2, 6, 4))
        table = xr.Dataset({"gain": (("units", "draw", "metric"), gain)}, coordinates)
        verdict, evidence = verdict_and_evidence("004.9", {"gains": table})
        lines = lines_of(drawn_axes(stable._gains, table)[0])
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
    drawn = [lines_of(axes) for axes in drawn_axes(stable._memory, tasks)]
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
    left = drawn_axes(threshold_figure(runs, runs).draw)[0]
    (dots,) = (line for line in left.lines if line.get_label().startswith("σ"))
    agree = (dots.get_xdata() > 0) == (dots.get_ydata() < GENERALISES)
    assert verdict == ("open" if mixed else "holds") and agree.all() != mixed
