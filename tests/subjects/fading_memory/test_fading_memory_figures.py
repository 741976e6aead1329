"""The figures of fading memory show the optimum and the order that their claims name."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
import xarray as xr
from matplotlib.colors import same_color
from read_figures import drawn_axes, DRAWS, lines_of, verdict_and_evidence

from remanence.subjects.fading_memory import figures as fading
from remanence.subjects.fading_memory.claims.accuracy import learning_speed
from remanence.subjects.fading_memory.informed_residual import PowerSpectrum


def swept(rng, experiment, values, effect):
    """Accuracies of five seeds; one value is better by `effect` on test and validation images."""
    shape = (len(values), 5, 1)
    best = rng.integers(1, len(values) - 1)
    lift = np.zeros(shape)
    lift[best] = effect
    marked = ("case", "seed", "mark")
    return xr.Dataset(
        {
            "accuracy": (marked, 0.5 + lift + 0.02 * rng.normal(size=shape)),
            "tuning": (marked, 0.5 + lift + 0.02 * rng.normal(size=shape)),
            "before": (("case", "seed"), np.repeat(0.15 * (np.arange(len(values)) - best), 5).reshape(-1, 5)),
        },
        {"experiment": ("case", [experiment] * len(values)), "value": ("case", values)},
    )  # fmt: skip


def test_the_radius_that_is_judged_is_the_one_that_is_marked():
    rng, seen = np.random.default_rng(0), set()
    for draw in range(DRAWS):
        table = swept(rng, "radius", np.linspace(0.4, 1.1, 6), 0.1 * (draw % 2))
        verdict, evidence = verdict_and_evidence("001.3", {"table": table})
        left, _ = drawn_axes(fading._draw_radius(fading._last(table, "radius", "radius")).draw)
        marked = next(line for line in left.lines if line.get_label().startswith("best"))
        assert marked.get_xdata()[0] == pytest.approx(evidence["best_radius"])
        if verdict == "holds":  # nothing drawn far from the edge stands above it
            y = next(line for line in left.lines if len(line.get_xdata()) > 1).get_ydata()
            far = np.abs(evidence["exponents"]) > 0.05
            assert marked.get_ydata()[0] > y[far].max()
        seen.add(verdict)
    assert {"holds"} < seen


def test_the_angle_that_is_judged_is_where_the_drawn_line_is_highest():
    rng, seen = np.random.default_rng(1), set()
    spectrum = PowerSpectrum(np.linspace(0, 3, 9), np.ones(9), 16)
    angles = [0.0, 0.4, math.tau / 8, 1.2, 1.8]
    for draw in range(DRAWS):
        parts = [swept(rng, f"angle, {order}", angles, effect)
                 for order, effect in (("sequential", 0.1 * (draw % 2)), ("permuted", 0.0))]  # fmt: skip
        table = xr.concat(parts, "case")
        results = {"table": table, "side": 8, "spectrum": spectrum}
        verdict, evidence = verdict_and_evidence("001.4", results)
        axes = drawn_axes(fading._draw_angle(fading._angles(table), spectrum, 8).draw)[0]
        line = next(line for line in axes.lines if line.get_label() == "sequential pixels")
        highest = line.get_xdata()[np.argmax(line.get_ydata())]
        assert highest == pytest.approx(evidence["best"])
        assert verdict != "holds" or highest == pytest.approx(math.tau / 8)
        seen.add(verdict)
    assert {"holds"} < seen


@pytest.mark.parametrize(
    "id", ["001.5", "001.Q1", "001.Q2-GRU", "001.Q2-LSTM", "001.Q3", "001.Q5", "001.Q6"]
)
def test_a_kind_that_wins_is_drawn_above_the_other(id):
    rng, seen = np.random.default_rng(2), set()
    names = ["homogeneous", "heterogeneous", "informed", "Elman: orthogonal", "Elman: clipped"]
    names += ["nonlinear residual: ReLU", "GRU", "GRU behind a residual"]
    names += ["LSTM", "LSTM behind a residual"]
    for draw in range(DRAWS):
        accuracy = (
            0.5 + 0.1 * (draw % 2) * rng.normal(size=(10, 1)) + 0.02 * rng.normal(size=(10, 3))
        )
        found = xr.DataArray(accuracy, {"kind": names}, ("kind", "seed"))
        verdict, evidence = verdict_and_evidence(
            id, {"kinds": dict(zip(names, accuracy, strict=True))}
        )
        (axes,) = drawn_axes(fading._draw_kinds(found.to_dataset(name="accuracy")).draw)
        order = [label.get_text() for label in axes.get_yticklabels()]
        above = order.index(evidence["first"]) > order.index(evidence["second"])
        assert verdict not in ("holds", "refuted") or above == (verdict == "holds")
        seen.add(verdict)
    assert {"holds", "refuted"} < seen


def test_the_fastest_near_the_edge_is_drawn_below_the_fastest_far_from_it():
    rng, seen = np.random.default_rng(7), set()
    config = SimpleNamespace(targets=(0.4, 0.6))
    for draw in range(DRAWS):
        away = np.abs(np.arange(6) - 3)  # marks that a radius is late by, from the edge on
        if draw % 3 == 1:
            away = 3 - away
        late = (0 if draw % 3 == 2 else 3) * away[:, None] + rng.integers(1, 4, size=(6, 3))
        reached = np.arange(20) >= late[..., None]
        marked = ("case", "seed", "mark")
        table = xr.Dataset(
            {"accuracy": (marked, 0.7 * reached), "tuning": (marked, 0.7 * reached)}
            | {"before": (("case", "seed"), np.repeat(0.15 * (np.arange(6) - 3), 3).reshape(6, 3))},
            {"experiment": ("case", ["radius"] * 6), "value": ("case", np.linspace(0.4, 1.1, 6))},
        ).assign(every=("case", [10] * 6))  # fmt: skip
        verdict, _ = verdict_and_evidence("001.3-speed", {"table": table, "config": config})
        speed = learning_speed(table, config.targets)
        (axes,) = drawn_axes(fading._draw_speed(speed).draw)
        bars = [line for line in axes.lines if line.get_marker() == "_"]
        chosen = [line for line in bars if same_color(line.get_color(), "C1")]
        at = {abs(line.get_xdata()[0]) <= 0.05: line.get_ydata()[0] for line in chosen}
        assert len(at) == 2
        assert verdict != "holds" or at[True] < at[False]
        assert verdict != "refuted" or at[True] > at[False]
        seen.add(verdict)
    assert seen == {"holds", "refuted", "open"}


def test_a_fall_without_a_peak_is_drawn_so():
    rng, seen = np.random.default_rng(8), set()
    spectrum = PowerSpectrum(np.linspace(0, 3, 9), np.ones(9), 16)
    angles = [0.0, 0.4, math.tau / 8, 1.2, 1.8]
    for draw in range(DRAWS):
        table = xr.concat([swept(rng, f"angle, {order}", angles, 0.0)
                           for order in ("sequential", "permuted")], "case")  # fmt: skip
        falls = np.array([0.2, (0.0, 0.2, 0.1)[draw % 3]])
        table["accuracy"].values[[4, 9]] -= falls[:, None, None]
        results = {"table": table, "side": 8, "spectrum": spectrum}
        verdict, evidence = verdict_and_evidence("001.4-permuted", results)
        axes = drawn_axes(fading._draw_angle(fading._angles(table), spectrum, 8).draw)[0]
        lines = lines_of(axes)
        drawn = {o: lines[f"{o} pixels"][2] - lines[f"{o} pixels"][-1]
                 for o in ("sequential", "permuted")}  # fmt: skip
        for order, fall in drawn.items():
            assert fall == pytest.approx(evidence[order], abs=1e-5)
        assert verdict != "holds" or drawn["permuted"] < drawn["sequential"] / 2
        assert verdict != "refuted" or drawn["permuted"] > drawn["sequential"] / 2
        seen.add(verdict)
    assert {"holds", "refuted"} <= seen
