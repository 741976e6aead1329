r"""Gated cells over an invariant box of states: $|h| \le \bar h$, inputs $|x| \le B_x$.

A drive $z = W h + U x + b$ lies in an interval there, so that gates and their slopes are
bounded (`ranged.py`). The slopes of a step against every component of state and input are
the comparison matrix of a cell, from which a norm follows in which it contracts.
"""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float

from .metric import Ball, Domain, maximum_proof, Norm, Proof, scaled_proof
from .ranged import Ranged
from .record import best, Bounds, Contraction, Request
from .rounding import above, exact_weights, input_gains, Values


Units = Float[np.ndarray, " units"]


def gate_weights(form: Any, gates: int) -> tuple[list, list]:
    """The blocks of the weights, recurrent ones before those of the inputs, and of the bias."""
    N = np.shape(form.W_h)[-1]
    W = exact_weights("W_h", form.W_h, (gates * N, N))
    U = exact_weights("W_x", form.W_x, (gates * N, None))
    b = np.zeros(gates * N) if form.b is None else exact_weights("b", form.b, (gates * N,))
    return np.split(np.concatenate([W, U], axis=1), gates), np.split(b, gates)


def in_box(*sizes: Values, sources: bool) -> list[Ranged]:
    """Vectors with components up to these sizes, each its own source if they are sources."""
    count = sum(map(len, sizes)) if sources else 0
    starts = np.cumsum([0, *map(len, sizes)])
    eye = lambda size, start: np.eye(count, len(size), -start)
    each = zip(sizes, starts, strict=False)
    return [Ranged(-size, size, eye(size, start)) for size, start in each]


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


def gated_certificate(
    kind: str, compare: Callable[[Any, float], Compared], form: Any, request: Request
) -> Contraction:
    """The best of a simple proof, weighted components and a diagonal scaling."""
    bound = request.input_bound
    if bound is None:
        raise ValueError(
            f"the certificate of {kind} depends on its inputs; give input_bound, the "
            "largest modulus of a component"
        )
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
