"""A pytree on disk: tensors in safetensors, everything else in JSON beside them.

A checkpoint is two files, `NAME-STEP.safetensors` and then `NAME-STEP.json`, each
written whole. The JSON holds the digest of the tensors and of itself, so the pair
is believed only if both are sound; a damaged pair is named and the one before it
is taken.
"""

import hashlib
import json
import pathlib
from collections.abc import Callable
from typing import Any, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from safetensors.numpy import load as tensors_from, save as tensors_to

from .._whole import written_whole


Tree = TypeVar("Tree")
SCHEMA = 1
KEPT = 2
"""How many checkpoints stay on disk: the newest, and one in case it is damaged."""


def named_arrays(tree: Any) -> dict[str, np.ndarray]:
    """The arrays of a pytree by their path; keys and complex numbers as plain numbers."""
    leaves = jax.tree_util.tree_leaves_with_path(eqx.filter(tree, eqx.is_array))
    return {jax.tree_util.keystr(path): _plain(leaf) for path, leaf in leaves}


def with_arrays(like: Tree, arrays: dict[str, np.ndarray]) -> Tree:
    """`like`, its arrays replaced by the named ones; other shapes are refused."""
    dynamic, static = eqx.partition(like, eqx.is_array)

    def found(path, leaf):
        name = jax.tree_util.keystr(path)
        plain = _plain(leaf)
        array = arrays.get(name)
        if array is None:
            raise ValueError(f"the checkpoint holds no {name}")
        if (array.shape, array.dtype) != (plain.shape, plain.dtype):
            raise ValueError(
                f"{name} is {array.dtype}{list(array.shape)} in the checkpoint, "
                f"{plain.dtype}{list(plain.shape)} here"
            )
        return _like(leaf, array)

    return eqx.combine(jax.tree_util.tree_map_with_path(found, dynamic), static)


def _is_key(leaf: Any) -> bool:
    return jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key)


def _plain(leaf: Any) -> np.ndarray:
    if _is_key(leaf):
        leaf = jax.random.key_data(leaf)
    array = np.array(leaf)  # a copy: contiguous, and ours
    if np.iscomplexobj(array):
        array = np.stack([np.real(array), np.imag(array)], axis=-1)
    return array


def _like(leaf: Any, array: np.ndarray) -> Any:
    if _is_key(leaf):
        return jax.random.wrap_key_data(
            jnp.asarray(array), impl=jax.random.key_impl(leaf)
        )
    if jnp.iscomplexobj(leaf):
        array = (array[..., 0] + 1j * array[..., 1]).astype(leaf.dtype)
    return jnp.asarray(array)


def save_checkpoint(
    folder: pathlib.Path, step: int, arrays: dict[str, np.ndarray], record: dict
) -> None:
    """Store `arrays` and a JSON `record` as the state after `step`."""
    stem = folder / f"checkpoint-{step:012d}"
    tensors = tensors_to(arrays)
    body = {
        "schema": SCHEMA,
        "step": step,
        "tensors": hashlib.sha256(tensors).hexdigest(),
        "record": record,
    }
    written_whole(stem.with_suffix(".safetensors"), tensors)
    # The name of the JSON is the moment at which the checkpoint exists.
    written_whole(stem.with_suffix(".json"), sealed(body))
    for old in _checkpoints(folder)[:-KEPT]:
        _remove(old)


def remove_checkpoints(folder: pathlib.Path) -> None:
    """Forget a training; files that only look like its own are left alone."""
    for path in _checkpoints(folder):
        _remove(path)


def _checkpoints(folder: pathlib.Path) -> list[pathlib.Path]:
    return sorted(folder.glob(f"checkpoint-{'[0-9]' * 12}.json"))


def _remove(path: pathlib.Path) -> None:
    path.unlink(missing_ok=True)
    path.with_suffix(".safetensors").unlink(missing_ok=True)


def newest_checkpoint(
    folder: pathlib.Path, tell: Callable[[str], None]
) -> tuple[dict[str, np.ndarray], dict] | None:
    """Arrays and record of the newest sound checkpoint; damaged ones are named."""
    for path in reversed(_checkpoints(folder)):
        try:
            body = unsealed(path.read_bytes())
            tensors = path.with_suffix(".safetensors").read_bytes()
            if body["schema"] != SCHEMA:
                raise ValueError(f"has schema {body['schema']}, not {SCHEMA}")
            if hashlib.sha256(tensors).hexdigest() != body["tensors"]:
                raise ValueError("tensors are not what was written")
            return tensors_from(tensors), body["record"]
        except (ValueError, KeyError, TypeError, OSError) as problem:
            tell(f"{path} is damaged ({problem}); the checkpoint before it is taken")
    return None


def sealed(body: Any) -> bytes:
    """JSON bytes that carry a digest of themselves."""
    text = json.dumps(body, sort_keys=True)
    seal = hashlib.sha256(text.encode()).hexdigest()
    return json.dumps({"seal": seal, "body": body}, sort_keys=True, indent=1).encode()


def unsealed(content: bytes) -> dict:
    """The body of a sealed JSON document, if not a character of it has changed."""
    outer = json.loads(content)
    body = outer["body"]
    text = json.dumps(body, sort_keys=True)
    if hashlib.sha256(text.encode()).hexdigest() != outer["seal"]:
        raise ValueError("the seal does not fit")
    if not isinstance(body, dict):
        raise ValueError("it is no record")
    return body
