"""Document 004: the parts of the study that a mistake would bend."""

import dataclasses
import math

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest

from remanence.cells import Elman
from remanence.nets import Recurrent
from remanence.report import Bench
from remanence.studies import study
from remanence.studies.stable_recurrence import boundary, instances, ladder, language
from remanence.studies.stable_recurrence.config import Config, PAPER, SONNETS
from remanence.studies.stable_recurrence.peer import equal_units, GatedConvolution


def test_the_peer_hears_its_width_and_no_more(key):
    peer = GatedConvolution.init(5, 3, 4, 3, key=key)
    tokens = jnp.array([0, 1, 2, 3, 4, 0, 1])
    changed = tokens.at[3].set(0)
    differs = np.any(np.asarray(peer(tokens) != peer(changed)), axis=1)
    assert differs.tolist() == [False, False, False, True, True, True, False]
    assert equal_units(SONNETS, 50, 1) > equal_units(SONNETS, 50, 16)


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
    assert float(jnp.abs(held.embedding).max()) <= 0.75
    assert float(jnp.abs(held.cell.W_h).sum(1).max()) <= 0.36 + 1e-6


def test_the_papers_recipe_is_kept_and_marked_unrun():
    assert PAPER["run"] is False and PAPER["epochs"] == 40


@pytest.mark.slow
def test_a_tiny_run_gives_evidence_for_every_statement(tmp_path):
    sonnets = dataclasses.replace(
        SONNETS, steps=8, peer_widths=(2,), windows=(1, 8), kinds=("rnn",)
    )
    tiny = Config(
        instances=1,
        descent_steps=10,
        ladder_units=(4,),
        ladder_draws=1,
        lstm_units=(4,),
        delays=(1,),
        copy_steps=5,
        language=(sonnets,),
    )
    found = study("stable-recurrence")
    outcome = found.run(tiny, Bench(folder=tmp_path))
    assert set(outcome.evidence) == {s.id for s in found.statements}
    for figure in outcome.figures:
        figure.draw()
