"""A pytree as named arrays, and checkpoints: the parts of a training's store.

The newest checkpoint that is sound counts; a damaged one is named and the one before
it is taken.
"""

import pathlib
from typing import Any, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np

from .store import Store, SUFFIX


Tree = TypeVar("Tree")
STEM = "checkpoint-"
KEPT = 2  # how many checkpoints stay on disk: the newest, and one in case it is damaged


def named_arrays(tree: Any) -> dict[str, np.ndarray]:
    """The arrays of a pytree by their path, copied; drawn keys as plain numbers."""
    found = {}
    for path, leaf in jax.tree_util.tree_leaves_with_path(eqx.filter(tree, eqx.is_array)):
        found[jax.tree_util.keystr(path)] = np.array(jr.key_data(leaf) if _is_key(leaf) else leaf)
    return found


def with_arrays(like: Tree, arrays: dict[str, np.ndarray]) -> Tree:
    """`like`, its arrays replaced by the named ones; other shapes are refused."""
    dynamic, static = eqx.partition(like, eqx.is_array)
    leaves, tree = jax.tree.flatten(dynamic)
    found = []
    for leaf, (name, plain) in zip(leaves, named_arrays(dynamic).items(), strict=True):
        array = arrays.get(name)
        if array is None:
            raise ValueError(f"the checkpoint holds no {name}")
        if (array.shape, array.dtype) != (plain.shape, plain.dtype):
            came = f"{array.dtype}{list(array.shape)} in the checkpoint"
            raise ValueError(f"{name} is {came}, {plain.dtype}{list(plain.shape)} here")
        array = jnp.asarray(array)
        found.append(jr.wrap_key_data(array, impl=jr.key_impl(leaf)) if _is_key(leaf) else array)
    return eqx.combine(jax.tree.unflatten(tree, found), static)


def _is_key(leaf: Any) -> bool:
    return jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key)


def save_checkpoint(store: Store, step: int, arrays: dict[str, np.ndarray]) -> None:
    """Store the state after `step`, and forget all but the newest two."""
    store.put(f"{STEM}{step:012d}", arrays)
    for name in store.names(STEM)[:-KEPT]:
        (store.folder / f"{name}{SUFFIX}").unlink(missing_ok=True)


def newest_checkpoint(store: Store) -> dict[str, np.ndarray] | None:
    """The arrays of the newest sound checkpoint; damaged ones are named."""
    found = (store.get(name) for name in reversed(store.names(STEM)))
    return next((arrays for arrays in found if arrays is not None), None)


def last_step(folder: pathlib.Path) -> int:
    """The step of the newest checkpoint in a folder, by its name; 0 if there is none."""
    steps = (path.stem.removeprefix(STEM) for path in folder.glob(f"{STEM}*"))
    return max((int(step) for step in steps if step.isdecimal()), default=0)
