r"""GRU certificates over an invariant box $|h| \le \bar h$.

$h' = (1 - z) n + z h$ is a mixture, and so is its derivative: row by row

$$|\delta h'| \le z|\delta h| + (1 - z)|\delta n| + (\bar h + \bar n)|\delta z|, \qquad
|\delta n| \le \tau'_n\left(\bar r|U_n| + \bar m\,\sigma'_r|U_r|\right)|\delta h|,\quad
\bar m = |U_n|\bar h + |b'_n|,$$

which is linear in $z$: the worse of its two ends bounds every row.
"""

import numpy as np

from ...cells import GRUForm
from .gates import Compared, gate_weights, in_box, smallest_box
from .metric import weighted_proof
from .ranged import affine, exactly, joined, Ranged
from .rounding import above, exact_weights


def compare_gru(form: GRUForm, input_bound: float) -> Compared:
    """The smallest box found with its matrices at both ends of z, and equal weights."""
    W, b = gate_weights(form, 3)
    N, inputs = len(b[0]), W[0].shape[1] - len(b[0])
    inner = np.zeros(N) if form.b_n is None else exact_weights("b_n", form.b_n, (N,))

    def gate_and_candidate(h: Ranged, x: Ranged) -> tuple[Ranged, Ranged]:
        r, z = (affine(W[k], joined(h, x), b[k]).sigmoid() for k in (0, 1))
        recalled = affine(W[2][:, :N], h, inner)
        return z, (affine(W[2][:, N:], x, b[2]) + r * recalled).tanh()

    x, silent = np.full(inputs, input_bound), np.zeros(inputs)
    # A mixture of state and candidate stays where both are.
    image = lambda h: gate_and_candidate(*in_box(h, x, sources=False))[1].size
    h = smallest_box(image, N)
    z, n = gate_and_candidate(*in_box(h, x, sources=True))
    by_z = (h + n.size) * z.slope
    low, high = (above(above(1 - end, 1) * n.slope + by_z, 6).T for end in (z.low, z.high))
    # Inputs count most where the state is kept least.
    ends = (low[:, :N] + np.diag(z.low), high[:, :N] + np.diag(z.high))
    ends = tuple(above(end, 1) for end in ends)
    z, n = gate_and_candidate(*in_box(np.zeros(N), silent, sources=False))
    at_rest = ((exactly(1.0) + -z) * n).size
    return Compared(h, ends, low[:, N:], at_rest, weighted_proof(np.ones(N), *ends))
