r"""Projection onto stable cells after each step, $w \leftarrow \Pi_\Omega(w - \alpha_t \nabla \ell)$.

Classical cells: singular values clipped at `rate`, the Euclidean projection onto
$\|W_h\|_2 \le \lambda$. LSTM: rows brought inside $\ell_1$ balls, the projection in
the sense of Duchi et al. (2008), with the radii of Miller and Hardt (2019), which
keep $f < .64$ for inputs $|x| \le .75$.
"""

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from .._types import Scalar
from ..cells import Blocks, Elman, GRU, Linear, LSTM, Residual, Stack
from .stable_gates import stable_blocks


Matrix = Float[Array, "rows columns"]
RADII = {"W_i": 0.36, "W_f": 0.128, "W_g": 0.091, "W_o": 0.36, "U_f": 0.25, "b_f": 0.25}
"""The paper's row norms; .091 is a hair above (1 - f)/4 and still contracts by .9971."""
INPUT_BOUND = 0.75
"""The modulus of a component of the input for which `RADII` prove f < .64."""


def stable(cell: Any, *, rate: float = 0.97) -> Any:
    """The nearest cell of its kind in the stable set; `fit(project=...)` takes it.

    `rate` is the Lipschitz constant that classical, linear and residual cells are
    brought under (for activations of slope at most 1); of a residual cell first `R`,
    then the coupled matrix within what that leaves. A GRU is scaled down row by
    row as an LSTM is. In the layers of a language model no channel keeps more than `rate`
    of itself in a step, whatever the text. Works under `jit`.
    """
    if not 0 < rate < 1:
        raise ValueError(f"rate must lie strictly between 0 and 1, got {rate}")
    if isinstance(cell, Elman | Linear):
        return eqx.tree_at(lambda c: c.W_h, cell, clip_singular_values(cell.W_h, rate))
    if isinstance(cell, Residual):
        return _residual(cell, rate)
    if isinstance(cell, LSTM):
        return _lstm(cell)
    if isinstance(cell, GRU):
        return _gru(cell, rate)
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


def _each_gate(
    bring: Callable[[Array, float], Array], array: Array | None, *radii: float | None
) -> Any:
    """The rows of each gate brought within its radius; None leaves a gate as it is."""
    if array is None:
        return None
    parts = zip(jnp.split(array, len(radii)), radii, strict=True)
    return jnp.concatenate([p if radius is None else bring(p, radius) for p, radius in parts])


def _clip(array: Array, radius: float) -> Array:
    return jnp.clip(array, -radius, radius)


def _lstm(cell: LSTM) -> LSTM:
    return LSTM(
        _each_gate(inside_ball, cell.W_h, *(RADII[f"W_{gate}"] for gate in "ifgo")),
        _each_gate(inside_ball, cell.W_x, None, RADII["U_f"], None, None),
        _each_gate(_clip, cell.b, None, RADII["b_f"], None, None),
    )


def _gru(cell: GRU, rate: float) -> GRU:
    """Rows inside balls for which every row of the comparison matrix sums below 1.

    With z + (1 - z)(|U_n| + |U_r|/4 m) + |U_z|/2 <= 1 - (1 - z)(1 - rate): candidate
    rows of norm rate/2, reset rows of rate, update rows scaled by the room at z = .64.
    """
    return GRU(
        _each_gate(inside_ball, cell.W_h, rate, 0.128, rate / 2),
        _each_gate(inside_ball, cell.W_x, None, 0.25, None),
        _each_gate(_clip, cell.b, None, 0.25, None),
        _each_gate(_clip, cell.b_n, 0.25),
    )


def _residual(cell: Residual, rate: float) -> Residual:
    r"""$\|R\| + \gamma\|W_h\| \le \lambda$: what the residual leaves goes to the coupling.

    An array `R` is brought under the rate first; a plain number is nobody's to train.
    """
    if callable(cell.R):
        raise ValueError("a residual given as a function has no known stable set")
    if isinstance(cell.R, float | int):
        if abs(cell.R) >= rate:
            raise ValueError(
                f"the residual {cell.R:g} alone does not contract by the rate {rate:g}, "
                "whatever the coupling; a smaller residual or a larger rate would do"
            )
        R, kept = cell.R, abs(cell.R)
    elif cell.R.ndim == 0:
        R = jnp.clip(cell.R, -rate, rate)
        kept = jnp.abs(R)
    else:
        R = clip_singular_values(cell.R, rate)
        kept = jnp.linalg.norm(R, ord=2)
    room = jnp.maximum(rate - kept, 0) / jnp.maximum(jnp.asarray(cell.coupling), 1e-12)
    W_h = clip_singular_values(cell.W_h, jnp.asarray(room, cell.W_h.dtype))
    return eqx.tree_at(lambda c: (c.R, c.W_h), cell, (R, W_h))
