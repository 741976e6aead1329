"""Training: exact on a quadratic, the same bits however it is cut, divergence recorded."""

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import optax
import pytest

from remanence import cells, nets, train
from remanence.train.fit import advanced


def quadratic(w, drawn, key):
    return 0.5 * (w**2).sum()


def leaves(tree):
    return [
        np.asarray(leaf) for leaf in jax.tree.leaves(eqx.filter(tree, eqx.is_array))
    ]


def same_bits(one, other):
    return all(
        np.array_equal(a, b) for a, b in zip(leaves(one), leaves(other), strict=True)
    )


def noisy(model, drawn, key):
    xs, ys = drawn
    return ((jax.vmap(model)(xs)[:, -1, 0] - ys) ** 2).mean() + 0.1 * jr.normal(key)


def rows(data, step, key):
    picked = jr.randint(key, (4,), 0, data[0].shape[0])
    return data[0][picked], data[1][picked]


def mse(model, data):
    return {"mse": noisy(model, data, jr.key(9))}


ADAM = optax.adam(1e-2)


@pytest.fixture(scope="module")
def problem():
    key_cell, key_read, key_data = jr.split(jr.key(0), 3)
    cell = cells.Elman.init(1, 4, key=key_cell)
    net = nets.Recurrent.init(cell, outputs=1, key=key_read)
    xs = jr.normal(key_data, (16, 5, 1))
    return net, (xs, xs.sum((1, 2)))


def test_gradient_descent_on_a_quadratic_is_a_geometric_series():
    done = train.fit(
        jnp.ones(1), quadratic, optax.sgd(0.5), steps=10, key=jr.key(0), every=4
    )
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
    done = train.fit(
        jnp.ones(3), quadratic, optax.sgd(0.5), steps=5, key=jr.key(0), project=half
    )
    assert done.model.tolist() == [0.75] * 3


@pytest.mark.parametrize("stops", [(3,), (1, 2, 5, 11), (4, 8), (10, 11)])
def test_wherever_it_stops_the_bits_are_the_same(problem, tmp_path, stops):
    net, data = problem
    settings = {"key": jr.key(1), "data": data, "batch": rows, "every": 4}
    settings["metrics"] = mse
    straight = train.fit(net, noisy, ADAM, steps=12, **settings)
    for stop in (*stops, 12):
        again = train.fit(net, noisy, ADAM, steps=stop, folder=tmp_path, **settings)
    assert same_bits(again.model, straight.model)
    both = again.history.sel(step=[12])
    assert both.mse.identical(straight.history.mse.sel(step=[12]))
    if all(stop % 4 == 0 for stop in stops):
        assert again.history.identical(straight.history)


def test_an_interrupted_run_says_so_and_continues(problem, tmp_path, monkeypatch):
    net, data = problem
    settings = {"steps": 12, "key": jr.key(1), "data": data, "batch": rows, "every": 2}
    straight = train.fit(net, noisy, ADAM, **settings)
    module = __import__("sys").modules["remanence.train.fit"]
    calls = []

    def interrupted(*args):
        calls.append(1)
        if len(calls) == 4:
            raise KeyboardInterrupt
        return advanced(*args)

    monkeypatch.setattr(module, "advanced", interrupted)
    with pytest.raises(KeyboardInterrupt, match="after 6 of 12 steps"):
        train.fit(net, noisy, ADAM, folder=tmp_path, **settings)
    again = train.fit(net, noisy, ADAM, folder=tmp_path, **settings)
    assert len(calls) == 4 + 3  # the first six steps were not repeated
    assert same_bits(again.model, straight.model)
    assert again.history.identical(straight.history)


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
    done = train.fit(
        jnp.ones(1), quadratic, optax.sgd(float("inf")), steps=3, key=jr.key(0)
    )
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


def test_the_folder_of_another_run_is_refused_by_name(problem, tmp_path):
    net, data = problem
    settings = {"steps": 4, "key": jr.key(1), "data": data, "batch": rows, "every": 2}
    train.fit(net, noisy, ADAM, folder=tmp_path, **settings)
    for change, word in [
        ({"key": jr.key(2)}, "its key differs"),
        ({"data": (data[0] + 1, data[1])}, "its data differs"),
        ({"every": 3}, "its every differs"),
        ({"batch": None}, "its batch differs"),
    ]:
        with pytest.raises(ValueError, match=word):
            train.fit(net, noisy, ADAM, folder=tmp_path, **(settings | change))
    with pytest.raises(ValueError, match="its optimizer differs"):
        train.fit(net, noisy, optax.adam(0.1), folder=tmp_path, **settings)
    with pytest.raises(ValueError, match="4 steps already"):
        train.fit(net, noisy, ADAM, folder=tmp_path, **(settings | {"steps": 3}))


@pytest.mark.parametrize("victim", ["json", "safetensors"])
def test_a_damaged_checkpoint_is_named_and_the_one_before_taken(
    problem, tmp_path, victim, capsys
):
    net, data = problem
    settings = {"key": jr.key(1), "data": data, "batch": rows, "every": 2}
    for steps in (2, 4, 6):
        train.fit(net, noisy, ADAM, folder=tmp_path, steps=steps, **settings)
    newest = tmp_path / f"checkpoint-000000000006.{victim}"
    content = bytearray(newest.read_bytes())
    content[len(content) // 2] ^= 1
    newest.write_bytes(content)
    again = train.fit(net, noisy, ADAM, folder=tmp_path, steps=8, **settings)
    assert "checkpoint-000000000006.json is damaged" in capsys.readouterr().err
    assert same_bits(
        again.model, train.fit(net, noisy, ADAM, steps=8, **settings).model
    )


def test_other_code_starts_anew_and_says_so(problem, tmp_path, monkeypatch, capsys):
    net, data = problem
    settings = {"key": jr.key(1), "data": data, "batch": rows, "folder": tmp_path}
    train.fit(net, noisy, ADAM, steps=2, **settings)
    identity = __import__("remanence.train.identity", fromlist=["x"])
    monkeypatch.setattr(identity, "code_hash", lambda *parts: "other")
    train.fit(net, noisy, ADAM, steps=1, **settings)
    assert "other code, so the training starts anew" in capsys.readouterr().err


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
    train.fit(
        jnp.ones(1), quadratic, ADAM, steps=2, key=jr.key(0), title="a run", quiet=False
    )
    captured = capfd.readouterr()
    assert captured.out == "" and "a run" in captured.err and "2/2" in captured.err


def test_double_precision_where_asked(tmp_path):
    with jax.enable_x64(True):
        start = jnp.ones(1, dtype=jnp.float64)
        for steps in (1, 3):
            done = train.fit(
                start, quadratic, ADAM, steps=steps, key=jr.key(0), folder=tmp_path
            )
        assert done.model.dtype == np.float64
