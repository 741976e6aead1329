"""A pytree comes back from disk as it was: every dtype, complex numbers, keys, counts."""

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import optax
import pytest

from remanence.train.checkpoint import (
    named_arrays,
    newest_checkpoint,
    save_checkpoint,
    unsealed,
    with_arrays,
)


def never(sentence):
    raise AssertionError(sentence)


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
    save_checkpoint(tmp_path, 5, named_arrays(tree), {"run": {"x": 1}})
    arrays, record = newest_checkpoint(tmp_path, never)
    back = with_arrays(jax.tree.map(lambda a: a, tree), arrays)
    assert record == {"run": {"x": 1}} and back["function"] is jnp.tanh
    for name, array in named_arrays(tree).items():
        again = named_arrays(back)[name]
        assert again.tobytes() == array.tobytes() and again.dtype == array.dtype


def test_another_shape_or_name_is_refused(tmp_path):
    arrays = named_arrays({"w": jnp.ones(3)})
    with pytest.raises(
        ValueError, match=r"float32\[3\] in the checkpoint, float32\[2\]"
    ):
        with_arrays({"w": jnp.ones(2)}, arrays)
    with pytest.raises(ValueError, match="holds no"):
        with_arrays({"v": jnp.ones(3)}, arrays)


def test_two_checkpoints_stay_on_disk(tmp_path):
    for step in range(5):
        save_checkpoint(tmp_path, step, {"w": np.ones(1)}, {})
    stems = sorted({path.stem for path in tmp_path.iterdir()})
    assert stems == ["checkpoint-000000000003", "checkpoint-000000000004"]


def test_no_single_changed_byte_is_believed(tmp_path):
    save_checkpoint(tmp_path, 1, {"w": np.arange(3.0)}, {"run": 1})
    files = sorted(tmp_path.iterdir())
    said, tried = [], 0
    for path in files:
        sound = path.read_bytes()
        for place in range(0, len(sound), 7):
            changed = bytearray(sound)
            changed[place] ^= 0x04
            path.write_bytes(changed)
            found = newest_checkpoint(tmp_path, said.append)
            # White space between the words of the JSON carries no meaning.
            assert found is None or unsealed(bytes(changed)) == unsealed(sound)
            tried += 1
        path.write_bytes(sound[: len(sound) // 2])
        assert newest_checkpoint(tmp_path, said.append) is None
        path.write_bytes(sound)
    assert tried > 30 and len(said) >= tried
    assert newest_checkpoint(tmp_path, never) is not None
