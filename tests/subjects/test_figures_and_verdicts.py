"""A figure shows what its claim says: the optimum or the order is read off the drawing itself."""

import math

import matplotlib.pyplot as plt
import numpy as np
import pytest
import xarray as xr

from remanence.report import judge
from remanence.subjects import study
from remanence.subjects.fading_memory import figures as fading
from remanence.subjects.fading_memory.power_spectrum import PowerSpectrum
from remanence.subjects.modular_addition.config import Recipe
from remanence.subjects.modular_addition.figures.behaviour import recipes_figure
from remanence.subjects.modular_addition.recipes import DIALS
from remanence.subjects.recurrent_language_models import figures as modern
from remanence.subjects.stable_recurrence import figures as stable


CLAIMS = {
    claim.id: claim
    for name in (
        "fading-memory",
        "modular-addition",
        "recurrent-language-models",
        "stable-recurrence",
    )
    for claim in study(name).claims
}
DRAWS = 20
"""Tables of made-up numbers, some with an effect of the claimed size and some without."""


def verdict_and_evidence(id, results):
    claim = CLAIMS[id]
    row = judge(claim, claim.evidence(results), document="", command="", profile="full")
    return row.verdict, row.evidence


def drawn_axes(draw, *given):
    """The axes of a drawing that is closed at once."""
    figure = draw(*given)
    plt.close(figure)
    return figure.axes


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
        left, _ = drawn_axes(fading._draw_radius, fading._last(table, "radius", "radius"))
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
        axes = drawn_axes(fading._draw_angle, fading._angles(table), spectrum, 8)[0]
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
        (axes,) = drawn_axes(fading._draw_kinds, found)
        order = [label.get_text() for label in axes.get_yticklabels()]
        above = order.index(evidence["first"]) > order.index(evidence["second"])
        assert verdict not in ("holds", "refuted") or above == (verdict == "holds")
        seen.add(verdict)
    assert {"holds", "refuted"} < seen


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


def made_up_models(rng, effect):
    """Windows and timescales of two kinds and an LSTM on two texts, moved by a factor."""
    for source in ("letters", "words"):
        for kind, factor in (("mamba", effect), ("mingru", effect), ("lstm", 1.0)):
            windows = np.round(50 * factor * rng.uniform(0.5, 2, size=9))
            times = rng.lognormal(2, 1, size=200)
            after = factor * times * rng.lognormal(0, 0.05, size=200)
            gates = {} if kind == "lstm" else {
                "before": {"timescales": times}, "after": {"timescales": after}
            }  # fmt: skip
            yield {
                "source": source, "kind": kind, "seed": 0, "name": f"{kind} {source}",
                "diverged": False, "windows": windows, "longest": 1000, **gates,
            }  # fmt: skip


@pytest.mark.parametrize("effect", [0.2, 1.0, 4.0])
def test_a_window_that_is_longer_is_drawn_to_the_right(effect):
    models = list(made_up_models(np.random.default_rng(4), effect))
    verdict, _ = verdict_and_evidence("005.7", {"models": models})
    (axes,) = drawn_axes(modern.windows_figure(models).draw)
    names = [label.get_text() for label in axes.get_yticklabels()]
    at = {names[int(line.get_ydata()[0])]: line.get_xdata()[0]
          for line in axes.lines if line.get_marker() == "|"}  # fmt: skip
    longer = [at[name] > at[f"lstm {name.split()[1]}"] for name in names if "lstm" not in name]
    assert verdict == {0.2: "refuted", 1.0: "differs", 4.0: "holds"}[effect]
    assert verdict == "differs" or all(longer) == any(longer) == (verdict == "holds")


@pytest.mark.parametrize("effect", [0.5, 1.0, 2.0])
def test_timescales_that_lengthen_are_drawn_above(effect):
    models = list(made_up_models(np.random.default_rng(5), effect))
    verdict, _ = verdict_and_evidence("005.4", {"models": models})
    above = []
    for axes in drawn_axes(modern.timescales_figure(models).draw):
        mark = next(line for line in axes.lines if len(line.get_xdata()) == 2).get_xdata()[0]
        lines = {line.get_label(): line for line in axes.lines if len(line.get_xdata()) > 2}
        at = np.argmin(np.abs(lines["mamba after"].get_xdata() - mark))
        height = {name: line.get_ydata()[at] for name, line in lines.items()}
        above += [height[f"{k} after"] > height[f"{k} before"] for k in ("mamba", "mingru")]
    assert verdict == {0.5: "refuted", 1.0: "differs", 2.0: "holds"}[effect]
    assert verdict == "differs" or all(above) == any(above) == (verdict == "holds")


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
