r"""LSTM and GRU certificates over an invariant box of states, $|h| \le \bar h$, for inputs $|x| \le B_x$.

A drive $z = W h + U x + b$ lies in an interval there, so that gates and their slopes are bounded
(`ranged.py`). The slopes of a step against every component of state and input are the comparison
matrix, from which a norm follows in which the cell contracts. For an LSTM, with bars for the
largest values on the box and primes for the largest slopes,

$$|\delta c'| \le \bar f|\delta c| + \left(\bar c\,\sigma'_f|W_f| + \bar g\,\sigma'_i|W_i|
+ \bar i\,\tau'_g|W_g|\right)|\delta h|, \qquad
|\delta h'| \le \bar t\,\sigma'_o|W_o||\delta h| + \bar o\,|\delta c'|.$$

The paper's condition (Miller and Hardt 2019) is the same with row sums in place of rows,
$\sigma' = 1/4$ and the box $|h| \le 1$, $|c| \le 1/(1-f)$. For a GRU, $h' = (1 - z) n + z h$,

$$|\delta h'| \le z|\delta h| + (1 - z)|\delta n| + (\bar h + \bar n)|\delta z|, \qquad
|\delta n| \le \tau'_n\left(\bar r|U_n| + \bar m\,\sigma'_r|U_r|\right)|\delta h|,\quad
\bar m = |U_n|\bar h + |b'_n|,$$

which is linear in $z$: the worse of its two ends bounds every row.
"""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float

from ...cells import GRUForm, LSTMForm
from .metric import Ball, Domain, maximum_proof, Norm, Proof, scaled_proof, weighted_proof
from .ranged import affine, exactly, joined, Ranged
from .record import best, Bounds, Contraction, Request
from .rounding import above, below, exact_weights, input_gains, sigmoid_at, Values


Units = Float[np.ndarray, " units"]


class Compared(NamedTuple):
    """An invariant box with what it implies for states and inputs."""

    box: Units
    matrices: tuple[Float[np.ndarray, "state state"], ...]
    """Every row of a step obeys one of them."""
    G: Float[np.ndarray, "state inputs"]
    at_rest: Units
    """The moduli of the state after one step from zero without input."""
    simple: Proof
    """Of the paper, or in the largest component."""


def gated_certificate(form: LSTMForm | GRUForm, request: Request) -> Contraction:
    """The best of a simple proof, weighted components and a diagonal scaling."""
    kind, compare = COMPARISONS[type(form)]
    bound = request.input_bound
    if bound is None:
        raise ValueError(f"{kind} needs bounded inputs; give input_bound, the largest component")
    # Where the forget gate may stay open the memory has no bound, and nothing is proved.
    with np.errstate(invalid="ignore", divide="ignore"):
        over = compare(form, bound)
    ways = {
        "norm": lambda: over.simple,
        "infinity": lambda: maximum_proof(*over.matrices),
        "diagonal": lambda: scaled_proof(*over.matrices),
    }
    finite = all(np.all(np.isfinite(A)) for A in (*over.matrices, over.G, over.box))
    ways = ways if finite else dict.fromkeys(ways, ways["norm"])
    proofs, untried = request.try_metrics(ways, kind)
    domain = Domain((Ball(Norm("maximum", over.box), 1.0),))
    gains = input_gains(over.G) if finite else (math.inf, math.inf)
    length = lambda size: above(float(np.linalg.norm(size)), len(size) + 2)
    bounds = Bounds(
        bound,
        *gains,
        length(over.at_rest),
        domain,
        box=over.box,
        radius=length(over.box),
        output=float(np.max(over.box[: np.shape(form.W_h)[-1]])),
        output_domain=domain,
        needs_input_bound=True,
    )
    return best(proofs, bounds, untried=untried, box=over.box)


def _weights(form: Any, gates: int) -> tuple[list, list]:
    """The blocks of the weights, recurrent ones before those of the inputs, and of the bias."""
    N = np.shape(form.W_h)[-1]
    W = exact_weights("W_h", form.W_h, (gates * N, N))
    U = exact_weights("W_x", form.W_x, (gates * N, None))
    b = np.zeros(gates * N) if form.b is None else exact_weights("b", form.b, (gates * N,))
    return np.split(np.concatenate([W, U], axis=1), gates), np.split(b, gates)


def _in_box(*sizes: Values, sources: bool = False) -> list[Ranged]:
    """Vectors with components up to these sizes, each its own source if they are sources."""
    count = sum(map(len, sizes)) if sources else 0
    starts = np.cumsum([0, *map(len, sizes)])
    eye = lambda size, start: np.eye(count, len(size), -start)
    each = zip(sizes, starts, strict=False)
    return [Ranged(-size, size, eye(size, start)) for size, start in each]


def _smallest_box(image: Callable[[Units], Units], units: int) -> Units:
    """The smallest invariant box found in |h| <= 1, out of which `image` may not lead."""
    h = np.ones(units)
    for _ in range(12):
        # Larger boxes have larger images, so each of these boxes is invariant.
        following = np.minimum(h, image(h))
        shrunk = float(np.max(h - following, initial=0.0))
        h = following
        if shrunk < 1e-9:
            break
    return h if np.all(image(h) <= h) else np.ones(units)


def compare_lstm(form: LSTMForm, input_bound: float) -> Compared:
    """The comparison matrix over the smallest box found, and the paper's condition."""
    W, b = _weights(form, 4)
    N, inputs = len(b[0]), W[0].shape[1] - len(b[0])
    x = np.full(inputs, input_bound)

    def gates(h: Ranged, x: Ranged) -> tuple[Ranged, Ranged, Ranged, Ranged]:
        v = joined(h, x)
        i, f, g, o = (affine(*block) for block in zip(W, [v] * 4, b, strict=True))
        return i.sigmoid(), f.sigmoid(), g.tanh(), o.sigmoid()

    def step(h: Ranged, c: Ranged, x: Ranged) -> Ranged:
        """The state (h, c) after a step."""
        i, f, g, o = gates(h, x)
        c = f * c + i * g
        return joined(o * c.tanh(), c)

    def largest_memory(h: Units) -> Units:
        """|c| <= f |c| + i g leaves c within i g / (1 - f)."""
        i, f, g, _ = gates(*_in_box(h, x))
        return above(above(i.high * g.size, 1) / below(1 - f.high, 1), 2)

    def image(h: Units) -> Units:
        c = np.fmin(largest_memory(h), 1e3)
        return np.minimum(step(*_in_box(h, c, x)).size[:N], 1.0)

    h = _smallest_box(image, N)
    c = largest_memory(h)
    K, G = np.split(step(*_in_box(h, c, x, sources=True)).slope.T, [2 * N], axis=1)
    at_rest = step(*_in_box(np.zeros(N), np.zeros(N), np.zeros(inputs))).size
    return Compared(np.concatenate([h, c]), (K,), G, at_rest, _paper_proof(W, b, input_bound))


def _paper_proof(W: list, b: list, input_bound: float) -> Proof:
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


def compare_gru(form: GRUForm, input_bound: float) -> Compared:
    """The smallest box found with its matrices at both ends of z, and equal weights."""
    W, b = _weights(form, 3)
    N, inputs = len(b[0]), W[0].shape[1] - len(b[0])
    inner = np.zeros(N) if form.b_n is None else exact_weights("b_n", form.b_n, (N,))
    x = np.full(inputs, input_bound)

    def gate_and_candidate(h: Ranged, x: Ranged) -> tuple[Ranged, Ranged]:
        r, z = (affine(W[k], joined(h, x), b[k]).sigmoid() for k in (0, 1))
        recalled = affine(W[2][:, :N], h, inner)
        return z, (affine(W[2][:, N:], x, b[2]) + r * recalled).tanh()

    # A mixture of state and candidate stays where both are.
    h = _smallest_box(lambda h: gate_and_candidate(*_in_box(h, x))[1].size, N)
    z, n = gate_and_candidate(*_in_box(h, x, sources=True))
    by_z = (h + n.size) * z.slope
    low, high = (above(above(1 - end, 1) * n.slope + by_z, 6).T for end in (z.low, z.high))
    # Inputs count most where the state is kept least.
    ends = (low[:, :N] + np.diag(z.low), high[:, :N] + np.diag(z.high))
    ends = tuple(above(end, 1) for end in ends)
    z, n = gate_and_candidate(*_in_box(np.zeros(N), np.zeros(inputs)))
    at_rest = ((exactly(1.0) + -z) * n).size
    return Compared(h, ends, low[:, N:], at_rest, weighted_proof(np.ones(N), *ends))


COMPARISONS: dict[type, tuple[str, Callable[[Any, float], Compared]]] = {
    LSTMForm: ("an LSTM", compare_lstm),
    GRUForm: ("a GRU", compare_gru),
}
