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
from .gates import Compared, gate_weights, in_box, smallest_box, Units
from .metric import Proof, weighted_proof
from .ranged import affine, joined, Ranged
from .rounding import above, below, sigmoid_at, Values


def compare_lstm(form: LSTMForm, input_bound: float) -> Compared:
    """The comparison matrix over the smallest box found, and the paper's condition."""
    W, b = gate_weights(form, 4)
    N, inputs = len(b[0]), W[0].shape[1] - len(b[0])
    x, silent = np.full(inputs, input_bound), np.zeros(inputs)

    def image(h: Units) -> Units:
        c = np.fmin(_largest_memory(W, b, h, x), 1e3)
        return np.minimum(_step(W, b, *in_box(h, c, x, sources=False))[0].size, 1.0)

    h = smallest_box(image, N)
    c = _largest_memory(W, b, h, x)
    after = joined(*_step(W, b, *in_box(h, c, x, sources=True)))
    K, G = np.split(after.slope.T, [2 * N], axis=1)
    nothing = in_box(np.zeros(N), np.zeros(N), silent, sources=False)
    at_rest = joined(*_step(W, b, *nothing)).size
    return Compared(np.concatenate([h, c]), (K,), G, at_rest, paper_proof(W, b, input_bound))


def _gates(W: list, b: list, h: Ranged, x: Ranged) -> tuple[Ranged, Ranged, Ranged, Ranged]:
    v = joined(h, x)
    i, f, g, o = (affine(*block) for block in zip(W, [v] * 4, b, strict=True))
    return i.sigmoid(), f.sigmoid(), g.tanh(), o.sigmoid()


def _largest_memory(W: list, b: list, h: Units, x: Values) -> Units:
    """|c| <= f |c| + i g leaves c within i g / (1 - f)."""
    i, f, g, _ = _gates(W, b, *in_box(h, x, sources=False))
    return above(above(i.high * g.size, 1) / below(1 - f.high, 1), 2)


def _step(W: list, b: list, h: Ranged, c: Ranged, x: Ranged) -> tuple[Ranged, Ranged]:
    """The state (h, c) after a step."""
    i, f, g, o = _gates(W, b, h, x)
    c = f * c + i * g
    return o * c.tanh(), c


def paper_proof(W: list, b: list, input_bound: float) -> Proof:
    """The paper's condition, as the rate that it implies in the largest component."""
    N = len(b[0])
    rows = lambda A: float(above(np.abs(A).sum(axis=1), A.shape[1]).max(initial=0.0))
    w_i, w_f, w_z, w_o = (rows(A[:, :N]) for A in W)
    bias = float(np.max(np.abs(b[1]), initial=0.0))
    drive = above(w_f + input_bound * rows(W[1][:, N:]) + bias, 4)
    f = float(sigmoid_at(np.array([drive]))[1][0])
    leak = below(1 - f, 1)
    rate = f + w_f / (4 * leak) + w_i / 4 + w_z + w_o / 4 if leak > 0 else np.inf
    details = {"forget": f, "condition": max(w_i, w_o) < leak and w_z <= leak / 4 and w_f < leak**2}
    equal = weighted_proof(np.ones(2 * N))
    return equal._replace(rate=above(float(rate), 8), details=details)
