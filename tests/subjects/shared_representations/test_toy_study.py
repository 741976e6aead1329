"""The toy's part of the study: exponents, the σ for 1 %, and what figures carry."""

import dataclasses

import numpy as np
import pytest
import xarray as xr

from remanence.report.tables import as_dataset, csv_tables
from remanence.subjects.shared_representations import toy_claims
from remanence.subjects.shared_representations.aligned import (
    alignment,
    clocks,
    half_learned,
    log_contamination,
    log_second_mode,
    slopes,
)
from remanence.subjects.shared_representations.config import QUICK
from remanence.subjects.shared_representations.toy_figures import (
    alignment_figure,
    walls_figure,
)
from remanence.subjects.shared_representations.toys import (
    foretold_scales,
    predictor,
    walls,
)


TINY = dataclasses.replace(
    QUICK,
    toy_widths=(5,),
    toy_draws=16,
    aligned_draws=48,
    toy_contaminations=(1e-2, 1e-5, 1e-8),
    toy_log_scales=(-2.0, -4.0),
    wall_draws=16,
    wall_log_scales=(-1.0, -40.0),
    predicted_graphs=4,
    predicted_draws=4,
    predicted_log_scales=(-1.0,),
)


@pytest.fixture(scope="module")
def data():
    made = {"alignment": alignment, "clocks": clocks, "walls": walls}
    made |= {"predictor": predictor, "foretold_scales": foretold_scales}
    return {name: make(TINY, 0) for name, make in made.items()}


def test_slopes_are_paired_along_sigma():
    x = np.array([-1.0, -2.0, -4.0])
    y = x[:, None] * np.array([0.5, 0.7]) + np.array([3.0, -9.0])
    np.testing.assert_allclose(slopes(x, y), [0.5, 0.7])


def test_the_exponent_is_its_law_within_its_error(data):
    found = data["alignment"].isel(width=0)
    assert float(found.law) == pytest.approx(0.35279, abs=1e-5)
    assert abs(float(found.exponent) - float(found.law)) < 0.01 * float(found.law)
    assert 0 < float(found.exponent_stderr) < 0.002


def test_one_percent_is_left_where_it_was_foretold(data):
    found = data["alignment"].isel(width=0)
    assert -7 < float(found.needed_log10_scale) < -5
    assert 0.005 < float(found.found_there) < 0.02


def test_the_second_mode_is_less_than_all_others_together():
    u = half_learned(8, -4.0, draws=16, seed=0)
    assert (log_second_mode(u, 8) < log_contamination(u)).all()
    # In width 9 all the other singular values are equal: the second is all the rest.
    u = half_learned(9, -3.0, draws=16, seed=0)
    np.testing.assert_allclose(log_second_mode(u, 9), log_contamination(u), rtol=1e-9)


def test_ranges_hold_the_share_and_an_earlier_count_outside_is_named(data):
    found = data["walls"]
    assert (found.success_low <= found.success).all()
    assert (found.success <= found.success_high).all()
    told = toy_claims.evidence(data)["003.7"]
    inside = told | {"success": [0.15, 0.98], "low": [0.1, 0.9], "high": [0.2, 1.0]}
    statement = next(s for s in toy_claims.STATEMENTS if s.id == "003.7")
    assert "earlier count" not in statement.measured(inside)
    outside = inside | {"low": [0.16, 0.9]}
    assert "outside: 0.15 at 1e-1;" in statement.measured(outside)


def test_no_sigma_is_tried_above_one_or_where_none_would_do(data):
    found = data["foretold_scales"]
    told = found.told_log10_scale + found.decades_above
    tried = np.isfinite(told) & (told <= 0)
    assert bool(tried.any()) and not bool(tried.all())
    np.testing.assert_array_equal(np.isfinite(found.seen), tried)


@pytest.mark.parametrize(
    ("id", "change"),
    [
        ("003.5", {"exponents": [0.8, 0.0489]}),
        ("003.5", {"stderrs": [0.001, 0.01]}),
        ("003.11", {"brier": 0.18}),
        ("003.11", {"seen_at": [0.91, 0.93, 0.9]}),
    ],
)
def test_each_part_of_a_rule_can_fail_it(id, change):
    statement = next(s for s in toy_claims.STATEMENTS if s.id == id)
    assert statement.rule(statement.example) == "holds"
    assert statement.rule(statement.example | change) == "differs"


def test_figures_carry_the_numbers_of_every_panel(data):
    names = ("walls", "predictor", "foretold_scales")
    aligned = alignment_figure(data["alignment"], data["clocks"])
    stuck = walls_figure(*(data[name] for name in names))
    for figure, wanted in (
        (aligned, ("second_mode", "exponent_stderr", "clock_time")),
        (stuck, ("circulant_success_low", "foretold", "seen", "tried_seen")),
    ):
        carried = as_dataset(figure.data)
        assert isinstance(carried, xr.Dataset)
        text = "\n".join(csv_tables(carried).values())
        assert all(name in text for name in wanted)
