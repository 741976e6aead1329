"""Floors, bounds and verdicts that a mistake would bend."""

import dataclasses
import math

import jax.numpy as jnp
import numpy as np
import pytest
import xarray as xr

from remanence.cells import Elman
from remanence.nets import Recurrent
from remanence.report import Bench
from remanence.subjects import study
from remanence.subjects.stable_recurrence import memory_tasks, random_instances
from remanence.subjects.stable_recurrence.claims.models import (
    effectively_stable,
    matching,
    nats_lost,
)
from remanence.subjects.stable_recurrence.claims.theory import descent, needs_decay
from remanence.subjects.stable_recurrence.config import Config, FULL, Lengths, SONNETS


def test_one_draw_is_no_verdict_and_overlapping_draws_are_none():
    of = lambda held, free, jsb_nll=(): matching(
        {"gaps": nats_lost({"a rnn stable": held, "a rnn free": free}, dict(jsb_nll))}
    )
    assert of([10.0], [10.0]) == "open"
    assert of([10.0, 10.1], [10.0, 10.2]) == "holds"
    assert of([10.0, 12.0], [10.0, 10.2]) == "open"
    assert of([11.0, 12.0], [10.0, 10.2]) == "differs"
    assert of([14.0, 15.0], [10.0, 10.2]) == "refuted"
    chords = lambda held: {"j rnn stable": held, "j rnn free": [8.0, 8.1]}
    assert of([10.0], [10.0], jsb_nll=chords([8.05, 8.1])) == "holds"
    assert of([10.0], [10.0], jsb_nll=chords([8.5, 8.6])) == "differs"


def test_an_exponent_within_its_error_of_zero_is_no_verdict():
    of = lambda exponent, settled=True: effectively_stable(
        {"exponents": [-0.3, exponent], "stderrs": [0.01, 0.01], "converged": [True, settled]}
    )
    assert of(-0.1) == "holds"
    assert of(-0.1, settled=False) == "open"
    assert of(0.01) == of(-0.01) == "open"
    assert of(0.1) == "refuted"


def test_a_state_without_the_first_number_errs_by_a_twelfth():
    cell = Elman(0.5 * jnp.eye(4), jnp.ones((4, 2)), jnp.zeros(4))
    net = Recurrent(cell, jnp.ones((1, 4)), jnp.zeros(1), None, "last")
    assert memory_tasks.sum_floor(net, 80) == pytest.approx(1 / 12, rel=1e-6)
    assert memory_tasks.sum_floor(net, 2) < memory_tasks.sum_floor(net, 20) < 1 / 12


def test_the_padded_sum_is_the_sum_of_the_marked_numbers(key):
    xs, y = memory_tasks.padded_sum(50, jnp.asarray(6), 10, key=key)
    marks = np.asarray(xs[..., 1])
    np.testing.assert_allclose((xs[..., 0] * marks).sum(1), y, rtol=1e-6)
    assert np.all(marks[:, :4] == 0) and np.all(marks.sum(1) == 2)
    assert np.all(marks[:, 4:7].sum(1) == 1)


def test_a_cell_at_rest_loses_the_entropy_of_its_string():
    cell = Elman(0.1 * jnp.eye(4), jnp.zeros((4, 1)), jnp.zeros(4))
    net = Recurrent(cell, jnp.eye(4), jnp.zeros(4))
    string = memory_tasks.string_of(8, 0)
    assert sorted(string.tolist()) == [0, 0, 1, 1, 2, 2, 3, 3]
    second = np.bincount(string[4:]) / 4  # what constants lose on the half that is asked for
    entropy = -(second[second > 0] * np.log(second[second > 0])).sum()
    assert memory_tasks.string_floor(net, string) == pytest.approx(entropy, rel=1e-12)
    loud = Recurrent(
        Elman(0.9 * jnp.eye(4), 9 * jnp.ones((4, 1)), jnp.zeros(4)), 9 * jnp.eye(4), jnp.zeros(4)
    )
    assert memory_tasks.string_floor(loud, string) == 0


def test_the_proved_floor_rises_to_chance():
    cell = Elman(0.5 * jnp.eye(4), jnp.eye(4, 6), jnp.zeros(4))
    net = Recurrent(cell, jnp.eye(4), jnp.zeros(4), None, "last")
    floors = [memory_tasks.symbol_floor(net, delay) for delay in (0, 4, 30)]
    assert floors[0] == 0 and floors[0] < floors[1] < floors[2]
    assert floors[2] == pytest.approx(math.log(4), abs=1e-6)


def test_the_counterexample_to_the_printed_lemma():
    found = random_instances.counterexample()
    assert found["gap"] > found["printed"] and found["gap"] <= found["corrected"]


def test_descents_obey_the_recursion_they_are_bounded_by():
    table = random_instances.descents(4, range(1), 12, (2, 4), 15).sel(norm=0.9)
    assert float((table["gap"] / table["bound"]).max()) <= 1 + 1e-9
    assert float(table["gap"].min()) >= 0
    shorter = table["gap"].isel(step=-1, schedule=0, instance=0)
    assert float(shorter.sel(window=4)) < float(shorter.sel(window=2))


def test_the_bound_without_decay_must_fail_in_most_instances():
    of = lambda exceeding, instances: needs_decay(
        {"decaying_ratio": 0.9, "exceeding": exceeding, "instances": instances}
    )
    assert of(2, 2) == "open"  # too few instances to tell
    assert of(3, 5) == "holds" and of(0, 5) == "differs" and of(2, 5) == "open"
    # A planted failure is found, and its absence is not.
    steps = np.ones((1, 3, 2, 1, 4))
    dims = ("norm", "instance", "schedule", "window", "step")
    for factor, exceeding in ((0.5, 0), (2.0, 3)):
        gap = steps * np.array([0.5, factor])[:, None, None]
        table = xr.Dataset(
            {"gap": (dims, gap), "bound": (dims, steps)},
            {"norm": [0.9], "schedule": ["alpha/t", "constant"]},
        )
        assert descent({"descents": table})["exceeding"] == exceeding


def test_every_memory_task_of_the_full_profile_exists():
    assert set(FULL.memory) == set(memory_tasks.MEMORY_TASKS)


@pytest.mark.slow
def test_a_tiny_run_gives_evidence_for_every_statement(tmp_path):
    sonnets = dataclasses.replace(
        SONNETS,
        steps=8,
        rates=(1e-3, 1e-2),
        pilot_steps=2,
        dropout=0.2,
        windows=(1, 8),
        kinds=("rnn",),
    )
    tiny = Config(
        instances=1,
        descent_steps=10,
        gain_units=(4,),
        gain_draws=1,
        lstm_units=(4,),
        memory={
            "delayed symbol": Lengths((1,), steps=5),
            "memorised string": Lengths((2,), steps=5),
            "adding problem": Lengths((2, 4), steps=5),
        },
        truncated_training=dataclasses.replace(SONNETS, units=4, steps=3, windows=(2, 5)),
        language=(sonnets,),
    )
    found = study("stable-recurrence")
    outcome = found.run(tiny, Bench(folder=tmp_path))
    evidence = {c.id: c.evidence_in(outcome.results) for c in found.claims}
    shown = {figure.name for figure in outcome.figures}
    for claim in found.claims:
        assert evidence[claim.id] is not None, claim.id
        claim.rule(evidence[claim.id])
        assert len(claim.finding_of(evidence[claim.id]).split()) <= 20
        assert not claim.figure or claim.figure in shown
    scores = evidence["004.5"]["perplexity"]["sonnets rnn free"]
    assert len(set(scores)) == 2, "two draws are two models"
    cross = outcome.data["cross"]
    for column in ("dimension", "largest_exponent", "horizon", "rank"):
        assert np.isfinite(cross[column].values).all(), f"a network has no {column}"
    for figure in outcome.figures:
        figure.draw()
