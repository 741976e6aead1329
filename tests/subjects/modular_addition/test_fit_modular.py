import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest

from remanence.measure.fourier import spectrum
from remanence.subjects.modular_addition.ablation import modular_accuracy
from remanence.subjects.modular_addition.config import Recipe
from remanence.subjects.modular_addition.fit_modular import (
    CELLS,
    fit_modular,
    modular_network,
    rows_spectrum,
)
from remanence.subjects.modular_addition.task import Modular


SMALL: dict[str, Any] = {"embedding": 8, "units": 24, "learning_rate": 1e-2, "weight_decay": 0.3}


def test_a_small_table_is_learned_and_its_history_holds_the_spectra():
    task = Modular(7)
    done = fit_modular(Recipe(modulus=7, steps=200, every=50, fraction=0.8, **SMALL))
    history = done.history
    assert history.step.values.tolist() == [50, 100, 150, 200]
    assert float(history.train[-1]) == 1.0
    assert done.diverged_at is None
    # The last frame is the spectrum of the weights that came out.
    rows = np.asarray(done.model.embedding, dtype=float)[:7]
    np.testing.assert_allclose(history.energy.values[-1], spectrum(rows), rtol=1e-4)
    right = (39 * float(history.train[-1]) + 10 * float(history.held_out[-1])) / 49
    assert modular_accuracy(done.model, task) == pytest.approx(right)


def test_divergence_is_recorded_and_not_a_number_that_looks_fine():
    wild = SMALL | {"learning_rate": 1e30}
    done = fit_modular(Recipe(modulus=5, steps=20, every=10, **wild))
    assert done.diverged_at is not None and done.diverged_at < 20


@pytest.mark.parametrize("period", [6, 7])
def test_the_traced_spectrum_is_the_measured_one(period):
    rows = jr.normal(jr.key(0), (period, 3))
    ours = rows_spectrum(rows)
    np.testing.assert_allclose(ours, spectrum(np.asarray(rows, float)), rtol=1e-4)


@pytest.mark.parametrize("cell", CELLS)
def test_every_kind_of_cell_starts_with_the_vocabulary_of_the_task(cell):
    recipe = Recipe(modulus=5, steps=1, every=1, embedding=4, units=6)
    net = modular_network(Modular(5), recipe, cell=cell, key=jr.key(0))
    assert net.embedding is not None and net.W_y is not None
    assert net.embedding.shape == (6, 4) and net.W_y.shape == (5, 6)
    assert jax.eval_shape(net, jnp.array([1, 2, 5])).shape == (5,)


def test_a_network_starts_as_torch_starts_it():
    recipe = Recipe(modulus=97, steps=1, every=1, units=64, start="torch", activation="tanh")
    net = modular_network(Modular(97), recipe, key=jr.key(0))
    assert net.embedding is not None and net.W_y is not None and net.b_y is not None
    assert float(net.embedding.std()) == pytest.approx(1.0, rel=0.05)
    for weights in (net.cell.W_x, net.cell.W_h, net.cell.b, net.W_y, net.b_y):
        most = float(jnp.abs(weights).max())
        assert 0.9 / 8 < most <= 1 / 8
        assert float(weights.std()) == pytest.approx(3**-0.5 / 8, rel=0.2)
    assert not jnp.allclose(net.cell.W_h, net.cell.W_x[:, :64])
    drive = net.embedding[3] @ net.cell.W_x.T + net.cell.b
    first = net.cell(net.cell.initial_state(), net.embedding[3])
    np.testing.assert_allclose(first, jnp.tanh(drive), rtol=1e-5, atol=1e-6)


def test_what_cannot_be_trained_is_refused():
    recipe = Recipe(modulus=5, steps=1, every=1)
    with pytest.raises(ValueError, match="cell must be one of elman"):
        fit_modular(recipe, cell="transformer")
    for setting in ("activation", "start"):
        with pytest.raises(ValueError, match=f"{setting} must be one of .*, got 'keras'"):
            fit_modular(dataclasses.replace(recipe, **{setting: "keras"}))
    for fraction in (0.0, 1.0):
        with pytest.raises(ValueError, match="train fraction must"):
            fit_modular(dataclasses.replace(recipe, fraction=fraction))
    with pytest.raises(ValueError, match="steps must be at least 1"):
        fit_modular(dataclasses.replace(recipe, steps=0))
