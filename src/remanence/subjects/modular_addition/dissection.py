r"""One network dissected: $W_E, h_1, h_2, h_3, W_{fc}$ by frequency, rank and ablation."""

import dataclasses

import numpy as np
from jaxtyping import Float

from ...measure.fourier import (
    frequency_plane,
    key_frequencies,
    KeyFrequencies,
    spectrum_2d,
    wave_fit_error,
)
from ...measure.low_rank import LowRank, smallest_rank, vector_frequencies
from ...nets import Recurrent
from .ablation import accuracy_with, modular_accuracy, modular_states
from .all_pairs import TENSORS, vocabulary
from .task import Modular


NODES = ("W_E", "h1", "h2", "h3", "W_fc")


@dataclasses.dataclass(frozen=True)
class Dissection:
    """What was found in one network; `key` are its key frequencies, those of `W_fc`."""

    task: Modular
    accuracy: float
    key: tuple[int, ...]
    nodes: dict[str, KeyFrequencies]
    planes: dict[str, Float[np.ndarray, "frequencies signed"]]
    ranks: dict[str, LowRank]
    vectors: tuple[np.ndarray, np.ndarray, np.ndarray]
    """Left singular vectors of W_fc in the group's order, their frequencies, the shares."""
    fits: dict[str, float]
    fits_by_frequency: dict[int, float]


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
    flat = {name: profile(tables[name], task, name) for name in NODES}
    nodes = {name: key_frequencies(flat[name]) for name in NODES}
    key = nodes["W_fc"].frequencies
    accuracy = modular_accuracy(net, task)
    # A rank keeps accuracy if it keeps the network's own.
    ranks = {
        name: smallest_rank(
            W,
            lambda cut, name=name: accuracy_with(net, task, name, cut),
            target=accuracy,
            up_to=up_to,
        )
        for name, W in matrices(net, task).items()
    }
    centred = tables["W_fc"] - tables["W_fc"].mean(0)
    vectors = np.linalg.svd(centred, full_matrices=False)[0][:, : max(2 * len(key), 2)]
    logits = tables["h3"] @ tables["W_fc"].T
    by_frequency = {
        k: wave_fit_error(logits @ frequency_plane(task.period, k).T, task.phases, (k,))
        for k in key
    }
    return Dissection(
        task,
        accuracy,
        key,
        nodes,
        {name: spectrum_2d(tables[name]) for name in ("h2", "h3")},
        ranks,
        (vectors, *vector_frequencies(vectors)),
        {
            "h3": wave_fit_error(tables["h3"], task.phases, key),
            "logits": wave_fit_error(logits, task.phases, key),
            "h3 averaged": wave_fit_error(flat["h3"][task.phases], task.phases, key),
        },
        by_frequency,
    )
