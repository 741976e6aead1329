r"""Projection onto stable cells after each step, $w \leftarrow \Pi_\Omega(w - \alpha_t \nabla \ell)$.

Classical cells: singular values clipped at `rate`, the Euclidean projection onto
$\|W_h\|_2 \le \lambda$. LSTM: rows brought inside $\ell_1$ balls, the projection in
the sense of Duchi et al. (2008), with the radii of Miller and Hardt (2019), which
keep $f < .64$ for inputs $|x| \le .75$.

Gated layers of a language model: a pre-normed layer reads $\|\hat x\| \le \sqrt d$, so the drive of a gate
stays within $b \pm s$ with $s$ from the weights. For $\log A = -c\,\mathrm{softplus}(z)$ the condition is
$b - s \ge z^*$: a cone in $(s, b - z^*)$, onto which rows and bias are projected.
"""

import math
from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from .. import cells
from .._types import Scalar
from ..cells import Blocks, Elman, Linear, LSTM, Stack


Matrix = Float[Array, "rows columns"]
RADII = {"W_i": 0.36, "W_f": 0.128, "W_g": 0.091, "W_o": 0.36, "U_f": 0.25, "b_f": 0.25}
"""The paper's row norms; .091 is a hair above (1 - f)/4 and still contracts by .9971."""
INPUT_BOUND = 0.75  # the modulus of a component of the input for which `RADII` prove f < .64
MARGIN = 1.001  # decays are brought so far below what was asked for that single precision proves it


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
        needed = -math.log(rate) * MARGIN
        held = tuple(_held(layer, needed) for layer in cell.layers)
        return eqx.tree_at(lambda c: c.layers, cell, held)
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


def _held(layer: Any, needed: float) -> Any:
    """A gated layer no channel of which keeps more than exp(-needed) of itself in a step."""
    if layer.recurrence is None:
        return layer
    gates = layer.recurrence.gates
    of_gates = lambda name: lambda c: getattr(c.recurrence.gates, name)
    if isinstance(gates, cells.RetNet):
        return eqx.tree_at(of_gates("gamma"), layer, jnp.minimum(gates.gamma, math.exp(-needed)))
    if isinstance(gates, cells.RWKV4 | cells.RWKV6) and gates.decay is not None:
        return eqx.tree_at(of_gates("decay"), layer, jnp.maximum(gates.decay, math.log(needed)))
    if type(gates) in PROJECTIONS:
        return PROJECTIONS[type(gates)](layer, gates, needed)
    if type(gates) not in DRIVES or getattr(gates, "A_log", 0) is None:
        raise ValueError(f"no stable set is known for the gates of {type(gates).__name__}")
    count, least, sign, bias = DRIVES[type(gates)](gates, needed)
    rows = slice(gates.width - count, gates.width)
    return _above(layer, rows, least, None if bias is None else of_gates(bias), sign)


def _threshold(a: Any) -> Any:
    """Where softplus is a: a number for a number, which is known while compiling."""
    return math.log(math.expm1(a)) if isinstance(a, float) else jnp.log(jnp.expm1(a))


def _swing(layer: Any, *, biased: bool) -> Float[Array, " gates"]:
    """How far from zero (from the bias, unless `biased`) what the gates take can be."""
    W, g = layer.W_in.W, layer.norm.weight
    swing = math.sqrt(len(g)) * jnp.linalg.norm(W * g, axis=1)
    if layer.norm.bias is not None:
        swing = swing + jnp.abs(W @ layer.norm.bias)
    if layer.W_in.b is not None and biased:
        swing = swing + jnp.abs(layer.W_in.b)
    if layer.convolution is not None:
        taps, bias = layer.convolution.weight, layer.convolution.bias
        mixed = jnp.sum(jnp.abs(taps), axis=1) * swing[: len(taps)]
        mixed = mixed if bias is None else mixed + jnp.abs(bias)
        swing = swing.at[: len(taps)].set(mixed)
    return swing


def _cone(swing: Array, room: Array) -> tuple[Array, Array]:
    """Onto swing <= room: what multiplies the weights, and the new room."""
    middle = jnp.maximum((swing + room) / 2, 0.0)
    inside = swing <= room
    factor = jnp.where(inside, 1.0, middle / jnp.maximum(swing, 1e-30) * (1 - 1e-5))
    return factor, jnp.where(inside, room, middle)


def _scaled(layer: Any, rows: slice, factor: Array) -> Any:
    """Some of the rows by which the gates are driven, with what is added to them."""
    where = [lambda c: c.W_in.W, lambda c: c.W_in.b]
    if layer.convolution is not None:
        where.append(lambda c: c.convolution.bias)
    for one in where:
        old = one(layer)
        if old is not None and len(old[rows]) == len(factor):
            each = factor[:, None] if old.ndim == 2 else factor
            layer = eqx.tree_at(one, layer, old.at[rows].multiply(each))
    return layer


def _above(layer: Any, rows: slice, least: Any, bias: Callable | None = None, sign: int = 1) -> Any:
    """Rows of the input map such that sign * (drive + bias) stays above `least`."""
    taps = 0 if layer.convolution is None else len(layer.convolution.weight)
    own = bias is None and layer.W_in.b is not None and rows.start >= taps
    swing = _swing(layer, biased=not own)[rows]
    if bias is None and not own:
        if least >= 0:
            raise ValueError(f"a gate without a bias cannot be held above {least:.3g}; give one")
        factor = jnp.minimum(1.0, -least / jnp.maximum(swing, 1e-30) * (1 - 1e-5))
        return _scaled(layer, rows, factor)
    where = bias or (lambda c: c.W_in.b)
    b = where(layer)
    factor, room = _cone(swing, sign * (b[rows] if own else b.ravel()) - least)
    moved = sign * (room + least)
    layer = _scaled(layer, rows, factor)
    return eqx.tree_at(where, layer, b.at[rows].set(moved) if own else moved.reshape(b.shape))


def _mamba(layer: Any, gates: cells.Mamba, needed: float) -> Any:
    rank = gates.W_dt.shape[1]
    if gates.eps is None:
        inputs = _swing(layer, biased=True)
        swing = jnp.abs(gates.W_dt @ gates.W_x[:rank]) @ inputs
    else:
        swing = math.sqrt(rank) * jnp.linalg.norm(gates.W_dt, axis=1)
    least = _threshold(needed / jnp.exp(jnp.min(gates.A_log, axis=1)))
    factor, room = _cone(swing, gates.b_dt - least)
    where = lambda c: (c.recurrence.gates.W_dt, c.recurrence.gates.b_dt)
    return eqx.tree_at(where, layer, (gates.W_dt * factor[:, None], room + least))


def _rglru(layer: Any, gates: cells.RGLRU, needed: float) -> Any:
    Lambda = jnp.maximum(gates.Lambda, _threshold(needed / 4))
    share = needed / (8 * jax.nn.softplus(Lambda))
    least = (jnp.log(share) - jnp.log1p(-share)).reshape(gates.b_r.shape)
    inputs = _swing(layer, biased=True).reshape(gates.b_r.shape)
    swing = jnp.einsum("bi,bij->bj", inputs, jnp.abs(gates.W_r))
    factor, room = _cone(swing, gates.b_r - least)
    where = lambda c: [getattr(c.recurrence.gates, name) for name in ("Lambda", "W_r", "b_r")]
    return eqx.tree_at(where, layer, [Lambda, gates.W_r * factor[:, None], room + least])


def _minlstm(layer: Any, gates: cells.MinLSTM, needed: float) -> Any:
    """The forget gate's drive at most so far above the input gate's."""
    n, least = gates.units, _threshold(needed) / 2
    if least >= 0:
        raise ValueError("the gates of a minLSTM are held at rates above 1/2 only")
    layer = _above(layer, slice(n, 2 * n), least, sign=-1)
    return _above(layer, slice(2 * n, 3 * n), least)


_decay = lambda g, a: _threshold(a / jnp.exp(g.A_log))
DRIVES: dict[type, Callable[[Any, float], tuple[int, Any, int, str | None]]] = {
    cells.Mamba2: lambda g, a: (len(g.A_log), _decay(g, a), 1, "dt_bias"),
    cells.GatedDelta: lambda g, a: (g.A_log.size, _decay(g, a).ravel(), 1, "bias"),
    cells.MinGRU: lambda g, a: (g.units, _threshold(a), 1, None),
    cells.GLA: lambda g, a: (g.heads.count * g.heads.keys, _threshold(a * g.temperature), -1, None),
    cells.MLSTM: lambda g, a: (g.heads.count, _threshold(a), -1, None),
    cells.RWKV6: lambda g, a: (g.bonus.size, math.log(a), 1, None),
}
"""How many of the last numbers that gates take drive them, how far above which drive, by which
sign, and the name of the bias that the gates add."""
PROJECTIONS: dict[type, Callable[[Any, Any, float], Any]] = {
    cells.Mamba: _mamba,
    cells.RGLRU: _rglru,
    cells.MinLSTM: _minlstm,
}
