"""The study's own arithmetic, and (slow) one whole run at toy size."""

import dataclasses

import equinox as eqx
import jax.numpy as jnp
import matplotlib.pyplot as plt
import numpy as np
import pytest
import xarray as xr

from remanence import cells, nets, tasks
from remanence.report import Bench
from remanence.report.tables import csv_tables
from remanence.subjects import study
from remanence.subjects.fading_memory.claims.accuracy import (
    angle_evidence,
    best_at_the_edge,
    best_at_the_row,
    fastest_at_the_edge,
    no_peak,
    permuted_evidence,
    radius_evidence,
    speed_evidence,
)
from remanence.subjects.fading_memory.claims.kinds import beats, first_crossing
from remanence.subjects.fading_memory.config import FULL, QUICK
from remanence.subjects.fading_memory.networks import (
    cell_of,
    columns,
    DRAWS,
    informed_by,
    kinds_of_networks,
    swept_networks,
)
from remanence.subjects.fading_memory.residual_spectrum import spectral
from remanence.subjects.fading_memory.training import best_rates, learned_part, pixel_data
from remanence.subjects.fading_memory.weak_coupling import (
    defective,
    exponents_over_coupling,
    fitted_slope,
)


def test_a_win_needs_every_seed_and_twice_the_error():
    assert beats(np.array([0.9, 0.91, 0.92]), np.array([0.8, 0.82, 0.81]))
    assert not beats(np.array([0.9, 0.9, 0.9]), np.array([0.8, 0.8, 0.95]))
    assert not beats(np.array([0.9, 0.9, 0.9]), np.array([0.9, 0.9, 0.9]))
    assert not beats(np.array([0.95, 0.81, 0.81]), np.array([0.8, 0.8, 0.8]))


def test_crossings_and_rates():
    history = np.array([[0.2, 0.6, 0.8], [0.1, 0.2, 0.3]])
    np.testing.assert_array_equal(first_crossing(history, 50, 0.6), [100, np.nan])
    tried = xr.Dataset(
        {"tuning": (("case", "seed", "mark"), [[[0.9, 0.1]], [[0.2, 0.5]], [[0.3, 0.4]]])},
        {"name": ("case", ["a", "a", "b"]), "rate": ("case", [1e-3, 1e-2, 1e-3])},
    )
    assert best_rates(tried) == {"a": 1e-2, "b": 1e-3}  # at the last mark, by name


def test_rates_are_chosen_on_images_that_are_neither_trained_on_nor_reported():
    task = tasks.pixels()
    data = pixel_data(QUICK, task)
    assert len(data["train_y"]) + len(data["validation"][1]) == len(task.train_y)
    np.testing.assert_array_equal(data["test"][0], task.test_x)
    np.testing.assert_array_equal(data["validation"][0], task.train_x[-QUICK.validation :])


def _swept(accuracies, exponents):
    """A table of one sweep over the radius: accuracies over (radius, mark), three seeds."""
    curves = np.asarray(accuracies, float)[:, None, :] + [[0.0], [0.01], [0.02]]
    cases, seeds, _ = curves.shape
    marked = ("case", "seed", "mark")
    return xr.Dataset(
        {
            "accuracy": (marked, curves),
            "tuning": (marked, curves.copy()),
            "before": (("case", "seed"), np.repeat([exponents], seeds, 0).T),
        },
        {
            "experiment": ("case", ["radius"] * cases),
            "value": ("case", np.linspace(0.4, 1.1, cases)),
            "every": ("case", [25] * cases),
        },
    )


def test_the_edge_must_beat_all_that_is_far_from_it():
    of = lambda rows, at: radius_evidence({"table": _swept(rows, at)})
    judge = best_at_the_edge
    at = [-0.7, -0.2, 0.0, 0.1]
    assert judge(of([[0, 0.2], [0, 0.4], [0, 0.8], [0, 0.1]], at)) == "holds"
    tied = of([[0, 0.2], [0, 0.8], [0, 0.8001], [0, 0.1]], at)
    assert tied["unbeaten_far"] == [] and judge(tied) == "holds"
    level = _swept([[0, 0.2], [0, 0.79], [0, 0.8], [0, 0.1]], at)
    level.accuracy[1, 0, -1] += 0.1  # one seed says the opposite
    found = radius_evidence({"table": level})
    assert found["unbeaten_far"] == [pytest.approx(0.4 + 0.7 / 3)]
    assert judge(found) == "open"
    assert judge(of([[0, 0.9], [0, 0.4], [0, 0.8], [0, 0.1]], at)) == "refuted"


def test_speed_is_judged_at_the_highest_accuracy_that_all_seeds_reach():
    config = dataclasses.replace(QUICK, targets=(0.3, 0.6, 0.9))
    judge = fastest_at_the_edge
    of = lambda rows: speed_evidence({"config": config, "table": _swept(rows, [-0.7, 0.0])})
    found = of([[0.1, 0.2, 0.3], [0.1, 0.65, 0.7]])
    assert found["target"] == 0.6 and found["steps"] == [None, 50.0]
    assert judge(found) == "holds"
    assert judge(of([[0.1, 0.65, 0.7], [0.1, 0.2, 0.3]])) == "refuted"
    assert judge(of([[0.1, 0.65, 0.7], [0.1, 0.65, 0.7]])) == "open"
    never = of([[0.1, 0.1, 0.1], [0.1, 0.1, 0.1]])
    assert never["steps"] == [None, None] and judge(never) == "open"


def _turned(sequential, permuted):
    """A table as the sweeps over angles 0, 2π/8 and 1.8 give it, by seed."""
    final = np.array([*sequential, *permuted], float)[..., None]
    marked, angles = ("case", "seed", "mark"), [0.0, 2 * np.pi / 8, 1.8]
    return xr.Dataset(
        {"accuracy": (marked, final), "tuning": (marked, final.copy())},
        {
            "experiment": ("case", ["angle, sequential"] * 3 + ["angle, permuted"] * 3),
            "value": ("case", angles * 2),
        },
    )


def test_an_angle_must_win_beyond_the_spread_and_lose_beyond_it():
    task = tasks.pixels()
    spectrum = informed_by(task, QUICK).spectrum
    low, high, torn = [0.3, 0.31, 0.3], [0.8, 0.81, 0.8], [0.1, 0.8, 0.3]

    def judged(*sequential, permuted=([0.6, 0.61, 0.6],) * 3):
        table = _turned(sequential, permuted)
        found = {"table": table, "side": task.side, "spectrum": spectrum}
        return best_at_the_row(angle_evidence(found)), no_peak(permuted_evidence(found))

    assert judged(low, high, low) == ("holds", "holds")
    assert judged(low, torn, low) == ("open", "open")
    assert judged(high, low, high)[0] == "refuted"
    # The plotted optimum is elsewhere: never "holds".
    assert judged(low, low, high) == ("differs", "open")
    # A peak of the same size on permuted pixels is found; one that the seeds hide is not.
    assert judged(low, high, low, permuted=(low, high, low))[1] == "refuted"
    assert judged(low, high, low, permuted=(low, torn, low))[1] == "open"


def test_the_table_holds_every_case():
    task = tasks.pixels()
    informed = informed_by(task, QUICK)
    found = [*swept_networks(QUICK), *kinds_of_networks(QUICK, task, informed)]
    table = columns(found)
    assert len({case.name for case in found}) == len(found)
    assert table["radii"].shape == (len(found), QUICK.seeds, QUICK.units // 2)
    spectrum = next(c for c in found if c.name == "Elman: informed spectrum")
    assert not spectrum.residual
    assert DRAWS[int(table["draw"][found.index(spectrum)])] == "spectrum"
    assert informed.peaks[0] == pytest.approx(2 * np.pi / 8)


@pytest.mark.parametrize(("config", "side"), [(QUICK, 8), (FULL, 28)])
def test_the_angles_hold_the_row_s_and_both_its_neighbours(config, side):
    for angles in (config.angles, config.permuted_angles):
        at = angles.index(2 * np.pi / side)
        assert list(angles) == sorted(angles) and 0 < at < len(angles) - 1


def test_an_elman_row_has_the_spectrum_of_its_residual_in_other_axes(key):
    config = dataclasses.replace(QUICK, units=4)
    R = np.asarray(spectral([0.9, 0.7], [0.2, 1.0]), float)
    row = {"radii": jnp.array([0.9, 0.7]), "angles": jnp.array([0.2, 1.0]), "residual": False}
    cell = cell_of(config, "plain", row | {"draw": DRAWS.index("spectrum")}, 1, key=key)
    assert not cell.R.any() and cell.coupling == 1
    W_h = np.asarray(cell.W_h, float)
    assert np.abs(W_h[0, 2]) > 1e-3  # no longer blocks
    eigenvalues = lambda A: np.sort_complex(np.linalg.eigvals(A))
    np.testing.assert_allclose(eigenvalues(W_h), eigenvalues(R), atol=1e-5)


def test_residual_and_coupling_are_not_trained(key):
    cell = cells.Residual.init(1, 4, key=key, residual=jnp.eye(4), coupling=jnp.float32(0.1))
    net = nets.Recurrent.init(cell, outputs=2, key=key)
    part, rest = learned_part(net)
    assert part.cell.R is None
    assert part.cell.coupling is None
    assert part.cell.W_h is not None
    assert eqx.tree_equal(eqx.combine(part, rest), net)


def test_exponents_follow_first_order_and_stay_within_their_bound(tmp_path):
    config = dataclasses.replace(
        QUICK, couplings=(0.03,), spectrum_radii=(0.9,), spectrum_units=(4,), seeds=4
    )
    found = exponents_over_coupling(config, Bench(folder=tmp_path)).squeeze()
    np.testing.assert_allclose(found.top, 0.03 * found.first_order, rtol=0.15, atol=2e-3)
    assert (found.gap <= found.bound).all() and (found.gap > 0.3 * found.bound).any()


def test_a_jordan_block_moves_by_the_root_of_the_coupling():
    found = defective((2, 4, 8))
    slopes = [fitted_slope(found.coupling.values, row) for row in found.moved.values]
    np.testing.assert_allclose(slopes, [1 / 2, 1 / 4, 1 / 8], rtol=0.1)


@pytest.mark.slow
def test_a_toy_run_gives_every_claim_and_figure(tmp_path):
    config = dataclasses.replace(
        QUICK,
        units=8,
        steps=6,
        kind_steps=8,
        marks=2,
        rates=(1e-3, 1e-2),
        pilot_steps=2,
        seeds=2,
        radii=(0.5, 0.9),
        angles=(0.0, 0.8),
        permuted_angles=(0.0, 0.8),
        gated=("GRU", "LSTM"),
        couplings=(3e-3, 1e-2, 0.1),
        spectrum_units=(4,),
        spectrum_steps=1000,
        lengths=(4,),
        adding_steps=8,
        chunk=4,
    )
    chosen = study("fading-memory")
    outcome = chosen.run(config, Bench(folder=tmp_path))
    shown = {figure.name for figure in outcome.figures}
    for claim in chosen.claims:
        evidence = claim.evidence_in(outcome.results)
        assert evidence is not None and claim.figure in shown
        claim.rule(evidence)
        assert len(claim.finding_of(evidence).split()) <= 25
    for figure in outcome.figures:
        plt.close(figure.draw())
    shown = {figure.name: figure.data for figure in outcome.figures}
    # What is drawn is what is kept beside the drawing: one table each.
    for name in ("radius", "angle", "adding"):
        assert list(csv_tables(shown[name])) == [""]
    assert shown["radius"].accuracy.dims == ("radius", "seed")
    assert set(outcome.data["table"].experiment.values) == {
        "radius",
        "kind",
        "angle, sequential",
        "angle, permuted",
    }
    assert outcome.data["cross"].sizes["network"] == 3
