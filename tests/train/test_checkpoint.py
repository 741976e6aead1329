"""A pytree comes back from disk as it was: every dtype, complex numbers, keys, counts."""

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import optax
import pytest

from remanence.train.checkpoint import (
    last_step,
    named_arrays,
    newest_checkpoint,
    save_checkpoint,
    with_arrays,
)
from remanence.train.store import opened_store


def test_every_kind_of_array_comes_back_with_its_bits(tmp_path):
    weights = {"w": jnp.asarray([np.nan, -0.0, 1e-45]), "z": jnp.asarray([1 - 2j])}
    tree = {
        "weights": weights,
        "memory": optax.adam(1e-3).init(weights),
        "key": jr.split(jr.key(3), 2),
        "flag": jnp.asarray([True, False]),
        "count": jnp.asarray(7),
        "function": jnp.tanh,
    }
    with opened_store(tmp_path, {}) as store:
        save_checkpoint(store, 5, named_arrays(tree))
        arrays = newest_checkpoint(store)
    back = with_arrays(jax.tree.map(lambda a: a, tree), arrays)
    assert back["function"] is jnp.tanh
    for name, array in named_arrays(tree).items():
        again = named_arrays(back)[name]
        assert again.tobytes() == array.tobytes() and again.dtype == array.dtype


def test_another_shape_or_name_is_refused(tmp_path):
    arrays = named_arrays({"w": jnp.ones(3)})
    with pytest.raises(ValueError, match=r"float32\[3\] in the checkpoint, float32\[2\]"):
        with_arrays({"w": jnp.ones(2)}, arrays)
    with pytest.raises(ValueError, match="holds no"):
        with_arrays({"v": jnp.ones(3)}, arrays)


def test_two_checkpoints_stay_on_disk(tmp_path):
    with opened_store(tmp_path, {}) as store:
        for step in range(5):
            save_checkpoint(store, step, {"w": np.ones(1)})
        stems = ["checkpoint-000000000003", "checkpoint-000000000004"]
        assert store.names("checkpoint-") == stems
    assert last_step(tmp_path) == 4
