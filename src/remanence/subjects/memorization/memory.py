"""A network that holds one word, $h_i = \\rho(W_h h_{i-1} + W_x x_i)$, with its proof."""

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
from .words import START, Word
from .written import Written


@dataclasses.dataclass(frozen=True, eq=False)
class Memory:
    """A network that says one word for ever, with the proof that it does.

    `margin` is the distance, in the state's 2-norm, from the orbit to the nearest
    state that would be read wrongly; `exponent` the largest Lyapunov exponent of
    the closed loop, in nats per step.
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

    @property
    def inputs(self) -> tuple[Hashable, ...]:
        """What each input stands for; `START` is last, where there is one."""
        begins = self.written.inputs > len(self.word.alphabet)
        return (*self.word.alphabet, START) if begins else self.word.alphabet

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
        """Write weights, word and certificate as safetensors."""
        from .memory_file import save_memory

        save_memory(self, path)

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
    states = written.orbit(w.period).T
    phi = np.vstack([np.ones((1, w.period)), states])
    return margin_of(np.column_stack([b, W]).astype(float), w.indices, phi)
