"""The study in its smallest form: every claim gets its verdict."""

import dataclasses
import json

import numpy as np
import pytest

from remanence.report import Bench, judge
from remanence.subjects import study
from remanence.subjects.memorization import experiments
from remanence.subjects.memorization.frontier import frontier, METHODS
from remanence.subjects.memorization.learned import modes


TINY = {
    "steps": 2000,
    "directions": 16,
    "periods": ((2, 9), (3, 5)),
    "feedback_periods": 7,
    "drawn": 12,
    "blocks": 4,
    "attempts": 4,
    "learned_words": ("0001",),
    "learned_units": (2, 4),
    "learned_seeds": 2,
    "learned_steps": 150,
    "learned_chunk": 8,
}


def test_the_whole_study_in_small(tmp_path):
    chosen = study("memorization")
    config = dataclasses.replace(chosen.profiles["quick"], **TINY)
    outcome = chosen.run(config, Bench(folder=tmp_path))
    evidence = {c.id: c.evidence_in(outcome.results) for c in chosen.claims}
    json.dumps(evidence)
    assert all(found is not None for found in evidence.values())
    row = lambda c: judge(c, evidence[c.id], document="000", command="", profile="quick")
    verdicts = {c.id: row(c).verdict for c in chosen.claims}
    shown = {figure.name for figure in outcome.figures}
    assert {c.figure for c in chosen.claims} - {""} <= shown
    expected = {"000.2": "refuted", "000.4": "differs", "000.9": "refuted", "000.12": "differs"}
    holding = [f"000.{i}" for i in (1, 3, 5, 6, 7, 8, 10, 11, 13, 14, 15, 16, 19)]
    assert {k: verdicts[k] for k in expected} == expected
    assert {verdicts[k] for k in holding} == {"holds"}
    assert {"atlas", "stability", "frontier", "learned", "cross"} <= set(outcome.data)
    assert len(outcome.figures) == 6


def test_the_frontier_bounds_what_it_measures():
    points = [p for p in frontier("0010111", steps=500, directions=32) if p is not None]
    assert {p.method for p in points} == set(METHODS) - {"rotation"}
    for p in points:
        # Rotations and permutations neither enlarge a perturbation nor forget it.
        if p.method in ("harmonic", "permutation"):
            assert p.margin <= p.measured_noise * (1 + 1e-6) < 4 * p.margin
        assert p.error_float32 is None or p.error_float32 > p.proved_float32
    bits = {p.method: p.bits for p in points}
    assert 7 <= bits["shift"] <= 9 and bits["permutation"] == 0


def test_totients_and_orders():
    found = experiments.totients(2000)
    assert found["exceptions"] == 0 and found["least"] == pytest.approx(0.5**0.5)
    assert [experiments.rational_order(q)["least"] for q in (2, 3, 8, 12, 105)] == [1, 2, 4, 4, 12]


@pytest.mark.parametrize("radius", [1.0, 1.2])
def test_a_reading_recognises_a_construction(radius):
    import remanence as rm

    m = rm.memorize("0010111", method="harmonic")
    found = modes(radius * m.written.W_h, m.written.W_y, m.written.h_0, letters="0010111")
    assert found.frequencies == m.frequencies and found.nearest == "minimal harmonic"
    np.testing.assert_allclose(found.distance, radius - 1, atol=1e-9)
