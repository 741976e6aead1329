"""A network that holds one word, $h_i = \\rho(W_h h_{i-1} + W_x x_i)$, with its proof."""

import dataclasses
import math
from collections.abc import Hashable
from pathlib import Path

import numpy as np

from ...nets import Generator
from .certificates.certificate import Certificate
from .structured import Cycle
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
    def network(self) -> Generator:
        """The network in JAX, ready for every measurement."""
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
        return self.word.joined(self.emissions(length).tolist())

    def emissions(self, length: int) -> np.ndarray:
        """The same as indices into the alphabet, `<END>` included."""
        if length < 0:
            raise ValueError(f"length must not be negative, got {length}")
        return (self.exact or self.written).emissions(length)

    def save(self, path: str | Path) -> None:
        """Write weights, word and certificate as safetensors."""
        from .saved import save_memory

        save_memory(self, path)


def margin(written: Written, w: Word) -> float:
    """The distance from the orbit to the nearest state that is read wrongly."""
    h, closest = written.h_0, math.inf
    W, b = written.W_y, written.b_y
    if isinstance(written.W_h, Cycle) or not isinstance(W, np.ndarray):
        # One-hot columns: the lead over the largest distance of two rows.
        counts = np.sort(np.bincount(w.indices))[-2:]
        lead = 2 * abs(float(h[0])) if written.activation == "tanh" else 1.0
        return lead / math.sqrt(counts.sum())
    if len(b) == 1:
        return math.inf
    apart = np.sqrt(
        np.maximum((W * W).sum(axis=1)[:, None] + (W * W).sum(axis=1) - 2.0 * (W @ W.T), 0.0)
    )
    for label in w.indices:
        h = written.W_h @ h
        if written.activation == "tanh":
            h = np.tanh(h)
        y = W @ h + b
        lead = (y[label] - y).astype(float)
        lead[label] = math.inf
        with np.errstate(divide="ignore"):
            closest = min(closest, float((lead / apart[label]).min()))
    return closest
