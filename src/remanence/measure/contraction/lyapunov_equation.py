r"""Linear cells: $W^T P W - \lambda^2 P = -\lambda^2 I$ has a $P \succ 0$ for every $\lambda > \rho(W)$.

So any spectral radius below 1 is certified. Rates near the radius cost overshoot;
among a few, the one is taken that shrinks a gap a millionfold soonest.
"""

import dataclasses
import warnings

import numpy as np
import scipy.linalg

from .loop import Loop
from .metric import Proof
from .quadratic_metric import verified_proof


def lyapunov_proof(loop: Loop) -> Proof | None:
    """The certificate of a linear map, if its spectral radius is below 1."""
    coupled = loop.gamma * loop.slopes[1] * loop.W
    W = loop.R + coupled
    # The sum is rounded, and its terms may cancel: what is lost goes by their sizes.
    size = np.abs(loop.R) + np.abs(coupled)
    linear = dataclasses.replace(loop, R=W, R_size=size, W=0 * W, gamma=0.0)
    radius = float(np.max(np.abs(np.linalg.eigvals(W)), initial=0.0))
    found = []
    for part in (1e-6, 1e-3, 0.01, 0.03, 0.1, 0.3, 0.6) if radius < 1 else ():
        rate = radius + part * (1 - radius)
        try:
            with warnings.catch_warnings():
                # Near the radius the equation is nearly singular; the proof decides.
                warnings.simplefilter("ignore", scipy.linalg.LinAlgWarning)
                P = scipy.linalg.solve_discrete_lyapunov(W.T / rate, np.eye(len(W)))
        except (scipy.linalg.LinAlgError, ValueError):
            continue
        proof = verified_proof(linear, P, np.ones(len(W)))
        if proof is not None and proof.rate < 1:
            found.append(proof)
    return min(found, key=lambda proof: proof.patience, default=None)
