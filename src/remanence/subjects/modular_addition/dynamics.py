r"""The adder as a dynamical system: exponents, certificate, horizon; learned beside exact."""

import math
from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import scipy.linalg

from ...cells import dimension
from ...measure import contraction, lyapunov_spectrum, memory_horizon, truncation_window
from ...measure.fourier import frequency_plane
from ...nets import Recurrent
from ...report import Row
from .ablation import PLACES
from .ablation_curves import Ablations
from .dissection import Dissection, matrices, NODES
from .task import Modular


def stream(task: Modular, sums: int, *, seed: int) -> np.ndarray:
    """Tokens of one sum after the other, `a b = a b = …`, never reset."""
    random = np.random.default_rng(seed)
    tokens = random.integers(0, task.modulus, size=(sums, 3))
    tokens[:, 2] = task.modulus
    return tokens.ravel().astype(np.int32)


def measure_dynamics(
    net: Recurrent, task: Modular, *, steps: int, seed: int, thorough: bool = False
) -> dict[str, Any]:
    """Exponents along a stream of sums, and the best proof of forgetting found.

    With every rectifier open the step is $W_{hh}$ itself: a radius of 1 or more is a
    growth that every metric has to allow. The climb can then only name a smaller
    rate above 1, and is left out unless `thorough`.
    """
    found: dict[str, Any] = {"outcome": "measured", "horizons": {}}
    tokens, spectrum = stream(task, steps // 3, seed=seed), None
    try:
        spectrum = lyapunov_spectrum(net, tokens)
        exponents = spectrum.exponents
        found["exponent"] = float(exponents[0])
        found["stderr"] = float(spectrum.stderr[0])
        found["growing"] = int((exponents > 0).sum())
        found["lost"] = int(np.isneginf(exponents).sum())
    except (ValueError, FloatingPointError) as refusal:
        found |= {"outcome": f"no exponent: {refusal}", "exponent": math.nan}
    radius = float(np.abs(np.linalg.eigvals(matrices(net, task)["W_hh"])).max())
    climb = thorough or radius < 1
    proof = contraction(
        net.cell,
        input_bound=float(np.abs(np.asarray(net.embedding)).max()),
        metric="auto" if climb else "norm",
        time_limit=120.0 if climb else 0.1,
    )
    found |= {"rate": float(proof.rate), "metric": proof.metric, "radius": radius}
    found["window"] = truncation_window(proof, error=1e-3) if proof.rate < 1 else None
    if thorough and spectrum is not None:
        with np.errstate(over="ignore"):  # a state that grows for ever
            panel = memory_horizon(net, tokens, spectrum=spectrum, quick=True, time_limit=0.1)
        steps_or_word = lambda x: "none" if x is None else float(x) if math.isfinite(x) else "never"
        measures = [m for m in panel.measures if "cert" not in m.name]
        found["horizons"] = {m.name: steps_or_word(m.value) for m in measures}
    return found


def widen_network(net: Recurrent, *, like: Recurrent) -> Recurrent:
    """The same Elman network in arrays as large as another's; what is added is zero."""
    cell = net.cell
    units, inputs = np.maximum(cell.W_x.shape, like.cell.W_x.shape) - cell.W_x.shape
    where = lambda n: (n.cell.W_h, n.cell.W_x, n.cell.b, n.embedding, n.W_y)
    more = ((units, units), (units, inputs), (units,), (0, inputs), (0, units))
    widths = [[(0, int(size)) for size in sizes] for sizes in more]
    wide = tuple(jnp.pad(W, width) for W, width in zip(where(net), widths, strict=True))
    return eqx.tree_at(where, net, wide)


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
    learned: tuple[Recurrent, Dissection, Ablations], exact: tuple[Recurrent, Dissection, Ablations]
) -> dict[str, Any]:
    """Learned and written at the same frequencies: subspaces, spectra, ablation curves.

    The columns of an embedding (or unembedding) span functions on the group. The
    angles are those of the learned matrix, cut to twice its number of
    frequencies, with the written one. Spectra are compared by total variation, the
    share of energy that would have to move from one frequency to another.
    """
    (net, found, cuts), (exact_net, exact_found, exact_cuts) = learned, exact
    task, count = found.task, len(found.key)
    spans = lambda W, r: np.linalg.svd(W[task.elements] - W[task.elements].mean(0))[0][:, :r]
    theirs, ours = matrices(net, task), matrices(exact_net, task)
    cosines = {}
    for name in ("W_E", "W_fc"):
        rank = np.linalg.matrix_rank(ours[name], tol=1e-4)
        cosines[name] = _cosines(spans(theirs[name], 2 * count), spans(ours[name], rank)).tolist()
    shares = lambda d, node: d.nodes[node].shares
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
        "spectra_apart": {
            node: float(np.abs(shares(found, node) - shares(exact_found, node)).sum() / 2)
            for node in NODES
        },
        "ablation": curves,
        "ablation_gap": {
            place: float(np.abs(np.diff(both, axis=0)).mean()) for place, both in curves.items()
        },
    }
