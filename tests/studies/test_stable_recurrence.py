"""Document 004: the parts of the study that a mistake would bend."""

import dataclasses
import math

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import optax
import pytest

from remanence import nets
from remanence.cells import Elman
from remanence.nets import Recurrent
from remanence.report import Bench
from remanence.studies import study
from remanence.studies.stable_recurrence import (
    addition,
    apart,
    boundary,
    instances,
    ladder,
    language,
    recital,
    rules,
)
from remanence.studies.stable_recurrence.config import (
    Adding,
    Config,
    PAPER,
    SHAKESPEARE,
    SONNETS,
    Twins,
)
from remanence.studies.stable_recurrence.parts import OutOfTime, Parts
from remanence.studies.stable_recurrence.peer import GatedConvolution, peer_of


def test_the_peer_hears_its_context_and_no_more(key):
    peer = GatedConvolution.init(3, 4, 5, 4, key=key, tokens=5)
    tokens = jnp.array([0, 1, 2, 3, 4, 0, 1, 2, 3])
    changed = tokens.at[3].set(0)
    differs = np.any(np.asarray(peer(tokens) != peer(changed)), axis=1)
    assert differs.tolist() == [False] * 3 + [True] * 4 + [False] * 2
    with pytest.raises(ValueError, match="context must be a power of two, got 5"):
        GatedConvolution.init(3, 4, 5, 5, key=key)


@pytest.mark.parametrize("context", [1, 2, 16])
def test_the_peer_is_as_large_as_the_lstm(context):
    net = language.model_of(SHAKESPEARE, "lstm", 65, key=jr.key(0))
    peer = peer_of(net, context, key=jr.key(0))
    size = lambda tree: sum(leaf.size for leaf in jax.tree.leaves(tree))
    assert 0.97 < size(peer) / size(net) <= 1


def test_a_traced_window_is_the_truncated_network(key):
    net = language.model_of(SONNETS, "lstm", 9, key=key)
    rows = jr.randint(key, (2, 30), 0, 9)
    for window in (1, 4):
        seen = language.windowed(net, rows, jnp.asarray(window), 8)
        plain = nets.mean_surprise(nets.truncate(net, window), rows, context=8)
        assert float(seen) == pytest.approx(float(plain), rel=1e-5)


def test_a_part_is_made_once_and_a_killed_training_goes_on(tmp_path):
    calls = []

    def part():
        calls.append(0)
        return {"third": 1 / 3}

    for _ in range(2):
        parts = Parts(Bench(folder=tmp_path))
        assert parts.kept("a part", part) == {"third": 1 / 3}
    assert len(calls) == 1
    loss = lambda w, batch, key: ((w - jr.normal(key, (3,))) ** 2).sum()
    how = {"steps": 33, "key": jr.key(0)}
    whole = Parts(Bench(folder=tmp_path / "whole"))
    model = whole.trained("m", jnp.zeros(3), loss, optax.adam(0.1), **how)
    stopped = Parts(Bench(folder=tmp_path / "cut"))
    looks = []

    def impatient():
        looks.append(0)
        if len(looks) > 5:
            raise OutOfTime

    stopped.watch = impatient
    assert stopped.kept("m", lambda: stopped.trained("m", jnp.zeros(3), loss, optax.adam(0.1), **how)) is None  # fmt: skip
    assert stopped.missing == ["m"]
    again = Parts(Bench(folder=tmp_path / "cut"))
    np.testing.assert_array_equal(
        again.trained("m", jnp.zeros(3), loss, optax.adam(0.1), **how), model
    )


def test_the_cheapest_slice_is_given_and_survives_a_stop(tmp_path):
    loss = lambda w, batch, key: (w**2).sum()
    how = {"steps": 32, "key": jr.key(0), "price": lambda w: float(abs(w[0] - 0.5))}
    start = jnp.ones(1)
    parts = Parts(Bench(folder=tmp_path))
    model = parts.trained("m", start, loss, optax.sgd(0.05), **how)
    assert abs(float(model[0]) - 0.5) < 0.08  # the last one is at 0.9^32 = 0.034
    stopped, looks = Parts(Bench(folder=tmp_path / "cut")), []

    def impatient():
        looks.append(0)
        if len(looks) > 8:
            raise OutOfTime

    stopped.watch = impatient
    with pytest.raises(OutOfTime):
        stopped.trained("m", start, loss, optax.sgd(0.05), **how)
    again = Parts(Bench(folder=tmp_path / "cut"))
    np.testing.assert_array_equal(
        again.trained("m", start, loss, optax.sgd(0.05), **how), model
    )


def test_one_draw_is_no_verdict_and_overlapping_draws_are_none():
    of = lambda held, free, **more: rules.matching(
        {"perplexity": {"a rnn stable": held, "a rnn free": free}, **more}
    )
    assert of([10.0], [10.0]) == "open"
    assert of([10.0, 10.1], [10.0, 10.2]) == "holds"
    assert of([10.0, 12.0], [10.0, 10.2]) == "open"
    assert of([11.0, 12.0], [10.0, 10.2]) == "differs"
    assert of([14.0, 15.0], [10.0, 10.2]) == "refuted"
    chords = lambda held: {"j rnn stable": held, "j rnn free": [8.0, 8.1]}
    assert of([10.0], [10.0], jsb_nll=chords([8.05, 8.1])) == "holds"
    assert of([10.0], [10.0], jsb_nll=chords([8.5, 8.6])) == "differs"


def test_no_part_is_begun_when_time_is_up(tmp_path):
    parts = Parts(Bench(folder=tmp_path, time_limit=1e-9))
    assert parts.kept("late", lambda: 1 / 0) is None and parts.missing == ["late"]


def test_what_has_no_data_stays_open(tmp_path):
    said = []

    def gone():
        raise FileNotFoundError("wikitext-2/train.txt was looked for, without success")

    parts = Parts(Bench(folder=tmp_path, tell=said.append))
    assert parts.kept("words", gone) is None and parts.missing == ["words"]
    assert said[-1].startswith("words is left out: wikitext-2/train.txt")


def test_a_state_that_cannot_hear_the_first_number_errs_by_a_twelfth():
    cell = Elman(0.5 * jnp.eye(4), jnp.ones((4, 2)), jnp.zeros(4))
    net = Recurrent(cell, jnp.ones((1, 4)), jnp.zeros(1), None, "last")
    assert addition.sum_floor(net, 80) == pytest.approx(1 / 12, rel=1e-6)
    assert addition.sum_floor(net, 2) < addition.sum_floor(net, 20) < 1 / 12


def test_the_padded_sum_is_the_sum_of_the_marked_numbers(key):
    xs, y = addition.padded(50, jnp.asarray(6), 10, key=key)
    marks = np.asarray(xs[..., 1])
    np.testing.assert_allclose((xs[..., 0] * marks).sum(1), y, rtol=1e-6)
    assert np.all(marks[:, :4] == 0) and np.all(marks.sum(1) == 2)
    assert np.all(marks[:, 4:7].sum(1) == 1)


def test_a_cell_at_rest_loses_the_entropy_of_its_string():
    cell = Elman(0.1 * jnp.eye(4), jnp.zeros((4, 1)), jnp.zeros(4))
    net = Recurrent(cell, jnp.eye(4), jnp.zeros(4))
    string = recital.string_of(8, 0)
    assert sorted(string.tolist()) == [0, 0, 1, 1, 2, 2, 3, 3]
    assert recital.string_floor(net, string) == pytest.approx(math.log(4), rel=1e-12)
    loud = Recurrent(Elman(0.9 * jnp.eye(4), 9 * jnp.ones((4, 1)), jnp.zeros(4)), 9 * jnp.eye(4), jnp.zeros(4))  # fmt: skip
    assert recital.string_floor(loud, string) == 0


def test_the_last_loss_of_a_window_is_that_of_the_truncated_network(key):
    net = language.model_of(SONNETS, "rnn", 7, key=key)
    rows = jr.randint(key, (3, 12), 0, 7)
    near = nets.truncate(net, 4)
    logits = jax.vmap(near)(rows[:, :-1])[:, -1]
    plain = optax.softmax_cross_entropy_with_integer_labels(logits, rows[:, -1]).mean()
    assert float(apart.last_loss(net, rows, 11 - 4)) == pytest.approx(float(plain), rel=1e-5)  # fmt: skip


def test_the_proved_floor_rises_to_chance():
    cell = Elman(0.5 * jnp.eye(4), jnp.eye(4, 6), jnp.zeros(4))
    net = Recurrent(cell, jnp.eye(4), jnp.zeros(4), None, "last")
    floors = [boundary.proved_floor(net, delay) for delay in (0, 4, 30)]
    assert floors[0] == 0 and floors[0] < floors[1] < floors[2]
    assert floors[2] == pytest.approx(math.log(4), abs=1e-6)


def test_the_counterexample_to_the_printed_lemma():
    found = instances.counterexample()
    assert found["gap"] > found["printed"] and found["gap"] <= found["corrected"]


def test_descents_obey_the_recursion_they_are_bounded_by():
    table = instances.descents(4, 1, 12, (2, 4), 15, (0.9,)).sel(norm=0.9)
    assert float((table["gap"] / table["bound"]).max()) <= 1 + 1e-9
    assert float(table["gap"].min()) >= 0
    shorter = table["gap"].isel(step=-1, schedule=0, instance=0)
    assert float(shorter.sel(window=4)) < float(shorter.sel(window=2))


def test_kinds_of_matrices():
    assert np.linalg.matrix_rank(ladder.recurrent_matrix("gaussian", 6, 0)) == 6
    Q = ladder.recurrent_matrix("orthogonal", 6, 0)
    np.testing.assert_allclose(Q.T @ Q, np.eye(6), atol=1e-12)
    with pytest.raises(ValueError, match="no kind of matrix is called 'dense'"):
        ladder.recurrent_matrix("dense", 6, 0)


def test_stable_models_hear_only_what_their_proof_allows():
    model = language.model_of(SONNETS, "lstm", 40, key=jr.key(0))
    wild = jax.tree.map(lambda leaf: 9 * leaf, model)
    held = language.projected(wild)
    assert float(jnp.abs(jnp.asarray(held.embedding)).max()) <= 0.75
    assert float(jnp.abs(held.cell.W_h).sum(1).max()) <= 0.36 + 1e-6


def test_one_program_holds_the_stable_and_leaves_the_free():
    net = language.model_of(SONNETS, "lstm", 40, key=jr.key(0))
    wild = jax.tree.map(lambda leaf: 9 * leaf, net)
    for free, right in ((True, wild), (False, language.projected(wild))):
        seen = language.held(language.Held(wild, jnp.asarray(free))).net
        for a, b in zip(jax.tree.leaves(seen), jax.tree.leaves(right), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-6)
    start = language.Held.of(wild, free=False).net
    assert float(jnp.abs(jnp.asarray(start.embedding)).max()) <= 0.75


def test_a_window_of_the_whole_stretch_truncates_nothing(key):
    net = language.model_of(SONNETS, "rnn", 9, key=key)
    rows = jr.randint(key, (2, 30), 0, 9)
    whole = language.windowed(net, rows, jnp.asarray(30), 8)
    plain = language.evaluated(net, rows, 8)
    assert float(whole) == pytest.approx(float(plain), rel=1e-5)


def test_the_papers_recipe_is_kept_and_marked_unrun():
    assert PAPER["run"] is False and PAPER["epochs"] == 40


@pytest.mark.slow
def test_a_tiny_run_gives_evidence_for_every_statement(tmp_path):
    sonnets = dataclasses.replace(
        SONNETS, steps=8, contexts=(2,), windows=(1, 8), kinds=("rnn",), seeds=2
    )
    tiny = Config(
        instances=1,
        descent_steps=10,
        ladder_units=(4,),
        ladder_draws=1,
        lstm_units=(4,),
        delays=(1,),
        copy_steps=5,
        strings=(2,),
        string_steps=5,
        sums=(2,),
        sum_steps=5,
        adding=Adding(length=4, steps=5, windows=(1, 4), contexts=(2,)),
        twins=Twins(text="sonnets", units=4, steps=3, windows=(2, 5)),
        language=(sonnets,),
    )
    found = study("stable-recurrence")
    outcome = found.run(tiny, Bench(folder=tmp_path))
    assert set(outcome.evidence) == {s.id for s in found.statements}
    scores = outcome.evidence["004.5"]["perplexity"]["sonnets rnn free"]
    assert len(set(scores)) == 2, "two draws are two models"
    for figure in outcome.figures:
        figure.draw()
