r"""Linear cells: $W^T P W - \lambda^2 P = -\lambda^2 I$ has a $P \succ 0$ for every $\lambda > \rho(W)$.

So any spectral radius below 1 is certified. Rates near the radius cost overshoot;
among a few, the one is taken that shrinks a gap a millionfold soonest.
"""

import dataclasses
import math
import warnings

import numpy as np
import scipy.linalg

from .full import full_rung
from .lure import Loop, Rung


def lyapunov_rung(loop: Loop) -> Rung | None:
    """The certificate of a linear map, if its spectral radius is below 1."""
    W = loop.R + loop.gamma * loop.slopes[1] * loop.W
    radius = float(np.max(np.abs(np.linalg.eigvals(W)), initial=0.0))
    if radius >= 1:
        return None
    linear = dataclasses.replace(loop, R=W, W=np.zeros_like(W), gamma=0.0)
    best, soonest = None, math.inf
    for part in (1e-6, 1e-3, 0.01, 0.03, 0.1, 0.3, 0.6):
        rate = radius + part * (1 - radius)
        try:
            with warnings.catch_warnings():
                # Near the radius the equation is nearly singular; the proof decides.
                warnings.simplefilter("ignore", scipy.linalg.LinAlgWarning)
                P = scipy.linalg.solve_discrete_lyapunov(W.T / rate, np.eye(len(W)))
        except (scipy.linalg.LinAlgError, ValueError):
            continue
        details = {"spectral_radius": radius}
        rung = full_rung(linear, P, np.ones(len(W)), details)
        if rung is None or rung.rate >= 1:
            continue
        shrinks = math.log(1e6 * rung.overshoot) / -math.log(max(rung.rate, 1e-300))
        if shrinks < soonest:
            best, soonest = rung, shrinks
    return best
