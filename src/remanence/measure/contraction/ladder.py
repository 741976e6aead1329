r"""`contraction`: the ladder of certificates, from the norm to the full metric."""

import math
import time
from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from ...cells import Diagonal, Elman, GRU, Linear, LSTM, Residual, Stack
from . import lure
from .bent import bent
from .choice import recorded
from .comparison import maximum_rung, scaled_rung
from .full import descended, full_rung
from .gru import compared_gru
from .limit import masked_radius, sampled_radius
from .lstm import compared_lstm, input_gains, paper_rung
from .lure import Rung
from .lyapunov_equation import lyapunov_rung
from .record import Contraction
from .rounding import above, growth_above, norm_above
from .semidefinite import solved
from .slopes import size_of, Slopes


METRICS = ("auto", "norm", "infinity", "diagonal", "full", "lyapunov")
LARGEST_FULL = 600
"""Above so many units the full metric is not tried by itself: minutes a descent."""


def contraction(
    cell: Any,
    *,
    input_bound: float | int | None = None,
    metric: str = "auto",
    time_limit: float | int = 60.0,
    slopes: Slopes | None = None,
    solver: Literal["descent", "clarabel"] = "descent",
) -> Contraction:
    r"""The best proof found that a cell forgets: $\|\delta_k\|_2 \le C\,\lambda^k\|\delta_0\|_2$.

    "auto" climbs from the norm over weighted largest components and diagonal
    metrics to the full metric with multipliers (Miller and Hardt 2019 stop at the
    norm), or to the Lyapunov equation for linear cells, and names in `.evidence`
    what it did not try within `time_limit` seconds. Every number is confirmed by
    our own arithmetic with roundings counted; no solver is believed. Of the rungs
    that prove something, the one is returned that shrinks a gap a millionfold
    soonest, overshoot counted; the others stay in `.evidence["rungs"]`.

    `input_bound` bounds every component of every input, which all inputs of that
    Euclidean norm satisfy; LSTM and GRU cells require it. `slopes` are the slope
    bounds of an activation that is not known by itself. `solver` finds the full
    metric: a quasi-Newton descent, or clarabel for small cells.

    >>> import jax.numpy as jnp
    >>> from remanence.cells import Linear
    >>> cell = Linear(jnp.array([[0.5, 10.0], [0.0, 0.5]]), jnp.ones((2, 1)))
    >>> proof = contraction(cell)
    >>> proof.metric, proof.verified, 0.5 < proof.rate < 0.7
    ('lyapunov', True, True)
    """
    if metric not in METRICS:
        raise ValueError(f"metric must be one of {', '.join(METRICS)}, got {metric!r}")
    if input_bound is not None and not (0 <= input_bound < math.inf):
        raise ValueError(f"input_bound must be a number from 0 up, got {input_bound}")
    if not time_limit > 0:
        raise ValueError(f"time_limit must be positive, got {time_limit}")
    bound = None if input_bound is None else float(input_bound)
    deadline = time.monotonic() + time_limit
    if isinstance(cell, Stack):
        from .stack import stacked

        return stacked(cell, bound, metric, deadline, slopes, solver)
    if isinstance(cell, Diagonal):
        return _diagonal(cell, bound, metric)
    if isinstance(cell, LSTM | GRU):
        return _gated(cell, bound, metric)
    if isinstance(cell, Residual) and callable(cell.R):
        return bent(cell, bound, metric, slopes)
    if isinstance(cell, Linear | Elman | Residual):
        return _looped(cell, bound, metric, deadline, slopes, solver)
    raise ValueError(
        "contraction knows Linear, Elman, LSTM, GRU, Residual, Diagonal and Stack, "
        f"got {type(cell).__name__}{_inside(cell)}"
    )


def _inside(what: Any) -> str:
    known = Linear | Elman | LSTM | GRU | Residual | Diagonal | Stack
    return "; its .cell would do" if isinstance(getattr(what, "cell", 0), known) else ""


def _looped(cell, bound, metric, deadline, slopes, solver) -> Contraction:
    loop = lure.loop_of(cell, slopes)
    rungs: dict[str, Rung] = {}
    untried: dict[str, str] = {}
    linear = loop.slopes[0] == loop.slopes[1] == 1.0
    last = "lyapunov" if linear else "full"
    if metric in ("full", "lyapunov"):
        if metric == "lyapunov" and not linear:
            raise ValueError("the lyapunov metric is for linear cells; try full")
        metric = last
    wanted = ("norm", "infinity", "diagonal", last) if metric == "auto" else (metric,)
    climb: dict[str, Callable[[], Rung | None]] = {
        "norm": lambda: lure.norm_rung(loop),
        "infinity": lambda: lure.infinity_rung(loop),
        "diagonal": lambda: lure.diagonal_rung(loop),
        "lyapunov": lambda: lyapunov_rung(loop),
        "full": lambda: _full(loop, deadline, solver),
    }
    for name in wanted:
        if time.monotonic() > deadline:
            untried[name] = "the time limit had passed"
        elif name == "full" and metric == "auto" and loop.units > LARGEST_FULL:
            untried[name] = f"{loop.units} units; ask for metric='full'"
        elif (rung := climb[name]()) is None:
            untried[name] = "found no metric that our arithmetic confirms"
        else:
            rungs[name] = rung
    if not rungs:
        rungs["norm"] = lure.norm_rung(loop)
    left = max(0.0, deadline - time.monotonic())
    limit, corner = masked_radius(loop, deadline=time.monotonic() + min(left, 5.0))
    gain, gain_2 = lure.gains(loop)
    rest = lure.at_rest(loop)
    radius = lure.box_radius(loop)
    # Without a residual every unit is bounded by itself; else only the norm is.
    alone = not loop.R.any() and math.isfinite(radius)
    size = abs(loop.gamma) * size_of(loop.activation) if alone else radius
    box = np.full(loop.units, above(size, 1)) if alone else None
    extra = {"corner": corner, "slopes": loop.slopes}
    return recorded(
        rungs, untried, (gain, gain_2), bound, rest, box, radius, size, limit, extra
    )


def _full(loop, deadline, solver) -> Rung | None:
    if solver == "clarabel":
        upper = lure.diagonal_rung(loop).rate * (1 + 1e-3)
        found = solved(loop, lower=0.0, upper=upper, deadline=deadline)
        return None if found is None else full_rung(loop, *found)
    return full_rung(loop, *descended(loop, deadline=deadline))


def _gated(cell: LSTM | GRU, bound, metric) -> Contraction:
    kind = type(cell).__name__
    if bound is None:
        raise ValueError(
            f"the certificate of a {kind} depends on its inputs; give input_bound, the "
            "largest modulus of a component"
        )
    if metric in ("full", "lyapunov"):
        raise ValueError(f"no {metric} metric is known for a {kind}; try infinity")
    untried = (
        {"full": f"no full metric is known for a {kind}"} if metric == "auto" else {}
    )
    if isinstance(cell, LSTM):
        compared, other = compared_lstm(cell, bound), None
        paper: Callable[[], Rung] = lambda: paper_rung(cell, bound)
    else:
        compared, other = compared_gru(cell, bound)
        paper = lambda: _plain(compared.K, other)
    climb = {
        "norm": paper,
        "infinity": lambda: maximum_rung(compared.K, other),
        "diagonal": lambda: scaled_rung(
            compared.K if other is None else np.maximum(compared.K, other)
        ),
    }
    wanted = tuple(climb) if metric == "auto" else (metric,)
    if np.all(np.isfinite(compared.K)):
        rungs = {name: climb[name]() for name in wanted}
    else:
        size = len(compared.K)
        rungs = {"infinity": Rung(math.inf, size**0.5, "maximum", np.ones(size))}
    N = np.asarray(cell.W_h).shape[1]
    said = float(np.max(compared.box[:N]))
    radius = above(float(np.linalg.norm(compared.box)), len(compared.box))
    extra = {"box": compared.box}
    inside = metric == "auto" and bool(np.all(np.isfinite(compared.box)))
    limit = sampled_radius(cell, compared.box, bound) if inside else 0.0
    gains = (
        input_gains(compared.G) if np.all(np.isfinite(compared.G)) else (math.inf,) * 2
    )
    return recorded(
        rungs,
        untried,
        gains,
        bound,
        compared.at_rest,
        compared.box,
        radius,
        said,
        limit,
        extra,
    )


def _plain(K, other) -> Rung:
    """Row sums: the unweighted largest component."""
    v = np.ones(len(K))
    rate = max(growth_above(K, v), 0.0 if other is None else growth_above(other, v))
    return Rung(rate, above(len(K) ** 0.5, 2), "maximum", v * len(K) ** -0.5)


def _diagonal(cell: Diagonal, bound, metric) -> Contraction:
    a, B = np.array(cell.a), np.array(cell.B)
    if not (np.all(np.isfinite(a)) and np.all(np.isfinite(B))):
        raise ValueError("a or B holds values that are not finite numbers")
    parts = 2 if np.iscomplexobj(a) else 1
    rate = above(float(np.max(np.abs(a.astype(np.complex128)), initial=0.0)), 4)
    B = np.concatenate([np.real(B), np.imag(B)]) if parts == 2 else B
    B = np.asarray(B, np.float64)
    gains = (input_gains(np.abs(B))[0], above(norm_above(B), 1))
    rung = Rung(rate, 1.0, "ellipsoid", np.ones(parts * len(a)))
    name = "norm" if metric == "auto" else metric
    return recorded(
        {name: rung}, {}, gains, bound, 0.0, None, math.inf, math.inf, rate, {}
    )
