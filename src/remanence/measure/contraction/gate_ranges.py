r"""What gates can do while their inputs stay in intervals: decays, writes and readings.

A state $S' = A(u) \odot S + \mathrm{write}(u)$ with $A \le \overline A < 1$ and $|\mathrm{write}| \le w$ stays within
$w / (1 - \overline A)$ once it began there, as the empty one does.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ... import cells
from .ranged import affine, exactly, joined, normed, on_sphere, outward, Ranged
from .rounding import above, enclose, Values


class GateRange(NamedTuple):
    """One step of a recurrence over all inputs in their intervals."""

    log_decay: Values
    """An upper end of log A; it broadcasts to the state."""
    decay_slope: Values
    """How far A moves with the inputs, as `Ranged.slope`."""
    write: Ranged | None = None
    read: Callable[[Ranged], Ranged] | None = None
    """The outputs for a state; None where no bound on it is derived."""
    bound: Values | None = None
    """Of the state, where the kind has a sharper one."""

    @property
    def state_bound(self) -> Values:
        """What no entry of the state exceeds; inf where the decay may be 1."""
        assert self.write is not None
        if self.bound is not None:
            return self.bound
        left = -enclose(self.log_decay, lambda ball: ball.expm1())[1]
        with np.errstate(divide="ignore", over="ignore"):
            return above(self.write.size / np.maximum(left, 0.0), 2)


def gate_range(log_a: Ranged, *rest: Any, **more: Any) -> GateRange:
    """From the range of log A."""
    high = np.minimum(log_a.high, 0.0)
    slope = above(enclose(high, lambda ball: ball.exp())[1] * log_a.slope, 1)
    return GateRange(high, slope, *rest, **more)


def _weights(*arrays: Any) -> list[Values]:
    return [np.asarray(array, np.float64) for array in arrays]


def _mamba(gates: cells.Mamba, u: Ranged) -> GateRange:
    W_x, W_dt, b_dt, D = _weights(gates.W_x, gates.W_dt, gates.b_dt, gates.D)
    rank, states = W_dt.shape[1], gates.A_log.shape[1]
    drive, B, C = affine(W_x, u).split(rank, rank + states)
    if gates.eps is None:
        size = above(np.abs(W_dt) @ np.abs(W_x[:rank]), rank + 2)
        drive = affine(W_dt @ W_x[:rank], u, b_dt, size)
    else:
        drive, B, C = (normed(part, gates.eps, mean=True) for part in (drive, B, C))
        drive = on_sphere(W_dt, b_dt, above(rank**0.5, 1), drive.slope[:, 0])
    dt = drive.softplus()[:, None]
    log_a = -(exactly(gates.A_log).exp() * dt)
    read = lambda S: (S * C).sum(axis=1) + exactly(D) * u
    return gate_range(log_a, dt * u[:, None] * B, read)


def _mamba2(gates: cells.Mamba2, u: Ranged) -> GateRange:
    H, p, n = gates.shape
    at = [H * p, H * p + gates.groups * n, H * p + 2 * gates.groups * n]
    x, B, C, dt = u.split(*at)
    heads = lambda a: np.repeat(a.reshape(gates.groups, 1, n), H // gates.groups, 0)
    x, B, C = x.reshape(H, p, 1), B.each(heads), C.each(heads)
    dt = (dt + exactly(gates.dt_bias)).softplus().within(*gates.limits)[:, None, None]
    log_a = -(exactly(gates.A_log).exp()[:, None, None] * dt)
    skip = exactly(gates.D)[:, None] * x[..., 0]
    read = lambda S: ((S * C).sum(axis=2) + skip).reshape(-1)
    return gate_range(log_a, dt * x * B, read)


def _rglru(gates: cells.RGLRU, u: Ranged) -> GateRange:
    def gate(W: Any, b: Any) -> Ranged:
        W, b = _weights(W, b)
        parts = u.reshape(*b.shape)
        return joined(*(affine(W[i].T, parts[i], b[i]) for i in range(len(b)))).sigmoid()

    r, i = gate(gates.W_r, gates.b_r), gate(gates.W_i, gates.b_i)
    log_a = -(exactly(8.0) * exactly(gates.Lambda).softplus() * r)
    high = np.minimum(log_a.high, 0.0)
    root = lambda ball: (-(2 * ball).expm1()).sqrt()
    least, most = np.nan_to_num(enclose(high, root)[0]), enclose(log_a.low, root)[1]
    with np.errstate(divide="ignore", invalid="ignore"):
        slope = above(log_a.slope / np.maximum(least, 0.0), 2)
    driven = i * u
    kept = Ranged(np.maximum(least, 0), np.maximum(most, 1e-15), np.nan_to_num(slope))
    ratio = lambda ball: ((1 + ball.exp()) / -ball.expm1()).sqrt()
    bound = above(driven.size * np.nan_to_num(enclose(high, ratio)[1], nan=np.inf), 1)
    return gate_range(log_a, kept * driven, lambda S: S, bound)


def _minimal(gates: cells.MinGRU | cells.MinLSTM, u: Ranged) -> GateRange:
    h, *drives = u.split(*range(gates.units, gates.width, gates.units))
    odds = drives[0] if len(drives) == 1 else (-drives[0]).softplus() + -(-drives[1]).softplus()
    # x + 1/2 above zero, a sigmoid below.
    new = outward(np.zeros_like(h.low), np.maximum(h.high, 0.0) + 0.5, h.slope)
    return gate_range(-odds.softplus(), odds.sigmoid() * new, lambda S: S, new.size)


def _heads(gates: Any, u: Ranged) -> list[Ranged]:
    """(q, k, v) as `heads x keys x values` would have them, and what follows."""
    q, k, v, *others = gates.split(u)
    return [q[..., None], k[..., None], v[:, None], *others]


def _gla(gates: cells.GLA, u: Ranged) -> GateRange:
    q, k, v, alpha = _heads(gates, u)
    quotient = np.array([1 / gates.temperature])
    cooled = outward(quotient, quotient, np.zeros((1, 1)))
    return _attention(-(cooled * (-alpha.reshape(*q.low.shape)).softplus()), q, k, v)


def _retnet(gates: cells.RetNet, u: Ranged) -> GateRange:
    log_a = exactly(gates.gamma).rising(lambda ball: ball.log(), 0.0)
    return _attention(log_a[:, None, None], *_heads(gates, u))


def _attention(log_a: Ranged, q: Ranged, k: Ranged, v: Ranged) -> GateRange:
    """Keys times values are written, and queries read."""
    return gate_range(log_a, k * v, lambda S: (q * S).sum(axis=1).reshape(-1))


def _rwkv(gates: cells.RWKV4 | cells.RWKV6, u: Ranged) -> GateRange:
    if gates.decay is not None:
        return gate_range(-exactly(gates.decay).exp())
    return gate_range(-gates.split(u)[3].exp())


def _mlstm(gates: cells.MLSTM, u: Ranged) -> GateRange:
    H, cap = gates.heads.count, gates.cap
    q, k, v, i, f = _heads(gates, u)
    capped = lambda a: a.rising(lambda ball: cap * (ball / cap).tanh(), 1.0)
    i, f = (capped(a)[:, None, None] for a in (i, f))
    one = np.ones((H, 1, 1))
    v = joined(v, Ranged(one, one, np.zeros((len(v.slope), H, 1, 1))))

    def read(S: Ranged) -> Ranged:
        both = (q * exactly(gates.heads.keys**-0.5 * (1 + 1e-15)) * S).sum(axis=1)
        top, under = both[:, :-1], both[:, -1:]
        # Divided by at least 1, and 1/max(|n|, 1) has no slope above 1.
        slope = above(top.slope + top.size * under.slope, 2)
        return Ranged(-top.size, top.size, slope).reshape(-1)

    return gate_range(-(-f).softplus(), i.exp() * k * v, read)


def _delta(gates: cells.GatedDelta, u: Ranged) -> GateRange:
    r"""In the Frobenius norm of a head: $\|(I - \beta k k^\top)\,\mathrm{diag}(\alpha)\| \le \max\alpha$."""
    H, n = gates.heads.count, gates.heads.keys
    q, k, v, b, *drive = _heads(gates, u)
    q, k = (normed(a[..., 0], gates.eps, mean=False) for a in (q, k))
    beta = b.sigmoid()
    log_a, moved = np.zeros(H), np.zeros((2, H))
    if drive:
        assert gates.bias is not None and gates.A_log is not None
        a = drive[0].reshape(H, -1) + exactly(gates.bias)
        alpha = gate_range(-(exactly(gates.A_log).exp() * a.softplus()))
        log_a = alpha.log_decay.max(axis=1)
        moved = alpha.decay_slope.max(axis=2)
    k_moved = k.slope[..., 0]
    slope = above(moved + beta.slope + 2 * beta.size * k_moved, 4)
    length = lambda a: above(np.linalg.norm(a, axis=-1)[..., 0], gates.heads.values + 2)
    V, v_moved = length(v.size), length(v.slope)
    size = above(beta.size * V, 1)
    put = above(beta.slope * V + beta.size * (k_moved * V + v_moved), 6)
    write = Ranged(-size, size, put)
    scale = n**-0.5 * (1 + 1e-15)

    def read(S: Ranged) -> Ranged:
        top = above(scale * S.size, 1)
        slope = above(scale * (S.slope + q.slope[..., 0] * S.size), 3)
        return Ranged(-top, top, slope).each(lambda a: np.repeat(a, gates.heads.values))

    return GateRange(log_a, slope, write, read)


GATES: dict[type, Callable[[Any, Ranged], GateRange]] = {
    cells.Mamba: _mamba,
    cells.Mamba2: _mamba2,
    cells.RGLRU: _rglru,
    cells.MinGRU: _minimal,
    cells.MinLSTM: _minimal,
    cells.GLA: _gla,
    cells.RetNet: _retnet,
    cells.RWKV4: _rwkv,
    cells.RWKV6: _rwkv,
    cells.MLSTM: _mlstm,
    cells.GatedDelta: _delta,
}
