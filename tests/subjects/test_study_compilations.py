"""The longest table or training of every study: more lanes or steps, no more programs."""

import dataclasses

import pytest
from compiled import compilations

from remanence.report import Bench
from remanence.subjects import study
from remanence.subjects.fading_memory.weak_coupling import exponents_over_coupling
from remanence.subjects.memorization.learned import train_memories
from remanence.subjects.modular_addition.config import Recipe
from remanence.subjects.modular_addition.fit_modular import fit_modular
from remanence.subjects.shared_representations.gated_linear import GatedLinear
from remanence.subjects.shared_representations.language_pairs import published_pairs
from remanence.subjects.shared_representations.pair_training import PairRun
from remanence.subjects.shared_representations.sgd_and_flow import momentum_sgd
from remanence.subjects.stable_recurrence.config import SONNETS
from remanence.subjects.stable_recurrence.text_and_music import language_task
from remanence.subjects.stable_recurrence.train_stable_and_free import Parts


def memorization(bench, size):
    config = dataclasses.replace(
        study("memorization").profiles["quick"],
        learned_words=("0001",),
        learned_units=(2,),
        learned_steps=20 * size,
        learned_seeds=4 * size,
        learned_chunk=8,
    )
    train_memories(config, bench)


def fading_memory(bench, size):
    config = dataclasses.replace(
        study("fading-memory").profiles["quick"],
        couplings=(0.1, 0.2),
        spectrum_radii=(0.9, 0.99),
        spectrum_units=(4,),
        spectrum_steps=200,
        seeds=4 * size,
    )
    exponents_over_coupling(config, bench)


def modular_addition(bench, size):
    recipe = Recipe(modulus=5, steps=60 * size, units=8, embedding=4, every=30)
    for seed in range(size):
        fit_modular(recipe, seed=seed)


def shared_representations(bench, size):
    sizes = {"languages": 4, "words": 4, "units": 4}
    runs = [
        PairRun(
            GatedLinear.published(seed=seed, scale=0.1, **sizes),
            published_pairs(0.8, seed=seed, languages=4),
        )
        for seed in range(4 * size)
    ]
    dict(momentum_sgd(runs, mask="diagonal", stop=1e-9, every=50, limit=100 * size))


def stable_recurrence(bench, size):
    small = {"units": 4, "embedding": 3, "batch": 2, "length": 5, "steps": 20}
    task = language_task(dataclasses.replace(SONNETS, **small))
    for part in range(size):
        parts = Parts(dataclasses.replace(bench, folder=bench.folder / str(part)))
        task.train("model", "rnn", True, parts, part, steps=20, rate=1e-2)


@pytest.mark.parametrize(
    "work",
    [memorization, fading_memory, modular_addition, shared_representations, stable_recurrence],
    ids=lambda work: work.__name__,
)
def test_more_lanes_and_steps_need_no_more_programs(work, tmp_path):
    few = compilations(lambda: work(Bench(folder=tmp_path / "few"), 1))
    many = compilations(lambda: work(Bench(folder=tmp_path / "many"), 3))
    assert 1 <= many <= few
