"""What the weights look like: singular values gate by gate."""

import jax
import numpy as np

from .._precision import as_double, as_numpy, double
from ..nets import Recurrent


GATES = {1: ("",), 3: (" r", " z", " n"), 4: (" i", " f", " g", " o")}
"""The blocks of a square recurrent matrix, by how many there are."""


def singular_values(net: Recurrent) -> dict[str, np.ndarray]:
    """Singular values of each weight matrix, gate by gate where there are gates."""
    with double():
        leaves = jax.tree_util.tree_leaves_with_path(as_numpy(as_double(net)))
    found = {}
    for path, W in leaves:
        name = jax.tree_util.keystr(path).lstrip(".")
        if getattr(W, "ndim", 0) != 2 or name.endswith("embedding") or np.iscomplexobj(W):
            continue
        whole = "W_h" in name and W.shape[0] % W.shape[1] == 0
        gates = GATES.get(W.shape[0] // W.shape[1], ("",)) if whole else ("",)
        for part, block in zip(gates, np.split(W, len(gates)), strict=True):
            found[f"{name}{part}"] = np.linalg.svd(block, compute_uv=False)
    return found
