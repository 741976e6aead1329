r"""Gated layers that provably forget: the gate's drive is kept above what the rate asks for.

A pre-normed layer hears $\|\hat x\| \le \sqrt d$, so the drive of a gate stays within $b \pm s$ with $s$ from
the weights. For $\log A = -c\,\mathrm{softplus}(z)$ the condition is $b - s \ge z^*$: a cone in $(s, b - z^*)$,
onto which rows and bias are projected (Miller and Hardt's condition, for this family).
"""

import math
from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from .. import cells


MARGIN = 1.001  # decays are brought so far below what was asked for that single precision proves it


def stable_blocks(cell: cells.Blocks, rate: float) -> cells.Blocks:
    """Every layer such that no channel keeps more than `rate` of itself in a step."""
    needed = -math.log(rate) * MARGIN
    return eqx.tree_at(lambda c: c.layers, cell, tuple(_layer(one, needed) for one in cell.layers))


def _layer(layer: Any, needed: float) -> Any:
    if layer.recurrence is None:
        return layer
    gates = layer.recurrence.gates
    undecayed = isinstance(gates, cells.GatedDelta) and gates.A_log is None
    if undecayed or type(gates) not in PROJECTIONS:
        raise ValueError(f"no stable set is known for the gates of {type(gates).__name__}")
    fixed = isinstance(gates, cells.RWKV6) and gates.decay is not None
    return (_constant if fixed else PROJECTIONS[type(gates)])(layer, gates, needed)


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
        if old is None or len(old[rows]) != len(factor):
            continue
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
        heard = _swing(layer, biased=True)
        swing = jnp.abs(gates.W_dt @ gates.W_x[:rank]) @ heard
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
    heard = _swing(layer, biased=True).reshape(gates.b_r.shape)
    swing = jnp.einsum("bi,bij->bj", heard, jnp.abs(gates.W_r))
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


def _constant(layer: Any, gates: Any, needed: float) -> Any:
    """Decays that no input sets."""
    if isinstance(gates, cells.RetNet):
        held = jnp.minimum(gates.gamma, math.exp(-needed))
        return eqx.tree_at(lambda c: c.recurrence.gates.gamma, layer, held)
    held = jnp.maximum(gates.decay, math.log(needed))
    return eqx.tree_at(lambda c: c.recurrence.gates.decay, layer, held)


def _driven(layer: Any, gates: Any, needed: float) -> Any:
    count, least, sign, name = DRIVES[type(gates)](gates, needed)
    bias = None if name is None else lambda c: getattr(c.recurrence.gates, name)
    return _above(layer, slice(gates.width - count, gates.width), least, bias, sign)


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
    **dict.fromkeys((cells.RetNet, cells.RWKV4), _constant),
    **dict.fromkeys(DRIVES, _driven),
}
