"""The toy's part of the study: exponents, and what figures carry."""

import dataclasses

import numpy as np
import pytest
import xarray as xr
from contrary_cases.shared_representations import ALIGNED, PREDICTION

from remanence.report.tables import as_dataset, csv_tables
from remanence.subjects.shared_representations.claims.toy_and_theory_5_to_11 import (
    contamination_law,
    predicted_from_graph,
)
from remanence.subjects.shared_representations.config import QUICK
from remanence.subjects.shared_representations.figures import alignment_figure, barriers_figure
from remanence.subjects.shared_representations.language_pairs import circulant_pairs
from remanence.subjects.shared_representations.toy_experiments import (
    alignment,
    log_second_mode,
    predicted_scales,
    predicted_success,
    success_over_scale,
    times_to_half_loss,
)


TINY = dataclasses.replace(
    QUICK,
    toy_widths=(5,),
    toy_draws=16,
    aligned_draws=16,
    toy_contaminations=(1e-2, 1e-5, 1e-8),
    toy_log_scales=(-2.0, -4.0),
    barrier_draws=16,
    barrier_log_scales=(-1.0, -40.0),
    predicted_graphs=4,
    predicted_draws=4,
    predicted_log_scales=(-1.0,),
)


@pytest.fixture(scope="module")
def data():
    made = {"alignment": alignment, "times": times_to_half_loss}
    made |= {"barriers": success_over_scale, "predictor": predicted_success}
    made |= {"predicted_scales": predicted_scales}
    return {name: make(TINY, 0) for name, make in made.items()}


def test_the_exponent_is_its_law_within_its_error(data):
    found = data["alignment"].isel(width=0)
    assert float(found.law) == pytest.approx(0.35279, abs=1e-5)
    assert abs(float(found.exponent) - float(found.law)) < 0.01 * float(found.law)
    assert 0 < float(found.exponent_stderr) < 0.002


def test_the_second_mode_is_what_is_left_of_a_vector():
    # In width 9 all the other singular values are equal: the second is all the rest.
    u = np.random.default_rng(0).normal(1.0, 0.1, size=(16, 10))
    mean = u.mean(1, keepdims=True)
    rest = np.linalg.norm(u - mean, axis=1) / (np.abs(mean[:, 0]) * 10**0.5)
    np.testing.assert_allclose(log_second_mode(u, circulant_pairs(10, 9)), np.log(rest), rtol=1e-9)


def test_ranges_hold_the_share(data):
    found = data["barriers"]
    assert (found.success_low <= found.success).all()
    assert (found.success <= found.success_high).all()


def test_no_sigma_is_tried_above_one_or_where_none_would_do(data):
    found = data["predicted_scales"]
    scale = found.largest_log10_scale + found.decades_above
    tried = np.isfinite(scale) & (scale <= 0)
    assert bool(tried.any()) and not bool(tried.all())
    np.testing.assert_array_equal(np.isfinite(found.seen), tried)


@pytest.mark.parametrize(
    ("rule", "evidence", "change"),
    [
        (contamination_law, ALIGNED, {"exponents": [0.8, 0.0489]}),
        (contamination_law, ALIGNED, {"stderrs": [0.001, 0.01]}),
        (contamination_law, ALIGNED, {"exponents": [], "stderrs": [], "laws": []}),
        (predicted_from_graph, PREDICTION, {"brier": 0.18}),
        (predicted_from_graph, PREDICTION, {"seen_at": [0.91, 0.93, 0.9]}),
    ],
)
def test_each_part_of_a_rule_can_fail_it(rule, evidence, change):
    assert rule(evidence) == "holds"
    assert rule(evidence | change) == "differs"


def test_figures_carry_the_numbers_of_every_panel(data):
    aligned = alignment_figure(data["alignment"], data["times"])
    names = ("barriers", "predictor", "predicted_scales")
    stuck = barriers_figure(*(data[name] for name in names))
    for figure, wanted in (
        (aligned, ("second_mode", "exponent_stderr", "half_loss_time")),
        (stuck, ("circulant_success_low", "predicted", "seen", "tried_seen")),
    ):
        carried = as_dataset(figure.data)
        assert isinstance(carried, xr.Dataset)
        text = "\n".join(csv_tables(carried).values())
        assert all(name in text for name in wanted)
