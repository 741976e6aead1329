r"""LSTM certificates over an invariant box $|h| \le \bar h$, $|c| \le \bar c$.

$$|\delta c'| \le \bar f|\delta c| + \left(\bar c\,\sigma'_f|W_f| + \bar g\,\sigma'_i|W_i|
+ \bar i\,\tau'_g|W_g|\right)|\delta h|, \qquad
|\delta h'| \le \bar t\,\sigma'_o|W_o||\delta h| + \bar o\,|\delta c'|$$

is the comparison matrix, with each bar the largest value on the box and primes the
largest slopes. The paper's condition (Miller and Hardt 2019) is the same with row
sums in place of rows, $\sigma' = 1/4$ and the box $|h| \le 1$, $|c| \le 1/(1-f)$.
"""

import dataclasses
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from ...cells import LSTM
from .gates import candidate, drives, gate, Units
from .lure import Rung
from .rounding import above, below, norm_above, sigmoid_at, tanh_at


@dataclasses.dataclass(frozen=True)
class Compared:
    """An invariant box with what it implies for states and inputs."""

    box: Units
    K: Float[np.ndarray, "state state"]
    G: Float[np.ndarray, "state inputs"]
    at_rest: float


class _Opened(NamedTuple):
    """The largest gates, candidate, memory and output over a box of hidden states."""

    i: Units
    i_slope: Units
    f: Units
    f_slope: Units
    g: Units
    g_slope: Units
    o: Units
    o_slope: Units
    c: Units
    t: Units


def compared_lstm(cell: LSTM, input_bound: float, *, rounds: int = 12) -> Compared:
    """The comparison matrices over the smallest box found, each step rounded up."""
    parts = _parts(cell)
    h = np.ones(parts["W"][0].shape[0])
    at = _opened(parts, h, input_bound)
    for _ in range(rounds):
        # What one box maps to makes the next, which lies inside it: since larger
        # boxes have larger images, no orbit leaves a box made in this way.
        following = np.minimum(h, above(at.o * at.t, 1))
        shrunk = float(np.max(h - following, initial=0.0))
        h = following
        at = _opened(parts, h, input_bound)
        if shrunk < 1e-9:
            break
    scale = lambda v, A: v[:, None] * np.abs(A)

    def felt(A):
        into_c = scale(at.c * at.f_slope, A[1]) + scale(at.g * at.i_slope, A[0])
        into_c = above(into_c + scale(at.i * at.g_slope, A[2]), 8)
        return into_c, above(scale(at.t * at.o_slope, A[3]) + scale(at.o, into_c), 6)

    c_from_h, h_from_h = felt(parts["W"])
    c_from_x, h_from_x = felt(parts["U"])
    h_from_c = np.diag(above(at.o * at.f, 2))
    K = np.block([[h_from_h, h_from_c], [c_from_h, np.diag(at.f)]])
    G = np.concatenate([h_from_x, c_from_x])
    return Compared(np.concatenate([h, at.c]), K, G, _at_rest(parts["b"]))


def _opened(parts: dict, h: Units, input_bound: float) -> _Opened:
    i, f, g, o = (
        drives(W, U, b, h, input_bound)
        for W, U, b in zip(parts["W"], parts["U"], parts["b"], strict=True)
    )
    _, i_high, i_slope = gate(i)
    _, f_high, f_slope = gate(f)
    _, o_high, o_slope = gate(o)
    g_high, g_slope = candidate(g)
    with np.errstate(divide="ignore", invalid="ignore"):
        # |c| <= f |c| + i g leaves c within i g / (1 - f).
        c = above(above(i_high * g_high, 1) / below(1 - f_high, 1), 2)
    t = np.minimum(tanh_at(np.fmin(c, 1e3))[1], 1.0)
    return _Opened(
        i_high, i_slope, f_high, f_slope, g_high, g_slope, o_high, o_slope, c, t
    )


def paper_rung(cell: LSTM, input_bound: float) -> Rung:
    """The paper's condition, as the rate that it implies in the largest component."""
    parts = _parts(cell)
    rows = lambda A: float(
        np.max(above(np.abs(A).sum(axis=1), A.shape[1]), initial=0.0)
    )
    w_i, w_f, w_z, w_o = (rows(A) for A in parts["W"])
    bias = float(np.max(np.abs(parts["b"][1]), initial=0.0))
    drive = above(w_f + input_bound * rows(parts["U"][1]) + bias, 4)
    f = float(sigmoid_at(np.array([drive]))[1][0])
    leak = below(1 - f, 1)
    inside = leak > 0
    rate = f + w_f / (4 * leak) + w_i / 4 + w_z + w_o / 4 if inside else np.inf
    details = {
        "forget": f,
        "condition": bool(
            inside and max(w_i, w_o) < leak and w_z <= leak / 4 and w_f < leak**2
        ),
        "row_norms": {"i": w_i, "f": w_f, "z": w_z, "o": w_o},
    }
    n = 2 * parts["W"][0].shape[0]
    weights = np.full(n, n**-0.5)
    return Rung(above(float(rate), 8), above(n**0.5, 2), "maximum", weights, details)


def input_gains(G: Float[np.ndarray, "state inputs"]) -> tuple[float, float]:
    r"""$L_x$ from the largest component of $x$ and from its Euclidean norm."""
    rows = above(G.sum(axis=1), G.shape[1])
    euclidean = norm_above(G, 2)
    largest = above(float(np.linalg.norm(rows)), len(rows) + 2)
    return min(largest, above(euclidean * G.shape[1] ** 0.5, 3)), euclidean


def _parts(cell: LSTM) -> dict:
    W, U = np.asarray(cell.W_h, np.float64), np.asarray(cell.W_x, np.float64)
    b = np.zeros(len(W)) if cell.b is None else np.asarray(cell.b, np.float64)
    for name, w in (("W_h", W), ("W_x", U), ("b", b)):
        if not np.all(np.isfinite(w)):
            raise ValueError(f"{name} holds values that are not finite numbers")
    split = lambda A: np.split(A, 4)
    return {"W": split(W), "U": split(U), "b": split(b)}


def _at_rest(b) -> float:
    """An upper end of the norm of the state after one step from zero without input."""
    i, g, o = sigmoid_at(b[0])[1], tanh_at(np.abs(b[2]))[1], sigmoid_at(b[3])[1]
    c = above(i * g, 1)
    h = above(o * tanh_at(c)[1], 1)
    return above(float(np.linalg.norm(np.concatenate([h, c]))), 2 * len(c) + 2)
