r"""A network that holds one word, $h_i = \rho(W_h h_{i-1} + W_x x_i)$, with its proof, and its file."""

import dataclasses
import math
from collections.abc import Hashable
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import issparse

from ..._show import aligned, html_table
from .certificates.certificate import Certificate
from .minimal.separation import margin_of
from .words import END, Word
from .written import Written


LARGEST_FILE = 2048  # units of the largest memory that is written to a file
TORCH = {
    "W_h": "rnn.weight_hh_l0",
    "W_x": "rnn.weight_ih_l0",
    "W_y": "readout.weight",
    "b_y": "readout.bias",
    "h_0": "h_0",
}
"""What the tensors of a tanh memory are called, so that torch and `rm.load` read it."""
TORCH_BIASES = ("rnn.bias_ih_l0", "rnn.bias_hh_l0")


@dataclasses.dataclass(frozen=True, eq=False)
class Memory:
    """A network that says one word for ever, with the proof that it does.

    `margin` is the distance, in the state's 2-norm, from the orbit to the nearest state that would
    be read wrongly; `exponent` the largest Lyapunov exponent of the closed loop, in nats a step.
    """

    word: Word
    method: str
    written: Written
    margin: float
    exponent: float
    certificate: Certificate
    frequencies: tuple[int, ...] = ()
    exact: Written | None = None
    """Integer weights, where the memory is exact; `generate` runs these."""

    @property
    def dimension(self) -> int:
        return self.written.dimension

    @property
    def network(self) -> Any:
        """The network in JAX (a `Generator`), ready for every measurement."""
        return self.written.network()

    def generate(self, length: int) -> str | tuple[Hashable, ...]:
        """The first `length` symbols, cut before `<END>`; no compilation.

        >>> import remanence as rm
        >>> rm.memorize("abc", method="tanh").generate(7)
        'abcabca'
        """
        return self.word.join(self.emissions(length).tolist())

    def emissions(self, length: int) -> np.ndarray:
        """The same as indices into the alphabet, `<END>` included."""
        if length < 0:
            raise ValueError(f"length must not be negative, got {length}")
        return (self.exact or self.written).emissions(length)

    def save(self, path: str | Path) -> None:
        """Write a safetensors file with all that is needed to prove the memory again: every
        number of the network is a tensor, the metadata says the word and what is claimed."""
        from ...formats import safetensors

        # JSON holds the alphabet.
        if not all(isinstance(s, str) or s is END for s in self.word.alphabet):
            raise ValueError("only memories of text can be saved: symbols must be strings")
        d = self.dimension
        if d > LARGEST_FILE:
            raise ValueError(f"files hold memories of up to {LARGEST_FILE:,} units, got {d:,}")
        written = self.written if self.exact is None or self.method == "shift" else self.exact
        torch, fields = self.method == "tanh", {f: getattr(written, f) for f in TORCH}
        tensors = {
            TORCH[f] if torch else f: a.toarray() if issparse(a) else a
            for f, a in fields.items()
            if a is not None
        }
        if torch:
            tensors.setdefault(TORCH["W_x"], np.zeros((d, written.inputs)))
            tensors |= {name: np.zeros(d) for name in TORCH_BIASES}
        about = {
            "method": self.method,
            "indices": list(self.word.indices),
            "alphabet": [s for s in self.word.alphabet if s is not END],
            "end": self.word.end,
            "first": written.first,
            "steps": {k: None if np.isinf(v) else v for k, v in self.certificate.steps.items()},
        }
        ours = {"positions": "every"} | ({"activation": "tanh"} if torch else {})
        safetensors.write(path, tensors, {"memory": about, "remanence": ours})

    @property
    def _rows(self) -> list[tuple[str, str]]:
        alphabet, period = len(self.word.alphabet), self.word.period
        return [
            ("word", f"period {period:,} over {alphabet} symbols"),
            ("network", f"{self.dimension} units, {self.written.activation}, by {self.method}"),
            ("margin", f"{self.margin:.4g}"),
            ("exponent", f"{self.exponent:.4g} nats a step"),
        ]

    def __str__(self) -> str:
        return aligned(self.certificate.sentence, self._rows)

    def _repr_html_(self) -> str:
        return html_table(self.certificate.sentence, self._rows)


def margin(written: Written, w: Word) -> float:
    """The distance from the orbit to the nearest state that is read wrongly."""
    W, b = written.W_y, written.b_y
    if issparse(W):
        # One-hot columns: the lead over the largest distance of two rows.
        lead = 2 * abs(float(written.h_0[0])) if written.activation == "tanh" else 1.0
        return lead / math.sqrt(np.sort(np.bincount(w.indices))[-2:].sum())
    phi = np.vstack([np.ones((1, w.period)), written.orbit(w.period).T])
    return margin_of(np.column_stack([b, W]).astype(float), w.indices, phi)
