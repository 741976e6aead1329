r"""GRU certificates over an invariant box $|h| \le \bar h$.

$h' = (1 - z) n + z h$ is a mixture, and so is its derivative: row by row

$$|\delta h'| \le z|\delta h| + (1 - z)\,\tau'_n\left(\bar r|U_n| + \bar m\,\sigma'_r|U_r|\right)
|\delta h| + \sigma'_z(\bar h + \bar n)|U_z||\delta h|,\qquad \bar m = |U_n|\bar h + |b'_n|,$$

which is linear in $z$: the worse of its two ends bounds every row.
"""

import numpy as np

from ...cells import GRUForm
from .comparison import weighted_proof
from .gates import (
    candidate,
    Compared,
    drives,
    Gate,
    gate,
    gate_weights,
    Interval,
    smallest_box,
    Units,
)
from .metric import Proof
from .rounding import above, exact_weights, sigmoid_at, tanh_at


def compare_gru(form: GRUForm, input_bound: float) -> tuple[Compared, Proof]:
    """The smallest box found with its matrices at both ends of z, and equal weights."""
    W, U, b = gate_weights(form, 3)
    N = len(b[0])
    inner = np.zeros(N) if form.b_n is None else exact_weights("b_n", form.b_n, (N,))
    opened = lambda h: _gates_over_box(W, U, b, inner, h, input_bound)
    # A mixture of state and candidate stays where both are.
    h = smallest_box(lambda h: opened(h)[2].high, N)
    r, z, n, m = opened(h)
    scale = lambda v, A: v[:, None] * np.abs(A)

    def gains(A, own):
        slope = n.slope * m * r.slope
        through = above(scale(slope, A[0]) + scale(n.slope * own, A[2]), 8)
        return through, above(scale(z.slope * (h + n.high), A[1]), 4)

    through, by_z = gains(W, r.high)
    shut = lambda end: above(1 - end, 1)[:, None]
    ends = tuple(above(np.diag(end) + shut(end) * through + by_z, 4) for end in z[:2])
    through_x, by_x = gains(U, np.ones(N))
    G = above(shut(z.low) * through_x + by_x, 3)
    still = tanh_at(above(np.abs(b[2]) + sigmoid_at(b[0])[1] * np.abs(inner), 3))[1]
    still = above((1 - sigmoid_at(b[1])[0]) * still, 2)
    at_rest = above(float(np.linalg.norm(still)), N + 2)
    return Compared(h, ends, G, at_rest, N), weighted_proof(np.ones(N), *ends)


def _gates_over_box(
    W: list, U: list, b: list, inner: Units, h: Units, input_bound: float
) -> tuple[Gate, Gate, Gate, Units]:
    """Both gates, the candidate, and what the reset gate meets, over a box of states."""
    r, z = (gate(drives(W[k], U[k], b[k], h, input_bound)) for k in (0, 1))
    m = above(np.abs(W[2]) @ h + np.abs(inner), len(h) + 2)
    outside = drives(0 * W[2], U[2], b[2], h, input_bound)
    swing = above(r.high * m, 1)
    size = np.maximum(np.abs(outside.lower), np.abs(outside.upper))
    swing = swing + above(size + swing, 1) * 2.0**-52
    n = candidate(Interval(outside.lower - swing, outside.upper + swing))
    return r, z, n, m
