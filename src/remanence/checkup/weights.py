"""What the weights look like: singular values gate by gate."""

from typing import Any

import jax
import numpy as np

from .._precision import as_double, double
from ..cells import Stack
from ..nets import Recurrent


def _matrices(net: Recurrent) -> dict[str, np.ndarray]:
    found = {}
    for path, leaf in jax.tree_util.tree_leaves_with_path(_as_numpy_floats(net)):
        if getattr(leaf, "ndim", 0) == 2:
            found[jax.tree_util.keystr(path).lstrip(".")] = leaf
    return found


def _as_numpy_floats(tree: Any) -> Any:
    """The arrays of a network as float64 NumPy arrays."""
    with double():
        return jax.tree.map(
            lambda leaf: np.asarray(leaf) if hasattr(leaf, "ndim") else leaf, as_double(tree)
        )


def singular_values(net: Recurrent) -> dict[str, np.ndarray]:
    """Singular values of each weight matrix, gate by gate where there are gates."""
    found = {}
    for name, W in _matrices(net).items():
        if name.endswith("embedding") or np.iscomplexobj(W):
            continue
        gates = _gates(net, name, W)
        for part, block in zip(gates, np.split(W, len(gates)), strict=True):
            found[f"{name}{part}"] = np.linalg.svd(block, compute_uv=False)
    return found


def _gates(net: Recurrent, name: str, W: np.ndarray) -> tuple[str, ...]:
    layers = net.cell.cells if isinstance(net.cell, Stack) else (net.cell,)
    kinds = {type(layer).__name__ for layer in layers}
    if "W_h" in name and W.shape[0] == 4 * W.shape[1] and "LSTM" in kinds:
        return (" i", " f", " g", " o")
    if "W_h" in name and W.shape[0] == 3 * W.shape[1] and "GRU" in kinds:
        return (" r", " z", " n")
    return ("",)
