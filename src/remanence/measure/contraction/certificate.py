r"""`contraction`: the best certificate of a cell, from the norm to the full metric."""

import dataclasses
import math
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ...cells import DiagonalForm, dimension, GRUForm, LoopForm, LSTMForm, StackForm
from ...nets import Recurrent
from .blocks import blocks_certificate
from .loop import infinity_proof, loop_bounds, loop_of, masked_radius, norm_proof, Slopes
from .lstm_and_gru import gated_certificate
from .metric import euclidean, Proof
from .quadratic_metric import lyapunov_proof, quadratic_proof
from .record import best, Bounds, Contraction, METRICS, Request
from .rounding import above, below, exact_weights, input_gains
from .stack import stack_certificate


LARGEST_FULL = 600
"""Above so many units the full metric is not tried by itself: minutes a descent."""


def contraction(
    cell: Any,
    *,
    input_bound: float | int | None = None,
    metric: str = "auto",
    time_limit: float | int = 60.0,
    slopes: Slopes | None = None,
) -> Any:
    r"""The best proof found that a cell forgets: $\|\delta_k\|_2 \le C\,\lambda^k\|\delta_0\|_2$.

    It speaks of inputs within `input_bound` and of the states in `.domain`: all of them for cells
    with one activation, an invariant box for gated cells. "auto" goes from the norm over weighted
    largest components and diagonal metrics to the full metric with multipliers (Miller and Hardt
    2019 stop at the norm), or to the Lyapunov equation for linear cells, and names in `.evidence`
    what it did not try within `time_limit` seconds. Every number is confirmed by our own arithmetic
    with roundings counted; no search is believed. Of the metrics that prove something, the one is
    returned that shrinks a gap a millionfold soonest, overshoot counted; the others stay in
    `.evidence["metrics"]`.

    `input_bound` bounds every component of every input, which all inputs of that
    Euclidean norm satisfy; LSTM and GRU cells require it. `slopes` are the slope
    bounds of an activation that is not known by itself. A cell of one's own is
    certified if it offers `contraction_form()`. The body of a recurrent language model needs
    no bound, since norms bound what its layers read: it has a `StackProof`.

    >>> import jax.numpy as jnp
    >>> from remanence.cells import Linear
    >>> cell = Linear(jnp.array([[0.5, 10.0], [0.0, 0.5]]), jnp.ones((2, 1)))
    >>> proof = contraction(cell)
    >>> proof.metric, proof.verified, 0.5 < proof.rate < 0.7, str(proof.domain)
    ('lyapunov', True, True, 'all states')
    """
    if metric not in ("auto", *METRICS):
        raise ValueError(f"metric must be one of auto, {', '.join(METRICS)}, got {metric!r}")
    if input_bound is not None and not (0 <= input_bound < math.inf):
        raise ValueError(f"input_bound must be a number from 0 up, got {input_bound}")
    if not time_limit > 0:
        raise ValueError(f"time_limit must be positive, got {time_limit}")
    if hasattr(cell, "layers"):
        return blocks_certificate(cell)
    bound = None if input_bound is None else float(input_bound)
    request = Request(bound, metric, time.monotonic() + time_limit, slopes)
    forms = list(_layers(cell))
    proofs: list[Contraction] = []
    for left, form in zip(range(len(forms), 0, -1), forms, strict=True):
        now = time.monotonic()
        share = (request.deadline - now) / left
        asked = dataclasses.replace(request, input_bound=bound, deadline=now + share)
        proofs.append(CERTIFICATES[type(form)](form, asked))
        if proofs[-1].vacuous:
            break
        reach = proofs[-1].evidence["output_bound"]
        bound = reach if math.isfinite(reach) else None
    return proofs[0] if len(forms) == 1 else stack_certificate(proofs, dimension(cell))


def _layers(cell: Any) -> Iterator[Any]:
    """The forms of a cell's layers, those of stacks inside stacks too."""
    kind = type(cell).__name__
    if "contraction_form" not in vars(type(cell)):
        # A subclass may step otherwise than the class whose form it inherits.
        why = ", which only inherits one" if hasattr(cell, "contraction_form") else ""
        inside = "; its .cell would do" if isinstance(cell, Recurrent) else ""
        raise ValueError(
            "contraction needs a cell that offers contraction_form() itself, as Linear, "
            f"Elman, LSTM, GRU, Residual, Diagonal and Stack do, got {kind}{why}{inside}"
        )
    form = cell.contraction_form()
    if isinstance(form, StackForm):
        for layer in form.cells:
            yield from _layers(layer)
        return
    if type(form) not in CERTIFICATES:
        known = ", ".join(known.__name__ for known in CERTIFICATES)
        raise ValueError(
            f"contraction_form() of {kind} gave {type(form).__name__}; one of {known} would do"
        )
    yield form


def _loop(form: LoopForm, request: Request) -> Contraction:
    loop = loop_of(form, request.slopes)
    quadratic = lambda full: quadratic_proof(loop, full=full, deadline=request.deadline)
    ways: dict[str, Callable[[], Proof | None]] = {
        "norm": lambda: norm_proof(loop),
        "infinity": lambda: infinity_proof(loop),
        "diagonal": lambda: quadratic(full=False),
        "full": lambda: quadratic(full=True),
    }
    untried = {}
    if loop.slopes[0] == loop.slopes[1]:
        # Slopes without room need no multipliers: the cell is linear.
        del ways["full"]
        ways["lyapunov"] = lambda: lyapunov_proof(loop)
        if request.metric == "full":
            request = dataclasses.replace(request, metric="lyapunov")
    elif request.metric == "auto" and loop.units > LARGEST_FULL:
        del ways["full"]
        untried["full"] = f"{loop.units} units; ask for metric='full'"
    proofs, missing = request.try_metrics(ways, "a cell with an activation")
    limit = masked_radius(loop, deadline=min(request.deadline, time.monotonic() + 5.0))
    bounds = loop_bounds(loop, request.input_bound)
    return best(proofs, bounds, untried=untried | missing, limit=limit, slopes=loop.slopes)


def _diagonal(form: DiagonalForm, request: Request) -> Contraction:
    parts = lambda A: [np.real(A), np.imag(A)] if np.iscomplexobj(form.a) else [A]
    a = np.stack([exact_weights("a", part, (None,)) for part in parts(np.asarray(form.a))])
    B = [exact_weights("B", part, (a.shape[1], None)) for part in parts(np.asarray(form.B))]
    size = float(np.max(np.hypot(*a) if len(a) == 2 else np.abs(a), initial=0.0))
    proof = Proof(above(size, 4), 1.0, euclidean(a.size))
    bounds = Bounds(request.input_bound, *input_gains(np.concatenate(B)))
    # Units that do not meet contract alike in every metric that keeps them apart.
    name = "norm" if request.metric == "auto" else request.metric
    return best({name: proof}, bounds, limit=below(size, 4))


CERTIFICATES: dict[type, Callable[[Any, Request], Contraction]] = {
    LoopForm: _loop,
    LSTMForm: gated_certificate,
    GRUForm: gated_certificate,
    DiagonalForm: _diagonal,
}
