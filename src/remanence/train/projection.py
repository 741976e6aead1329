r"""Projection onto stable cells after each step, $w \leftarrow \Pi_\Omega(w - \alpha_t \nabla \ell)$.

Classical cells: singular values clipped at `rate`, the Euclidean projection onto
$\|W_h\|_2 \le \lambda$. LSTM: rows brought inside $\ell_1$ balls, the projection in
the sense of Duchi et al. (2008), with the radii of Miller and Hardt (2019), which
keep $f < .64$ for inputs $|x| \le .75$. The author's released code rescales columns
instead, always, and leaves the biases: `by="columns"` is that, as an ablation.
"""

from typing import Any, Literal

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from ..cells import Elman, GRU, Linear, LSTM, Residual, Stack


Matrix = Float[Array, "rows columns"]
RADII = {"W_i": 0.36, "W_f": 0.128, "W_g": 0.091, "W_o": 0.36, "U_f": 0.25, "b_f": 0.25}
"""The paper's row norms; .091 is a hair above (1 - f)/4 and still contracts by .9971."""
INPUT_BOUND = 0.75
"""The modulus of a component of the input for which `RADII` prove f < .64."""


def stable(cell: Any, *, rate: float = 0.97, by: Literal["rows", "columns"] = "rows") -> Any:
    """The nearest cell of its kind in the stable set; `fit(project=...)` takes it.

    `rate` is the Lipschitz constant that classical, linear and residual cells are
    brought under (for activations of slope at most 1); of a residual cell first `R`,
    then the coupled matrix within what that leaves. A GRU is scaled down row by
    row as an LSTM is. Works under `jit`.
    """
    if not 0 < rate < 1:
        raise ValueError(f"rate must lie strictly between 0 and 1, got {rate}")
    if by not in ("rows", "columns"):
        raise ValueError(f"by must be 'rows' or 'columns', got {by!r}")
    if isinstance(cell, Elman | Linear):
        return eqx.tree_at(lambda c: c.W_h, cell, clipped(cell.W_h, rate))
    if isinstance(cell, Residual):
        return _residual(cell, rate)
    if isinstance(cell, LSTM):
        return _lstm(cell, by)
    if isinstance(cell, GRU):
        return _gru(cell, rate)
    if isinstance(cell, Stack):
        return Stack(tuple(stable(each, rate=rate, by=by) for each in cell.cells))
    raise ValueError(f"no stable set is known for a {type(cell).__name__}")


def clipped(W: Matrix, rate: float) -> Matrix:
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

    def climbed(state):
        theta, _ = state
        kept = size > theta
        count = jnp.maximum(jnp.sum(kept, axis=1, keepdims=True), 1)
        mass = jnp.sum(jnp.where(kept, size, 0), axis=1, keepdims=True)
        following = jnp.maximum((mass - radius) / count.astype(rows.dtype), theta)
        return following, jnp.any(following > theta)

    start = jnp.maximum((length - radius) / rows.shape[1], 0)
    theta, _ = jax.lax.while_loop(lambda s: s[1], climbed, (start, jnp.bool(True)))
    shrunk = jnp.sign(rows) * jnp.maximum(size - theta, 0)
    return jnp.where(length > radius, shrunk, rows)


def rescaled_columns(W: Matrix, radius: float) -> Matrix:
    """The author's variant: columns divided by their norm, whether it is needed or not."""
    norm = jnp.sum(jnp.abs(W), axis=0, keepdims=True)
    return W * (radius / jnp.maximum(norm, 1e-12))


def _lstm(cell: LSTM, by: str) -> LSTM:
    W_i, W_f, W_g, W_o = jnp.split(cell.W_h, 4)
    U_i, U_f, U_g, U_o = jnp.split(cell.W_x, 4)
    bring = inside_ball if by == "rows" else rescaled_columns
    W_h = jnp.concatenate(
        [
            bring(W_i, RADII["W_i"]),
            bring(W_f, RADII["W_f"]),
            bring(W_g, RADII["W_g"]),
            bring(W_o, RADII["W_o"]),
        ]
    )
    W_x = jnp.concatenate([U_i, bring(U_f, RADII["U_f"]), U_g, U_o])
    b = cell.b
    if b is not None and by == "rows":
        b_i, b_f, b_g, b_o = jnp.split(b, 4)
        held = jnp.clip(b_f, -RADII["b_f"], RADII["b_f"])
        b = jnp.concatenate([b_i, held, b_g, b_o])
    return LSTM(W_h, W_x, b)


def _gru(cell: GRU, rate: float) -> GRU:
    """Rows inside balls for which every row of the comparison matrix sums below 1.

    With z + (1 - z)(|U_n| + |U_r|/4 m) + |U_z|/2 <= 1 - (1 - z)(1 - rate): candidate
    rows of norm rate/2, reset rows of rate, update rows scaled by the room at z = .64.
    """
    W_r, W_z, W_n = jnp.split(cell.W_h, 3)
    U_r, U_z, U_n = jnp.split(cell.W_x, 3)
    W_h = jnp.concatenate(
        [inside_ball(W_r, rate), inside_ball(W_z, 0.128), inside_ball(W_n, rate / 2)]
    )
    W_x = jnp.concatenate([U_r, inside_ball(U_z, 0.25), U_n])
    b = cell.b
    if b is not None:
        b_r, b_z, b_n = jnp.split(b, 3)
        b = jnp.concatenate([b_r, jnp.clip(b_z, -0.25, 0.25), b_n])
    b_n = None if cell.b_n is None else jnp.clip(cell.b_n, -0.25, 0.25)
    return GRU(W_h, W_x, b, b_n)


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
        R = clipped(cell.R, rate)
        kept = jnp.linalg.norm(R, ord=2)
    room = jnp.maximum(rate - kept, 0) / jnp.maximum(jnp.asarray(cell.coupling), 1e-12)
    U, S, Vt = jnp.linalg.svd(cell.W_h, full_matrices=False)
    W_h = (U * jnp.minimum(S, jnp.asarray(room, S.dtype))) @ Vt
    return eqx.tree_at(lambda c: (c.R, c.W_h), cell, (R, W_h))
