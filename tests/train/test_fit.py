"""Training: exact on a quadratic, one loop for all, divergence recorded."""

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import optax
import pytest
from fit_cases import ADAM, leaves, noisy, quadratic, rows

from remanence import train


def test_gradient_descent_on_a_quadratic_is_a_geometric_series():
    done = train.fit(jnp.ones(1), quadratic, optax.sgd(0.5), steps=10, key=jr.key(0), every=4)
    assert done.model.tolist() == [0.5**10]
    assert done.history.step.values.tolist() == [4, 8, 10]
    losses = 0.5 * 0.25 ** np.arange(10)
    means = [losses[:4].mean(), losses[4:8].mean(), losses[8:].mean()]
    np.testing.assert_allclose(done.history.loss, means, rtol=1e-6)
    assert (done.steps, done.diverged_at) == (10, None)


def test_a_complex_parameter_goes_downhill():
    target = jnp.asarray([1 + 2j], dtype=jnp.complex64)
    loss = lambda z, drawn, key: (jnp.abs(z - target) ** 2).sum()
    done = train.fit(0 * target, loss, optax.sgd(0.25), steps=40, key=jr.key(0))
    np.testing.assert_allclose(done.model, target, rtol=1e-5)


def test_only_floating_point_arrays_are_trained():
    model = {"w": jnp.ones(2), "n": jnp.arange(2), "f": jnp.tanh, "np": np.ones(1)}
    loss = lambda m, drawn, key: (m["w"] ** 2).sum() + (m["np"] ** 2).sum()
    done = train.fit(model, loss, optax.sgd(0.5), steps=1, key=jr.key(0)).model
    assert done["n"].tolist() == [0, 1] and done["f"] is jnp.tanh
    assert done["w"].tolist() == [0, 0] and done["np"].tolist() == [0]
    with pytest.raises(ValueError, match="nothing to train"):
        train.fit({"n": jnp.arange(2)}, loss, ADAM, steps=1, key=jr.key(0))


def test_projection_follows_every_update():
    half = lambda w: jnp.clip(w, 0.75, None)
    done = train.fit(jnp.ones(3), quadratic, optax.sgd(0.5), steps=5, key=jr.key(0), project=half)
    assert done.model.tolist() == [0.75] * 3


def test_one_program_serves_all_chunks_and_all_calls(problem):
    net, data = problem
    traced = []

    def loss(m, drawn, key):
        traced.append(1)
        return noisy(m, drawn, key)

    train.fit(net, loss, ADAM, steps=3, key=jr.key(1), data=data, batch=rows, every=2)
    first = len(traced)
    train.fit(net, loss, ADAM, steps=9, key=jr.key(2), data=data, batch=rows, every=4)
    assert len(traced) == first


def test_data_is_an_argument_not_a_constant(problem):
    lowered = jax.jit(
        lambda data: train.trained(
            jnp.ones(1),
            lambda w, drawn, key: ((w - drawn) ** 2).mean(),
            ADAM,
            steps=2,
            key=jr.key(0),
            data=data,
        )[0]
    ).lower(jnp.arange(5_000.0))
    assert len(lowered.as_text()) < 40_000


def blows_up(w, drawn, key):
    return jnp.where(w[0] > 2.9, jnp.inf, -w[0])


def test_divergence_is_an_outcome_with_its_step_and_the_last_finite_model(tmp_path):
    settings = {"steps": 10, "key": jr.key(0), "every": 4, "folder": tmp_path}
    done = train.fit(jnp.zeros(1), blows_up, optax.sgd(1.0), **settings)
    # w = 0, 1, 2, 3: the loss of the fourth step, number 3, is infinite.
    assert done.diverged_at == 3 and done.steps == 3
    assert done.model.tolist() == [3.0]
    assert done.history.step.values.tolist() == [4] and np.isinf(done.history.loss[0])
    again = train.fit(jnp.zeros(1), blows_up, optax.sgd(1.0), **settings)
    assert again.diverged_at == 3 and again.history.identical(done.history)


def test_an_update_that_is_not_finite_is_not_taken():
    done = train.fit(jnp.ones(1), quadratic, optax.sgd(float("inf")), steps=3, key=jr.key(0))
    assert done.diverged_at == 0 and done.model.tolist() == [1.0]


def test_lanes_train_apart_and_one_may_diverge():
    def lane(rate):
        return train.trained(
            jnp.ones(1), quadratic, optax.sgd(rate), steps=6, key=jr.key(0), every=3
        )

    models, history = jax.vmap(lane)(jnp.asarray([0.5, 1e30, 0.25]))
    assert history["diverged_at"].tolist() == [-1, 1, -1]
    assert models[0].tolist() == [0.5**6] and models[2].tolist() == [0.75**6]
    assert np.isfinite(models[1]).all()
    assert history["loss"].shape == (3, 2) and np.isnan(history["loss"][1, 1])


def test_trained_and_fit_are_one_loop(problem):
    net, data = problem
    settings = {"steps": 7, "key": jr.key(1), "data": data, "batch": rows, "every": 3}
    model, history = eqx.filter_jit(train.trained)(net, noisy, ADAM, **settings)
    done = train.fit(net, noisy, ADAM, **settings)
    assert all(
        np.allclose(a, b, rtol=1e-6, atol=1e-7)
        for a, b in zip(leaves(model), leaves(done.model), strict=True)
    )
    np.testing.assert_allclose(history["loss"], done.history.loss, rtol=1e-6)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"steps": 0}, "steps must be at least 1, got 0"),
        ({"every": 0}, "every must be at least 1, got 0"),
        ({"metrics": lambda w, data: {"loss": w.sum()}}, "may not be called 'loss'"),
    ],
)
def test_bad_settings_are_refused(change, sentence):
    settings = {"steps": 1, "key": jr.key(0)} | change
    with pytest.raises(ValueError, match=sentence):
        train.fit(jnp.ones(2), quadratic, ADAM, **settings)


def test_a_loss_must_be_one_number():
    with pytest.raises(ValueError, match=r"one real number, got float32\[2\]"):
        train.fit(jnp.ones(2), lambda w, drawn, key: w, ADAM, steps=1, key=jr.key(0))


def test_the_bar_goes_to_stderr(capfd):
    train.fit(jnp.ones(1), quadratic, ADAM, steps=2, key=jr.key(0), title="a run", quiet=False)
    captured = capfd.readouterr()
    assert captured.out == "" and "a run" in captured.err and "2/2" in captured.err
