r"""Gated cells over an invariant box of states: what the gates can be there, and what is proved.

A drive $z = W h + U x + b$ with $|h| \le \bar h$ and $|x| \le B_x$ lies in an
interval; the gate, and its slope, are largest at one of its ends or at zero.
"""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float

from .choice import best, Bounds, Request
from .comparison import maximum_proof, scaled_proof
from .metric import Ball, Domain, Norm, Proof
from .record import Contraction
from .rounding import above, below, exact_weights, input_gains, sigmoid_at, tanh_at


Units = Float[np.ndarray, " units"]


class Interval(NamedTuple):
    """Lower and upper ends, rounded outwards."""

    lower: Units
    upper: Units

    @property
    def nearest(self) -> Units:
        """The modulus of the point inside that is nearest to zero."""
        return np.abs(np.clip(0.0, self.lower, self.upper))


class Gate(NamedTuple):
    """The smallest and largest value of a gate, or modulus of a candidate, and its slope."""

    low: Units
    high: Units
    slope: Units


def gate_weights(form, gates: int) -> tuple[list, list, list]:
    """The blocks of the recurrent weights, of the input weights and of the bias."""
    N = np.shape(form.W_h)[-1]
    W = exact_weights("W_h", form.W_h, (gates * N, N))
    U = exact_weights("W_x", form.W_x, (gates * N, None))
    b = np.zeros(gates * N) if form.b is None else exact_weights("b", form.b, (gates * N,))
    return np.split(W, gates), np.split(U, gates), np.split(b, gates)


def smallest_box(image: Callable[[Units], Units], units: int) -> Units:
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


def drives(
    W: Float[np.ndarray, "units units"],
    U: Float[np.ndarray, "units inputs"],
    b: Units,
    box: Units,
    input_bound: float,
) -> Interval:
    """The drive of one gate."""
    terms = W.shape[1] + U.shape[1] + 4
    swing = above(np.abs(W) @ box + input_bound * np.abs(U).sum(axis=1), terms)
    lost = above(np.abs(b) + swing, 2) * 2.0**-52
    return Interval(b - swing - lost, b + swing + lost)


def gate(z: Interval) -> Gate:
    r"""$\sigma$ at both ends and its largest slope $\sigma(1-\sigma)$ between them."""
    low, high = sigmoid_at(z.lower)[0], sigmoid_at(z.upper)[1]
    # The slope is symmetric and falls with |z|; nearest to zero it is largest. It
    # falls with the gate's value above one half, so a lower end bounds it above.
    s = np.maximum(sigmoid_at(z.nearest)[0], 0.5)
    slope = np.minimum(above(s * above(1 - s, 1), 2), 0.25)
    return Gate(np.maximum(low, 0.0), np.minimum(high, 1.0), slope)


def candidate(z: Interval) -> Gate:
    r"""$|\tanh z|$ at its least and largest, and the largest slope $1 - \tanh^2 z$."""
    low = np.maximum(tanh_at(z.nearest)[0], 0.0)
    high = tanh_at(np.maximum(np.abs(z.lower), np.abs(z.upper)))[1]
    slope = above(1 - below(low * low, 1), 1)
    return Gate(low, np.minimum(high, 1.0), np.minimum(slope, 1.0))


class Compared(NamedTuple):
    """An invariant box with what it implies for states and inputs."""

    box: Units
    matrices: tuple[Float[np.ndarray, "state state"], ...]
    """Every row of a step obeys one of them."""
    G: Float[np.ndarray, "state inputs"]
    at_rest: float
    outputs: int
    """How many components, the first ones, the next layer hears."""


def gated_certificate(
    kind: str, compare: Callable[[Any, float], tuple[Compared, Proof]], form: Any, request: Request
) -> Contraction:
    """The best of a simple proof, weighted components and a diagonal scaling."""
    bound = request.input_bound
    if bound is None:
        raise ValueError(
            f"the certificate of {kind} depends on its inputs; give input_bound, the "
            "largest modulus of a component"
        )
    over, simple = compare(form, bound)
    ways = {
        "norm": lambda: simple,
        "infinity": lambda: maximum_proof(*over.matrices),
        "diagonal": lambda: scaled_proof(*over.matrices),
    }
    finite = all(np.all(np.isfinite(A)) for A in (*over.matrices, over.G, over.box))
    ways = ways if finite else dict.fromkeys(ways, ways["norm"])
    proofs, untried = request.try_metrics(ways, kind)
    domain = Domain((Ball(Norm("maximum", over.box), 1.0),))
    gains = input_gains(over.G) if finite else (math.inf, math.inf)
    bounds = Bounds(
        bound,
        *gains,
        over.at_rest,
        domain,
        box=over.box,
        radius=above(float(np.linalg.norm(over.box)), len(over.box)),
        output=float(np.max(over.box[: over.outputs])),
        output_domain=domain,
        needs_input_bound=True,
    )
    return best(proofs, bounds, untried=untried, box=over.box)
