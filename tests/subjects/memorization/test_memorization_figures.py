"""The figures of memorization show the optimum or the order that their claims name."""

import dataclasses
from types import SimpleNamespace

import numpy as np
import pytest
import xarray as xr
from read_figures import drawn_axes, lines_of, verdict_and_evidence

from remanence.report import Bench
from remanence.subjects.memorization import figures as memorization
from remanence.subjects.memorization.atlas import atlas
from remanence.subjects.memorization.frontier import frontier


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


def test_the_words_that_two_units_serve_are_drawn_at_two(tmp_path):
    table = atlas(((2, 9),), Bench(tmp_path, quiet=True))
    verdict, evidence = verdict_and_evidence("000.12", {})
    real = drawn_axes(memorization._draw_atlas, table)[0]
    period = list(table.period.values).index(evidence["period"])
    share = real.collections[0].get_array()[:, period].filled(0)
    served = share[table.dimension.values <= 2].sum()
    assert served == pytest.approx(evidence["served"] / evidence["words"])
    assert verdict == "differs" and 0 < served < 1
    assert lines_of(real)["largest needed"][period] == evidence["needs"]


@pytest.mark.parametrize("hardest", [1.4, 1.6])
def test_the_least_factor_of_a_period_is_drawn_where_it_is_judged(hardest):
    least, period = [0.0, 0.7, 1.2, hardest, 1.9], [6, 6, 7, 7, 8]
    columns = {"least": least, "period": period, "exact": [True] * 5}
    table = xr.Dataset({name: ("word", values) for name, values in columns.items()})
    verdict, evidence = verdict_and_evidence("000.19", {"least factors": table})
    (axes,) = drawn_axes(memorization._draw_stability, table)
    dots = [line for line in axes.lines if line.get_marker() == "."]
    seventh = next(line.get_ydata() for line in dots if 6.5 < line.get_xdata().mean() < 7.5)
    assert seventh.max() == evidence["largest_of_period_7"] == hardest
    assert verdict == ("holds" if hardest <= 1.47 else "refuted")
    below = sum(int((line.get_ydata() < 1).sum()) for line in dots)
    assert below == evidence["contracting"] == 2
