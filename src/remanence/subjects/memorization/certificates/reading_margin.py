r"""A string read once: $h_t = W_h^t h_0$ with any eigenvalues, until `<END>` is said.

After t steps in floating point a plane of eigenvalue $z$ is within
$((1 + \eta)^t - 1)|z|^t$ of its place, $\eta$ what weights and rounding do to it in a
step. The leads have only to last the string.
"""

import math

import numpy as np

from ..written import leads, Written
from .certificate import Certificate, first_state, planes, pulls, TINY, UNIT


def reading_certificate(written: Written, labels: tuple[int, ...]) -> Certificate:
    """For how many steps of one reading every symbol leads, rounding included."""
    W, b = written.W_y, written.b_y
    starts, z = planes(written.W_h)
    h_1, T = first_state(written), np.arange(len(labels))
    phi = np.zeros((len(h_1), len(T)))
    for i, x, end in zip(starts, z, [*starts[1:], len(h_1)], strict=True):
        begin = complex(h_1[i], h_1[i + 1] if end == i + 2 else 0.0)
        powers = begin * np.array([x ** int(t) for t in T])
        phi[i:end] = [powers.real, powers.imag][: end - i]
    w = np.asarray(labels)
    reach = np.abs(W) @ np.abs(phi) + np.abs(b)[:, None]
    reach = reach + reach[w, T]
    lead = leads(W @ phi + b[:, None], w) - (len(W.T) + 2 * T + 10) * UNIT["float64"] * reach
    sizes = np.sqrt(np.add.reduceat(phi**2, starts))
    moved = np.einsum("tkj,jt->kt", pulls(W, starts)[w], sizes)
    steps = {}
    for name, u in UNIT.items():
        # Weights and the start rounded to the type, two products and a sum a step.
        drift = np.expm1((T + 2) * math.log1p((2 + math.sqrt(2)) * u * 1.001))
        room = lead - drift * moved - (len(W.T) + 5) * u * (1 + drift) * reach - TINY
        steps[name] = float(np.append((~(room > 0)).any(axis=0), True).argmax())
    evidence = {"eigenvalues": [str(x) for x in z]}
    return Certificate("margin over one reading", float(lead.min()), steps, evidence)
