r"""The adder as a dynamical system: exponents, certificate, horizon, and its written twin."""

import math
from typing import Any

import numpy as np
import scipy.linalg

from ...cells import dimension
from ...construct import Adder
from ...measure import contraction, lyapunov_spectrum, truncation_window
from ...nets import Recurrent
from ...report import Row
from ...tasks.modular import Modular
from .dissection import Dissection, matrices


def stream(task: Modular, sums: int, *, seed: int) -> np.ndarray:
    """Tokens of one sum after the other, `a b = a b = …`, never reset."""
    random = np.random.default_rng(seed)
    tokens = random.integers(0, task.modulus, size=(sums, 3))
    tokens[:, 2] = task.modulus
    return tokens.ravel().astype(np.int32)


def forgetting(
    net: Recurrent, task: Modular, *, steps: int, seed: int, time_limit: float = 5.0
) -> dict[str, Any]:
    """Largest exponents along a stream of sums, and the best proof of forgetting found."""
    found: dict[str, Any] = {"outcome": "measured"}
    try:
        spectrum = lyapunov_spectrum(net, stream(task, steps // 3, seed=seed), k=2)
        found["exponent"] = float(spectrum.exponents[0])
        found["stderr"] = float(spectrum.stderr[0])
    except (ValueError, FloatingPointError) as refusal:
        found |= {"outcome": f"no exponent: {refusal}", "exponent": math.nan}
    heard = float(np.abs(np.asarray(net.embedding)).max())
    proof = contraction(
        net.cell, input_bound=heard, metric="norm", time_limit=time_limit
    )
    found["rate"] = float(proof.rate)
    found["window"] = truncation_window(proof, error=1e-3) if proof.rate < 1 else None
    radius = np.abs(np.linalg.eigvals(matrices(net, task)["W_hh"])).max()
    found["radius"] = float(radius)
    return found


def cross_row(
    name: str, net: Recurrent, found: dict[str, Any], *, rank: int | None, key: tuple
) -> Row:
    """A line of the cross table."""
    exponent = found["exponent"]
    known = math.isfinite(exponent)
    forgets = -1 / exponent if exponent < 0 else math.inf
    return Row(
        network=name,
        dimension=dimension(net.cell),
        largest_exponent=exponent if known else None,
        horizon=forgets if known else None,
        certified_rate=found["rate"],
        window=found["window"],
        rank=rank,
        key_frequencies=", ".join(map(str, key)),
    )


def compared(learned: Recurrent, found: Dissection, built: Adder) -> dict[str, Any]:
    """Learned and written at the same frequencies: angles between their token subspaces.

    The columns of an embedding (or unembedding) span functions on the group. The
    angles are those of the learned matrix, cut to twice its number of
    frequencies, with the written one.
    """
    task, key = found.task, found.key
    order = task.elements
    spans = lambda W, r: np.linalg.svd(W[order] - W[order].mean(0))[0][:, :r]
    ours, theirs = matrices(built.net, task), matrices(learned, task)
    angles = {}
    for name in ("W_E", "W_fc"):
        one = spans(theirs[name], 2 * len(key))
        other = spans(ours[name], np.linalg.matrix_rank(ours[name], tol=1e-4))
        cosines = np.cos(scipy.linalg.subspace_angles(one, other))
        angles[name] = [float(c) for c in np.sort(cosines)[::-1]]
    return {
        "cosines": angles,
        "mean_cosine": {name: float(np.mean(c)) for name, c in angles.items()},
        "units": built.units,
        "margin": built.margin,
        "norms": {
            name: [
                float(np.linalg.norm(theirs[name])),
                float(np.linalg.norm(ours[name])),
            ]
            for name in theirs
        },
    }
