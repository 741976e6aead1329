r"""Projection onto stable cells after each step, $w \leftarrow \Pi_\Omega(w - \alpha_t \nabla \ell)$.

Classical cells: singular values clipped at `rate`, the Euclidean projection onto
$\|W_h\|_2 \le \lambda$. LSTM: rows brought inside $\ell_1$ balls, the projection in
the sense of Duchi et al. (2008), with the radii of Miller and Hardt (2019), which
keep $f < .64$ for inputs $|x| \le .75$.
"""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from .._types import Scalar
from ..cells import Blocks, Elman, Linear, LSTM, Stack
from .stable_gates import stable_blocks


Matrix = Float[Array, "rows columns"]
RADII = {"W_i": 0.36, "W_f": 0.128, "W_g": 0.091, "W_o": 0.36, "U_f": 0.25, "b_f": 0.25}
"""The paper's row norms; .091 is a hair above (1 - f)/4 and still contracts by .9971."""
INPUT_BOUND = 0.75  # the modulus of a component of the input for which `RADII` prove f < .64


def stable(cell: Any, *, rate: float = 0.97) -> Any:
    """The nearest cell of its kind in the stable set; `fit(project=...)` takes it.

    `rate` is the Lipschitz constant that classical and linear cells are brought under (for
    activations of slope at most 1). In the layers of a language model no channel keeps more
    than `rate` of itself in a step, whatever the text. Works under `jit`.
    """
    if not 0 < rate < 1:
        raise ValueError(f"rate must lie strictly between 0 and 1, got {rate}")
    if isinstance(cell, Elman | Linear):
        return eqx.tree_at(lambda c: c.W_h, cell, clip_singular_values(cell.W_h, rate))
    if isinstance(cell, LSTM):
        return _lstm(cell)
    if isinstance(cell, Blocks):
        return stable_blocks(cell, rate)
    if isinstance(cell, Stack):
        return Stack(tuple(stable(each, rate=rate) for each in cell.cells))
    raise ValueError(f"no stable set is known for a {type(cell).__name__}")


def clip_singular_values(W: Matrix, rate: Scalar) -> Matrix:
    """The nearest matrix with no singular value above `rate`."""
    U, S, Vt = jnp.linalg.svd(W, full_matrices=False)
    return (U * jnp.minimum(S, rate)) @ Vt


def inside_ball(rows: Matrix, radius: float) -> Matrix:
    r"""Each row's Euclidean projection onto the $\ell_1$ ball of that radius.

    The threshold solves $\sum_i \max(|w_i| - \theta, 0) = r$. Newton's steps from below
    climb to it and stop there (Michelot 1986), for all rows at once, after a few
    passes: several times sooner than a sort.
    """
    size = jnp.abs(rows)
    length = jnp.sum(size, axis=1, keepdims=True)

    def climb(state):
        theta, _ = state
        kept = size > theta
        count = jnp.maximum(jnp.sum(kept, axis=1, keepdims=True), 1)
        mass = jnp.sum(jnp.where(kept, size, 0), axis=1, keepdims=True)
        following = jnp.maximum((mass - radius) / count.astype(rows.dtype), theta)
        return following, jnp.any(following > theta)

    start = jnp.maximum((length - radius) / rows.shape[1], 0)
    theta, _ = jax.lax.while_loop(lambda s: s[1], climb, (start, jnp.bool(True)))
    shrunk = jnp.sign(rows) * jnp.maximum(size - theta, 0)
    return jnp.where(length > radius, shrunk, rows)


def _lstm(cell: LSTM) -> LSTM:
    radii = [RADII[f"W_{gate}"] for gate in "ifgo"]
    W_h = jnp.concatenate(list(map(inside_ball, jnp.split(cell.W_h, 4), radii)))
    forget = slice(cell.W_h.shape[1], 2 * cell.W_h.shape[1])
    W_x = cell.W_x.at[forget].set(inside_ball(cell.W_x[forget], RADII["U_f"]))
    b = cell.b
    if b is not None:
        b = b.at[forget].set(jnp.clip(b[forget], -RADII["b_f"], RADII["b_f"]))
    return LSTM(W_h, W_x, b)
