"""The longer recipe for WikiText-2: how long it is, and what is written down."""

import dataclasses
import json

import pytest

from remanence.report import Bench
from remanence.subjects.stable_recurrence.__main__ import main, models, recipe
from remanence.subjects.stable_recurrence.config import REDUCED, SONNETS
from remanence.subjects.stable_recurrence.parts import OutOfTime, Parts


def test_epochs_are_steps():
    assert recipe(6, 256) == REDUCED
    half = recipe(0.5, 32)
    assert half.steps == REDUCED.steps / 12 and half.units == 32
    words = half.steps * half.batch * half.length
    assert words == pytest.approx(
        0.5 * 2_088_628, rel=2e-3
    )  # tokens of the training part


TINY = dataclasses.replace(
    SONNETS, units=4, embedding=3, batch=2, length=5, steps=8, kinds=("rnn",)
)


def test_every_model_is_written_when_it_is_measured(tmp_path):
    parts = Parts(Bench(folder=tmp_path / "work"))
    found = models(TINY, tmp_path / "kept", parts)
    assert list(found) == ["sonnets-rnn-free", "sonnets-rnn-stable"]
    for name, numbers in found.items():
        kept = json.loads((tmp_path / "kept" / f"{name}.json").read_text())
        assert kept["perplexity"] == pytest.approx(numbers["perplexity"], rel=1e-5)
        assert kept["recipe"]["steps"] == 8
    assert found["sonnets-rnn-stable"]["rate"] < 1


def test_without_time_nothing_is_written(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(
        "remanence.subjects.stable_recurrence.__main__.recipe", lambda *_: TINY
    )
    main([str(tmp_path / "kept"), "--minutes", "0"])
    assert "goes on from here" in capsys.readouterr().err
    assert not (tmp_path / "kept").exists() or not list(
        (tmp_path / "kept").glob("*.json")
    )
    with pytest.raises(OutOfTime):
        models(TINY, tmp_path, Parts(Bench(folder=tmp_path / "w", time_limit=0.0)))
