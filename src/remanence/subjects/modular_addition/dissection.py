r"""One network dissected: $W_E, h_1, h_2, h_3, W_{fc}$ by frequency and rank, its dynamics, and
the learned network beside the one written down."""

import contextlib
import dataclasses
import functools
import math
from typing import Any

import numpy as np
import scipy.linalg
import xarray as xr

from ...measure import contraction, fourier, lyapunov_spectrum, truncation_window
from ...measure.low_rank import LowRank, smallest_rank, vector_frequencies
from ...nets import Recurrent
from .ablation import Ablations, accuracy_with, modular_accuracy, modular_states
from .all_pairs import TENSORS, vocabulary
from .task import Modular


NODES = ("W_E", "h1", "h2", "h3", "W_fc")


@dataclasses.dataclass(frozen=True)
class Dissection:
    """What was found in one network; `key` are its key frequencies, those of `W_fc`."""

    task: Modular
    accuracy: float
    key: tuple[int, ...]
    nodes: dict[str, fourier.KeyFrequencies]
    spectra: xr.Dataset
    """Shares of the nodes by frequency, and energies of the states over two frequencies."""
    ranks: dict[str, LowRank]
    vectors: xr.Dataset
    """Left singular vectors of W_fc in the group's order, their frequencies, the shares."""
    fits: dict[int, float]
    """Relative errors of the waves of the answer, by key frequency."""


def matrices(net: Recurrent, task: Modular) -> dict[str, np.ndarray]:
    """The four weight matrices of the document, in float64, without the token `=`."""
    found = {name: np.asarray(where(net), dtype=float) for name, where in TENSORS.items()}
    return found | {"W_E": found["W_E"][: task.modulus]}


def node_tables(net: Recurrent, task: Modular) -> dict[str, np.ndarray]:
    """Every node over the group, in its order: one index, or two for $h_2$ and $h_3$."""
    embedding, W_y = vocabulary(net, task.modulus)
    states, order = modular_states(net, task), task.elements
    hidden = lambda h: h[0] if isinstance(h, tuple) else h  # what the readout sees
    both = np.ix_(order, order)
    return {
        "W_E": np.asarray(embedding, dtype=float)[order],
        "h1": hidden(states.first)[order],
        "h2": hidden(states.second)[both],
        "h3": hidden(states.third)[both],
        "W_fc": np.asarray(W_y, dtype=float)[order],
    }


def profile(table: np.ndarray, task: Modular, node: str) -> np.ndarray:
    """A node as a function of one index: of a (for every b) for $h_2$, of the answer for $h_3$."""
    if node == "h2":
        # Every b counts: a factor of the Gram matrix has the same energies as all columns.
        columns = table.reshape(task.period, -1)
        values, vectors = np.linalg.eigh(columns @ columns.T)
        return vectors * np.sqrt(np.maximum(values, 0.0))
    if node == "h3":
        total = np.zeros((task.period, table.shape[-1]))
        np.add.at(total, task.phases.ravel(), table.reshape(-1, table.shape[-1]))
        return total / task.period
    return table


def dissect(net: Recurrent, task: Modular, *, up_to: int | None = None) -> Dissection:
    """Spectra, key frequencies, ranks, singular vectors and fits of one network."""
    tables = node_tables(net, task)
    nodes = {n: fourier.key_frequencies(profile(tables[n], task, n)) for n in NODES}
    key, accuracy = nodes["W_fc"].frequencies, modular_accuracy(net, task)
    ranks = {}
    for name, W in matrices(net, task).items():
        with_cut = functools.partial(accuracy_with, net, task, name)
        # A rank keeps accuracy if it keeps the network's own.
        ranks[name] = smallest_rank(W, with_cut, target=accuracy, up_to=up_to)
    centred = tables["W_fc"] - tables["W_fc"].mean(0)
    vectors = np.linalg.svd(centred, full_matrices=False)[0][:, : max(2 * len(key), 2)]
    frequencies, shares = vector_frequencies(vectors)
    described = {
        "entry": (("answer", "vector"), vectors),
        "frequency": ("vector", frequencies),
        "share": ("vector", shares),
    }
    logits = tables["h3"] @ tables["W_fc"].T
    read_out = {k: logits @ fourier.frequency_plane(task.period, k).T for k in key}
    return Dissection(
        task,
        accuracy,
        key,
        nodes,
        _spectra(tables, nodes, task),
        ranks,
        xr.Dataset(described),
        {k: fourier.wave_fit_error(read_out[k], task.phases, (k,)) for k in key},
    )


def _spectra(tables: dict, nodes: dict, task: Modular) -> xr.Dataset:
    every, states = 1 + np.arange(task.period // 2), ["h2", "h3"]
    each = lambda of: (("node", "frequency"), [of(nodes[name]) for name in NODES])
    return xr.Dataset(
        {
            "share": each(lambda node: node.shares),
            "key": each(lambda node: np.isin(every, node.frequencies)),
            "threshold": ("node", [nodes[name].threshold for name in NODES]),
            "plane": (("state", "k_a", "k_b"), [fourier.spectrum_2d(tables[n]) for n in states]),
        },
        {"node": list(NODES), "frequency": every, "state": states}
        | {"k_b": fourier.signed_axis(task.period)},
    )


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
    exponent = stderr = math.nan
    # The state of a ReLU network that grows may leave the range of floats.
    with contextlib.suppress(ValueError, FloatingPointError):
        spectrum = lyapunov_spectrum(net, stream(task, steps // 3, seed=seed))
        exponent, stderr = float(spectrum.exponents[0]), float(spectrum.stderr[0])
    radius = float(np.abs(np.linalg.eigvals(matrices(net, task)["W_hh"])).max())
    bound, metric = float(np.abs(np.asarray(net.embedding)).max()), "auto" if radius < 1 else "norm"
    proof = contraction(net.cell, input_bound=bound, metric=metric, time_limit=120.0)
    window = truncation_window(proof, error=1e-3) if proof.rate < 1 else None
    return {"exponent": exponent, "stderr": stderr, "rate": float(proof.rate), "window": window}


def _cosines(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Of the principal angles between two subspaces, the largest first."""
    return np.sort(np.cos(scipy.linalg.subspace_angles(one, other)))[::-1]


def _random_cosine(span: np.ndarray, period: int, count: int) -> float:
    """The mean cosine with random frequencies that 95 % of 200 draws stay below."""
    random, every, found = np.random.default_rng(0), range(1, period // 2 + 1), []
    for _ in range(200):
        drawn = random.choice(every, min(count, len(every)), replace=False)
        waves = np.concatenate([fourier.frequency_plane(period, int(k)) for k in drawn]).T
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
    curves = [each.growing.mean("subset") for each in (cuts, exact_cuts)]
    return {
        "cosines": cosines,
        "random_cosine": _random_cosine(spans(theirs["W_E"], 2 * count), task.period, count),
        "ablation": xr.concat(curves, xr.IndexVariable("adder", ["learned", "written"])),
    }
