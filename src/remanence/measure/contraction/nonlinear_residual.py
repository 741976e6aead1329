r"""A nonlinear residual, $h' = \sigma(R h) + \gamma\,\rho(W h + \dots)$.

Two states differ after a step by $(E R + \gamma D W)\,\delta$ with slopes $|e_i| \le s_\sigma$
and $|d_i| \le s_\rho$, so $|\delta'| \le K|\delta|$ for $K = s_\sigma|R| + |\gamma| s_\rho |W|$,
and $\|\delta'\| \le (s_\sigma\|R\| + |\gamma| s_\rho \|W\|)\,\|\delta\|$.
"""

import dataclasses
import math

import numpy as np

from ...cells import NonlinearResidualForm
from .choice import best, Request
from .comparison import maximum_proof, scaled_proof
from .loop import loop_bounds, loop_of, value_at_zero
from .metric import euclidean, Proof
from .record import Contraction
from .rounding import above, norm_above
from .slopes import size_of, slopes_of


def nonlinear_residual_certificate(form: NonlinearResidualForm, request: Request) -> Contraction:
    """The certificate of a cell whose residual is a `cells.NonlinearResidual`."""
    loop = loop_of(form.loop, request.slopes)
    sigma = form.residual_activation
    outer = slopes_of(sigma)
    s_R, s_W = max(map(abs, outer)), abs(loop.gamma) * loop.largest_slope
    K = above(s_R * np.abs(loop.R) + s_W * np.abs(loop.W), 4)
    norms = norm_above(loop.R), norm_above(loop.W)
    rate = above(s_R * norms[0] + s_W * norms[1], 6)
    proofs, untried = request.try_metrics(
        {
            "norm": lambda: Proof(rate, 1.0, euclidean(loop.units)),
            "infinity": lambda: maximum_proof(K),
            "diagonal": lambda: scaled_proof(K),
        },
        "a nonlinear residual",
    )
    root = loop.units**0.5
    # The inputs enter through the coupled part alone, the states are bounded by both.
    alone = dataclasses.replace(loop, R=np.zeros_like(loop.R))
    bounds = loop_bounds(alone, request.input_bound)
    rest = above(bounds.at_rest + value_at_zero(sigma) * root, 4)
    size = above(size_of(sigma) + abs(loop.gamma) * size_of(loop.activation), 3)
    bounds = dataclasses.replace(
        bounds,
        at_rest=rest,
        box=np.full(loop.units, size) if math.isfinite(size) else None,
        radius=above(size * root, 3),
        output=size,
    )
    return best(proofs, bounds, untried=untried, slopes=loop.slopes, residual_slopes=outer)
