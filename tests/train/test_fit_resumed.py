"""Training in a folder: the same bits however it is cut, and only where it belongs."""

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import optax
import pytest
from fit_cases import ADAM, mse, noisy, quadratic, rows, same_bits

from remanence import train
from remanence.train.fit import advance


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
        return advance(*args)

    monkeypatch.setattr(module, "advance", interrupted)
    with pytest.raises(KeyboardInterrupt, match="after 6 of 12 steps"):
        train.fit(net, noisy, ADAM, folder=tmp_path, **settings)
    again = train.fit(net, noisy, ADAM, folder=tmp_path, **settings)
    assert len(calls) == 4 + 3  # the first six steps were not repeated
    assert same_bits(again.model, straight.model)
    assert again.history.identical(straight.history)


def test_the_folder_of_another_run_is_refused_by_name(problem, tmp_path):
    net, data = problem
    settings = {"steps": 4, "key": jr.key(1), "data": data, "batch": rows, "every": 2}
    train.fit(net, noisy, ADAM, folder=tmp_path, **settings)
    for change, word in [
        ({"key": jr.key(2)}, "differs in key"),
        ({"data": (data[0] + 1, data[1])}, "differs in data"),
        ({"every": 3}, "differs in every"),
        ({"batch": None}, "differs in batch"),
    ]:
        with pytest.raises(ValueError, match=word):
            train.fit(net, noisy, ADAM, folder=tmp_path, **(settings | change))
    with pytest.raises(ValueError, match="differs in optimizer"):
        train.fit(net, noisy, optax.adam(0.1), folder=tmp_path, **settings)
    with pytest.raises(ValueError, match="4 steps already"):
        train.fit(net, noisy, ADAM, folder=tmp_path, **(settings | {"steps": 3}))


def test_a_damaged_checkpoint_is_named_and_the_one_before_taken(problem, tmp_path, capsys):
    net, data = problem
    settings = {"key": jr.key(1), "data": data, "batch": rows, "every": 2}
    for steps in (2, 4, 6):
        train.fit(net, noisy, ADAM, folder=tmp_path, steps=steps, **settings)
    newest = tmp_path / "checkpoint-000000000006.safetensors"
    content = bytearray(newest.read_bytes())
    content[len(content) // 2] ^= 1
    newest.write_bytes(content)
    again = train.fit(net, noisy, ADAM, folder=tmp_path, steps=8, **settings)
    assert "checkpoint-000000000006.safetensors is damaged" in capsys.readouterr().err
    assert same_bits(again.model, train.fit(net, noisy, ADAM, steps=8, **settings).model)


def test_other_code_starts_anew_and_says_so(problem, tmp_path, monkeypatch, capsys):
    net, data = problem
    settings = {"key": jr.key(1), "data": data, "batch": rows, "folder": tmp_path}
    train.fit(net, noisy, ADAM, steps=2, **settings)
    identity = __import__("remanence.train.identity", fromlist=["x"])
    monkeypatch.setattr(identity, "code_hash", lambda *parts: "other")
    train.fit(net, noisy, ADAM, steps=1, **settings)
    assert "other code, so it is computed again" in capsys.readouterr().err


def test_double_precision_where_asked(tmp_path):
    with jax.enable_x64(True):
        start = jnp.ones(1, dtype=jnp.float64)
        for steps in (1, 3):
            done = train.fit(start, quadratic, ADAM, steps=steps, key=jr.key(0), folder=tmp_path)
        assert done.model.dtype == np.float64
