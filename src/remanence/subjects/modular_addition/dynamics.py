r"""The adder as a dynamical system: exponents, certificate, horizon; learned beside exact."""

import math
from typing import Any

import numpy as np
import scipy.linalg

from ...cells import dimension
from ...measure import contraction, lyapunov_spectrum, truncation_window
from ...measure.fourier import frequency_plane
from ...nets import Recurrent
from ...report import Row
from .ablation import Ablations, PLACES
from .dissection import matrices
from .task import Modular


def stream(task: Modular, sums: int, *, seed: int) -> np.ndarray:
    """Tokens of one sum after the other, `a b = a b = …`, never reset."""
    random = np.random.default_rng(seed)
    tokens = random.integers(0, task.modulus, size=(sums, 3))
    tokens[:, 2] = task.modulus
    return tokens.ravel().astype(np.int32)


def measure_dynamics(net: Recurrent, task: Modular, *, steps: int, seed: int) -> dict[str, Any]:
    """Exponents along a stream of sums, and a proof of forgetting if there can be one.

    With every rectifier open the step is $W_{hh}$ itself: a radius of 1 or more is a
    growth that every metric has to allow, and the norm's rate is as good as another.
    """
    found: dict[str, Any] = {"outcome": "measured", "exponent": math.nan, "stderr": math.nan}
    try:
        spectrum = lyapunov_spectrum(net, stream(task, steps // 3, seed=seed))
        found["exponent"] = float(spectrum.exponents[0])
        found["stderr"] = float(spectrum.stderr[0])
    except (ValueError, FloatingPointError) as refusal:
        found["outcome"] = f"no exponent: {refusal}"
    radius = float(np.abs(np.linalg.eigvals(matrices(net, task)["W_hh"])).max())
    bound, metric = float(np.abs(np.asarray(net.embedding)).max()), "auto" if radius < 1 else "norm"
    proof = contraction(net.cell, input_bound=bound, metric=metric, time_limit=120.0)
    window = truncation_window(proof, error=1e-3) if proof.rate < 1 else None
    return found | {"rate": float(proof.rate), "window": window, "radius": radius}


def cross_row(
    name: str, net: Recurrent, found: dict[str, Any], *, rank: int | None, key: tuple
) -> Row:
    """A line of the cross table."""
    exponent = found["exponent"] if math.isfinite(found["exponent"]) else None
    return Row(
        network=name,
        dimension=dimension(net.cell),
        largest_exponent=exponent,
        horizon=None if exponent is None else -1 / exponent if exponent < 0 else math.inf,
        certified_rate=found["rate"],
        window=found["window"],
        rank=rank,
        key_frequencies=", ".join(map(str, key)),
    )


def _cosines(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Of the principal angles between two subspaces, the largest first."""
    return np.sort(np.cos(scipy.linalg.subspace_angles(one, other)))[::-1]


def _random_cosine(span: np.ndarray, period: int, count: int) -> float:
    """The mean cosine with random frequencies that 95 % of 200 draws stay below."""
    random, every, found = np.random.default_rng(0), range(1, period // 2 + 1), []
    for _ in range(200):
        drawn = random.choice(every, min(count, len(every)), replace=False)
        waves = np.concatenate([frequency_plane(period, int(k)) for k in drawn]).T
        found.append(_cosines(span, waves).mean())
    return float(np.quantile(found, 0.95))


def compare_adders(
    task: Modular, learned: tuple[Recurrent, Ablations], exact: tuple[Recurrent, Ablations]
) -> dict[str, Any]:
    """Learned and written at the same frequencies: subspaces and ablation curves.

    The columns of an embedding (or unembedding) span functions on the group. The
    angles are those of the learned matrix, cut to twice its number of
    frequencies, with the written one.
    """
    (net, cuts), (exact_net, exact_cuts) = learned, exact
    count = len(cuts.single)
    spans = lambda W, r: np.linalg.svd(W[task.elements] - W[task.elements].mean(0))[0][:, :r]
    theirs, ours = matrices(net, task), matrices(exact_net, task)
    cosines = {}
    for name in ("W_E", "W_fc"):
        rank = np.linalg.matrix_rank(ours[name], tol=1e-4)
        cosines[name] = _cosines(spans(theirs[name], 2 * count), spans(ours[name], rank)).tolist()
    curves = {
        place: [
            [float(np.mean(size)) for size in each.growing[place]] for each in (cuts, exact_cuts)
        ]
        for place in PLACES
    }
    return {
        "cosines": cosines,
        "random_cosine": _random_cosine(spans(theirs["W_E"], 2 * count), task.period, count),
        "mean_cosine": {name: float(np.mean(c)) for name, c in cosines.items()},
        "ablation": curves,
        "ablation_gap": {
            place: float(np.abs(np.diff(both, axis=0)).mean()) for place, both in curves.items()
        },
    }
