"""Certificates of gated cells, from comparison matrices over an invariant box of states."""

import dataclasses
import math

import numpy as np
from jaxtyping import Float

from .choice import best, Bounds, Request
from .comparison import maximum_proof, scaled_proof
from .gates import Units
from .metric import Ball, Domain, Norm, Proof
from .record import Contraction
from .rounding import above, input_gains


@dataclasses.dataclass(frozen=True)
class Compared:
    """An invariant box with what it implies for states and inputs."""

    box: Units
    matrices: tuple[Float[np.ndarray, "state state"], ...]
    """Every row of a step obeys one of them."""
    G: Float[np.ndarray, "state inputs"]
    at_rest: float
    outputs: int
    """How many components, the first ones, the next layer hears."""


def required_bound(request: Request, kind: str) -> float:
    """The bound on inputs, which gated cells need."""
    if request.input_bound is None:
        raise ValueError(
            f"the certificate of {kind} depends on its inputs; give input_bound, the "
            "largest modulus of a component"
        )
    return request.input_bound


def gated_certificate(kind: str, over: Compared, simple: Proof, request: Request) -> Contraction:
    """The best of a simple proof, weighted components and a diagonal scaling."""
    ways = {
        "norm": lambda: simple,
        "infinity": lambda: maximum_proof(*over.matrices),
        "diagonal": lambda: scaled_proof(*over.matrices),
    }
    finite = all(np.all(np.isfinite(A)) for A in (*over.matrices, over.G, over.box))
    ways = ways if finite else dict.fromkeys(ways, ways["norm"])
    proofs, untried = request.try_metrics(ways, kind)
    bound = required_bound(request, kind)
    domain = Domain((Ball(Norm("maximum", over.box), 1.0),))
    gain, euclidean = input_gains(over.G) if finite else (math.inf, math.inf)
    bounds = Bounds(
        bound,
        gain,
        euclidean,
        over.at_rest,
        domain,
        box=over.box,
        radius=above(float(np.linalg.norm(over.box)), len(over.box)),
        output=float(np.max(over.box[: over.outputs])),
        output_domain=domain,
        needs_input_bound=True,
    )
    return best(proofs, bounds, untried=untried, box=over.box)
