"""Parts are made once, and go on where they were stopped."""

import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest

from remanence.report import Bench
from remanence.subjects.stable_recurrence.train_stable_and_free import OutOfTimeError, Parts, Task


def trained(parts, start, loss, steps, rate, validation=None):
    """One free model of a task, trained with these parts."""
    task = Task(
        name="m",
        network=lambda kind, free, key: start,
        loss=loss,
        measure=lambda net, free, draw: {},
        steps=steps,
        rates=(rate,),
        validation=validation,
    )
    return task.train("m", "rnn", True, parts, 0, steps, rate)


def test_a_part_is_made_once_and_a_killed_training_goes_on(tmp_path):
    calls = []

    def part():
        calls.append(0)
        return {"third": 1 / 3}

    for _ in range(2):
        parts = Parts(Bench(folder=tmp_path))
        assert parts.get_or_make("a part", part) == {"third": 1 / 3}
    assert len(calls) == 1
    loss = lambda w, batch, key: ((w - jr.normal(key, (3,))) ** 2).sum()
    train = lambda parts: trained(parts, jnp.zeros(3), loss, 33, 0.1)
    model = train(Parts(Bench(folder=tmp_path / "whole")))
    stopped = Parts(Bench(folder=tmp_path / "cut"))
    looks = []

    def impatient():
        looks.append(0)
        if len(looks) > 5:
            raise OutOfTimeError

    stopped.watch = impatient
    assert stopped.get_or_make("m", lambda: train(stopped)) is None
    assert stopped.missing == ["m"]
    again = Parts(Bench(folder=tmp_path / "cut"))
    np.testing.assert_array_equal(train(again), model)


def test_the_cheapest_slice_is_given_and_survives_a_stop(tmp_path):
    loss = lambda w, batch, key: (w**2).sum()
    validation = lambda w: float(abs(w[0] - 0.5))
    train = lambda parts: trained(parts, jnp.ones(1), loss, 32, 0.05, validation)
    model = train(Parts(Bench(folder=tmp_path)))
    assert abs(float(model[0]) - 0.5) < 0.08  # the last one is below 0.3
    stopped, looks = Parts(Bench(folder=tmp_path / "cut")), []

    def impatient():
        looks.append(0)
        if len(looks) > 8:
            raise OutOfTimeError

    stopped.watch = impatient
    with pytest.raises(OutOfTimeError):
        train(stopped)
    again = Parts(Bench(folder=tmp_path / "cut"))
    np.testing.assert_array_equal(train(again), model)


def test_no_part_is_begun_when_time_is_up(tmp_path):
    parts = Parts(Bench(folder=tmp_path, time_limit=1e-9))
    assert parts.get_or_make("late", lambda: 1 / 0) is None and parts.missing == ["late"]


def test_what_has_no_data_stays_open(tmp_path):
    said = []

    def gone():
        raise FileNotFoundError("wikitext-2/train.txt was looked for, without success")

    parts = Parts(Bench(folder=tmp_path, tell=said.append))
    assert parts.get_or_make("words", gone) is None and parts.missing == ["words"]
    assert said[-1].startswith("words is left out: wikitext-2/train.txt")
