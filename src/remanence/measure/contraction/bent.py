r"""A residual that bends, $h' = \sigma(R h) + \gamma\,\rho(W h + \dots)$.

Two states differ after a step by $(E R + \gamma D W)\,\delta$ with slopes $|e_i| \le s_\sigma$
and $|d_i| \le s_\rho$, so $|\delta'| \le K|\delta|$ for $K = s_\sigma|R| + |\gamma| s_\rho |W|$,
and $\|\delta'\| \le (s_\sigma\|R\| + |\gamma| s_\rho \|W\|)\,\|\delta\|$. What else a function does is
not known, so any other residual given as a function is refused.
"""

import itertools
from typing import Any

import jax.numpy as jnp
import numpy as np

from ...cells import Bent, Residual
from .choice import recorded
from .comparison import maximum_rung, scaled_rung
from .lure import at_rest, gains, Loop, Rung
from .record import Contraction
from .rounding import above, norm_above
from .slopes import size_of, Slopes, slopes_of


def bent(
    cell: Residual, bound: float | None, metric: str, slopes: Slopes | None
) -> Contraction:
    """The certificate of a cell whose residual is a `Bent` map."""
    bend = cell.R
    if not isinstance(bend, Bent):
        raise ValueError(
            "a residual given as a function cannot be certified, since its slopes are not "
            "known; give R as a matrix, a number or cells.Bent(R, activation)"
        )
    if metric in ("full", "lyapunov"):
        raise ValueError(
            f"no {metric} metric is known for a bent residual; try diagonal"
        )
    W, W_x = (np.asarray(w, np.float64) for w in (cell.W_h, cell.W_x))
    R = np.asarray(bend.R, np.float64)
    R = float(R) * np.eye(len(W)) if R.ndim == 0 else R
    for name, w in (("R", R), ("W_h", W), ("W_x", W_x)):
        if not np.all(np.isfinite(w)):
            raise ValueError(f"{name} holds values that are not finite numbers")
    b = np.zeros(len(W)) if cell.b is None else np.asarray(cell.b, np.float64)
    mine = slopes_of(cell.activation, slopes)
    bending = slopes_of(bend.activation)
    gamma = float(cell.coupling)
    loop = Loop(np.zeros_like(W), W, gamma, mine, W_x, b, cell.activation)
    s_R = max(map(abs, bending))
    A, B = s_R * np.abs(R), abs(gamma) * loop.largest_slope * np.abs(W)
    K = above(A + B, 4)
    climb: dict[str, Any] = {
        "norm": lambda: Rung(
            above(s_R * norm_above(R) + abs(gamma) * loop.largest_slope * norm_above(W), 6),
            1.0,
            "ellipsoid",
            np.ones(len(W)),
        ),
        "infinity": lambda: maximum_rung(K),
        "diagonal": lambda: scaled_rung(K),
    }  # fmt: skip
    wanted = tuple(climb) if metric == "auto" else (metric,)
    untried = {"full": "no full metric is known for a bent residual"}
    size = above(size_of(bend.activation) + abs(gamma) * size_of(cell.activation), 3)
    bounded = bool(np.isfinite(size))
    zero = abs(float(np.asarray(bend.activation(jnp.zeros(()))))) * (1 + 1e-6)
    return recorded(
        {name: climb[name]() for name in wanted},
        untried if metric == "auto" else {},
        gains(loop),
        bound,
        above(at_rest(loop) + zero * len(W) ** 0.5, 4),
        np.full(len(W), size) if bounded else None,
        above(size * len(W) ** 0.5, 3) if bounded else float("inf"),
        size,
        _limit(R, W, gamma, bending, mine),
        {"slopes": mine, "bend": bending},
    )


def _limit(R, W, gamma: float, bending: Slopes, mine: Slopes) -> float:
    """The largest spectral radius where all units have one slope, at its ends."""
    corners = itertools.product(bending, mine)
    radius = lambda J: float(np.max(np.abs(np.linalg.eigvals(J))))
    return max(radius(e * R + gamma * d * W) for e, d in corners)
