"""The fewest units that spell a word: for ever, in a single pass, or with feedback."""

import dataclasses
import itertools
import math
from collections.abc import Hashable, Iterator, Sequence
from typing import Any

import numpy as np

from ..certificates.rotation_drift import reading_certificate
from ..constructions.rotations import harmonic, unit_eigenvalues, walk_network
from ..words import Word, word as word_of
from ..written import Labels, Written
from .cheapest_harmonics import Bounds, harmonic_dimension
from .feedback_stability import least_feedback
from .separation import Deadline, separation, widest


def minimal_dimension(
    word: str | Sequence[Hashable],
    *,
    field: str = "real",
    end: bool = False,
    stability: float | None = None,
    time_limit: float = 10.0,
) -> Any:
    """The fewest units from which a word can be spelled for ever without feedback.

    With `end=True` the word is read once and `<END>` follows it; with `stability`
    the network may read itself, and its closed loop must not stretch distances by
    more than that factor a step. After `time_limit` seconds the bounds reached are
    returned: `.lower` ≤ the truth ≤ `.upper`.

    >>> found = minimal_dimension("00010110111")
    >>> found.dimension, found.frequencies, found.optimal
    (6, (1, 2, 3), True)
    """
    if field not in ("real", "rational"):
        raise ValueError(f'field must be "real" or "rational", got {field!r}')
    if not time_limit >= 0:
        raise ValueError(f"time_limit must not be negative, got {time_limit}")
    w = word_of(word, end=end)
    if stability is not None:
        return least_feedback(w, stability=stability, time_limit=time_limit)
    if end:
        if field == "rational":
            raise ValueError('single-pass minima are over the reals; field must be "real"')
        return single_pass(w, time_limit=time_limit)
    return harmonic_dimension(w, field=field, time_limit=time_limit)


@dataclasses.dataclass(frozen=True, eq=False)
class SinglePass(Bounds):
    """The fewest units that spell a finite string once, or proved bounds on them, with the
    eigenvalues of $W_h$, conjugates left out."""

    word: Word
    eigenvalues: tuple[complex, ...]
    written: Written
    lower: int

    @property
    def upper(self) -> int:
        return self.written.dimension


def single_pass(w: Word, *, time_limit: float) -> SinglePass:
    """The fewest units for one reading, whose walk may grow or fade. One, $h' = r h$, is decided
    exactly: the states $r^t$ lie in one of four orders on the line, and each symbol must be a run
    of that order. Two are sought on a grid of eigenvalues."""
    labels, deadline = w.pattern, Deadline(time_limit)
    rate = _line_rate(labels)
    # The walk that returns is one that need not: no search beyond it.
    whole = harmonic_dimension(w, time_limit=time_limit / 3)
    # Where an order serves, but too thinly to be proved, one unit is open.
    lower = min(whole.upper, 2 if rate is None else 1)
    search = Deadline(deadline.left / 2)
    for z in (*([] if rate is None else [complex(rate)]), *_planes(len(labels))):
        if (2 if z.imag else 1) >= whole.upper or search.late:
            break
        powers = z ** np.arange(len(labels))
        phi = np.stack([np.ones(len(labels)), powers.real, powers.imag][: 3 if z.imag else 2])
        first = separation(labels, phi, deadline=search).u
        for u in () if first is None else (widest(labels, phi, first, search), first):
            written = walk_network(w, [z], u, 0.0)
            if reading_certificate(written, w.indices).lead > 0:
                return SinglePass(w, (z,), written, lower)
    written = harmonic(w, whole.frequencies, whole.readout, whole.lead)
    return SinglePass(w, unit_eigenvalues(w.period, whole.frequencies), written, lower)


def _line_rate(labels: Labels) -> float | None:
    """An r whose powers, as they lie on the line, make one run of every symbol: of r > 0 they lie
    in order of time; of r < 0 the odd ones on one side and the even ones on the other, meeting in
    the middle if |r| < 1 and starting there if |r| > 1."""
    odd, even = labels[0::2], labels[1::2]
    step = 1 - 1 / (2 * len(labels))
    orders = {step: labels, -step: odd + even[::-1], -1 / step: odd[::-1] + even}
    for rate, order in orders.items():
        if 1 + sum(a != b for a, b in itertools.pairwise(order)) == len(set(labels)):
            return rate
    return None


def _planes(length: int) -> Iterator[complex]:
    """Eigenvalues of planes that turn and grow or fade, on a grid."""
    radii = [1.0, *(s for k in (8, 4, 2) for s in (1 - 1 / (k + length), 1 + 1 / (k + length)))]
    for angle in np.pi * np.arange(1, 8 * length) / (8 * length):
        for r in radii:
            yield r * complex(math.cos(angle), math.sin(angle))
