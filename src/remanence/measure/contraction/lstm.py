r"""LSTM certificates over an invariant box $|h| \le \bar h$, $|c| \le \bar c$.

$$|\delta c'| \le \bar f|\delta c| + \left(\bar c\,\sigma'_f|W_f| + \bar g\,\sigma'_i|W_i|
+ \bar i\,\tau'_g|W_g|\right)|\delta h|, \qquad
|\delta h'| \le \bar t\,\sigma'_o|W_o||\delta h| + \bar o\,|\delta c'|$$
is the comparison matrix, with each bar the largest value on the box and primes the
largest slopes. The paper's condition (Miller and Hardt 2019) is the same with row
sums in place of rows, $\sigma' = 1/4$ and the box $|h| \le 1$, $|c| \le 1/(1-f)$.
"""

import numpy as np

from ...cells import LSTMForm
from .comparison import weighted_proof
from .gates import candidate, Compared, drives, Gate, gate, gate_weights, smallest_box, Units
from .metric import Proof
from .rounding import above, below, sigmoid_at, tanh_at


def compare_lstm(form: LSTMForm, input_bound: float) -> tuple[Compared, Proof]:
    """The comparison matrix over the smallest box found, and the paper's condition."""
    W, U, b = gate_weights(form, 4)
    N = len(b[0])
    opened = lambda h: _gates_over_box(W, U, b, h, input_bound)

    def image(h: Units) -> Units:
        *_, o, _, t = opened(h)
        return np.minimum(above(o.high * t, 1), 1.0)

    h = smallest_box(image, N)
    i, f, g, o, c, t = opened(h)
    scale = lambda v, A: v[:, None] * np.abs(A)

    def gains(A):
        into_c = scale(c * f.slope, A[1]) + scale(g.high * i.slope, A[0])
        into_c = above(into_c + scale(i.high * g.slope, A[2]), 8)
        return into_c, above(scale(t * o.slope, A[3]) + scale(o.high, into_c), 6)

    # Where the forget gate may stay open the memory has no bound, and nothing is proved.
    with np.errstate(invalid="ignore"):
        c_from_h, h_from_h = gains(W)
        c_from_x, h_from_x = gains(U)
    h_from_c = np.diag(above(o.high * f.high, 2))
    K = np.block([[h_from_h, h_from_c], [c_from_h, np.diag(f.high)]])
    G = np.concatenate([h_from_x, c_from_x])
    over = Compared(np.concatenate([h, c]), (K,), G, _at_rest(b), N)
    return over, paper_proof(W, U, b, input_bound)


def _gates_over_box(
    W: list, U: list, b: list, h: Units, input_bound: float
) -> tuple[Gate, Gate, Gate, Gate, Units, Units]:
    """The four gates, the largest memory and its largest tanh, over a box of hidden states."""
    blocks = zip(W, U, b, strict=True)
    i, f, g, o = (drives(*block, h, input_bound) for block in blocks)
    i, f, g, o = gate(i), gate(f), candidate(g), gate(o)
    with np.errstate(divide="ignore"):
        # |c| <= f |c| + i g leaves c within i g / (1 - f).
        c = above(above(i.high * g.high, 1) / below(1 - f.high, 1), 2)
    t = np.minimum(tanh_at(np.fmin(c, 1e3))[1], 1.0)
    return i, f, g, o, c, t


def paper_proof(W: list, U: list, b: list, input_bound: float) -> Proof:
    """The paper's condition, as the rate that it implies in the largest component."""
    rows = lambda A: float(above(np.abs(A).sum(axis=1), A.shape[1]).max(initial=0.0))
    w_i, w_f, w_z, w_o = (rows(A) for A in W)
    bias = float(np.max(np.abs(b[1]), initial=0.0))
    drive = above(w_f + input_bound * rows(U[1]) + bias, 4)
    f = float(sigmoid_at(np.array([drive]))[1][0])
    leak = below(1 - f, 1)
    rate = f + w_f / (4 * leak) + w_i / 4 + w_z + w_o / 4 if leak > 0 else np.inf
    details = {"forget": f, "condition": max(w_i, w_o) < leak and w_z <= leak / 4 and w_f < leak**2}
    equal = weighted_proof(np.ones(2 * len(b[0])))
    return equal._replace(rate=above(float(rate), 8), details=details)


def _at_rest(b: list) -> float:
    """An upper end of the norm of the state after one step from zero without input."""
    i, g, o = sigmoid_at(b[0])[1], tanh_at(np.abs(b[2]))[1], sigmoid_at(b[3])[1]
    c = above(i * g, 1)
    h = above(o * tanh_at(c)[1], 1)
    return above(float(np.linalg.norm(np.concatenate([h, c]))), 2 * len(c) + 2)
