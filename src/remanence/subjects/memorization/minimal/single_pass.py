r"""Strings that are read once: $w_1 \dots w_T$ then `<END>`, with any $W_h$ at all.

Nothing needs to return, so the walk may grow or fade: $0^a 1^b$ needs one unit,
$h' = r h$. One unit is decided exactly: on a line the states $r^t$ lie in one of
four orders, and each symbol must be a run of that order. More are searched over
eigenvalues; what is found is proved, and the lower bound says no more than it can.
"""

import dataclasses
import itertools
import math
from collections.abc import Iterator

import numpy as np
from flint import acb, arb, ctx

from ..harmonics import table
from ..words import Word
from .deadline import Deadline, NEVER
from .minimal_dimension import harmonic_dimension
from .separation import separation, widest


Values = tuple[complex, ...]
"""Eigenvalues of a real matrix, conjugates left out."""


@dataclasses.dataclass(frozen=True, eq=False)
class SinglePass:
    """The fewest units that spell a finite string once, or proved bounds on them.

    `eigenvalues` are those of $W_h$ (conjugates left out); `readout` is symbols (in
    the order of first use, `<END>` among them) × features: 1, then for each
    eigenvalue the real and, if it is not real, the imaginary part of its powers.
    """

    word: Word
    field: str
    eigenvalues: Values
    readout: np.ndarray
    lower: int
    upper: int

    @property
    def dimension(self) -> int:
        return self.upper

    @property
    def optimal(self) -> bool:
        return self.lower == self.upper


def single_pass(w: Word, *, field: str, time_limit: float) -> SinglePass:
    """The fewest units for one reading."""
    if field == "rational":
        raise ValueError('single-pass minima are over the reals; field must be "real"')
    labels, deadline = w.pattern, Deadline(time_limit)
    rate = line_rate(labels)
    if rate is not None:
        u = proved_readout(labels, (complex(rate),), deadline)
        if u is not None:
            return SinglePass(w, field, (complex(rate),), u, 1, 1)
    # The walk that returns is one that need not: no search beyond it.
    whole = harmonic_dimension(w, time_limit=time_limit / 3)
    search = Deadline(deadline.left / 2)
    # Where an order serves, but too thinly to be proved, one unit is open.
    lower = min(whole.upper, 2 if rate is None else 1)
    for values in candidates(len(labels)):
        if dimension(values) >= whole.upper or search.late:
            break
        u = proved_readout(labels, values, search)
        if u is not None:
            return SinglePass(w, field, values, u, lower, dimension(values))
    cos, sin = table(w.period)
    values = tuple(complex(cos[j], sin[j]) for j in whole.frequencies)
    # Features count time from 1 here and from 0 there: turn every plane of the readout.
    u, at = whole.readout.astype(complex), 1
    for z in values:
        pair = u[:, at] - 1j * u[:, at + 1] if z.imag else u[:, at]
        turned = (pair / z).conj() if z.imag else pair / z
        u[:, at] = turned.real
        u[:, at + 1 : at + (2 if z.imag else 1)] = turned.imag[:, None]
        at += 2 if z.imag else 1
    return SinglePass(w, field, values, np.real(u), lower, whole.upper)


def line_rate(labels: tuple[int, ...]) -> float | None:
    """An r whose powers, as they lie on the line, make one run of every symbol.

    Growing and fading walks of r > 0 lie in order of time; of r < 0 the odd steps lie
    on one side and the even ones on the other, meeting in the middle if |r| < 1
    and starting there if |r| > 1.
    """
    odd, even = labels[0::2], labels[1::2]
    step = 1 - 1 / (2 * len(labels))
    orders = {step: labels, -step: odd + even[::-1], -1 / step: odd[::-1] + even}
    for rate, order in orders.items():
        runs = 1 + sum(a != b for a, b in itertools.pairwise(order))
        if runs == len(set(labels)):
            return rate
    return None


def candidates(length: int) -> Iterator[Values]:
    """Sets of eigenvalues, by dimension: two units on a grid, then drawn sets of more."""
    radii = [1.0, *(s for k in (8, 4, 2) for s in (1 - 1 / (k + length), 1 + 1 / (k + length)))]
    for angle in np.pi * np.arange(1, 8 * length) / (8 * length):
        for r in radii:
            yield (r * complex(math.cos(angle), math.sin(angle)),)
    rates = [s * r for r in (0.35, 0.6, 0.8, 0.9, 1.1, 1.25) for s in (1, -1)]
    yield from ((complex(a), complex(b)) for a, b in itertools.combinations(rates, 2))
    rng = np.random.default_rng(0)
    for planes, real in ((1, 1), (2, 0), (2, 1), (3, 0)):
        for _ in range(400):
            angles = np.pi * rng.random(planes)
            r = 1 + rng.normal(size=planes) / length
            extra = (complex(rng.choice([-1, 1]) * (1 + rng.normal() / length)),) * real
            yield (*(r * np.exp(1j * angles)).tolist(), *extra)


def dimension(values: Values) -> int:
    """Units of a real matrix with these eigenvalues and their conjugates."""
    return sum(2 if z.imag else 1 for z in values)


def walk(values: Values, length: int) -> np.ndarray:
    """The features of the walk at times 1 … length, in floating point."""
    powers = [z ** np.arange(1, length + 1) for z in values]
    rows = [[x.real, x.imag] if z.imag else [x.real] for z, x in zip(values, powers, strict=True)]
    return np.array([np.ones(length), *itertools.chain(*rows)])


def proved_readout(
    labels: tuple[int, ...], values: Values, deadline: Deadline = NEVER
) -> np.ndarray | None:
    """A readout for one reading, its leads shown positive in ball arithmetic: the one of
    widest margin if it can be shown, else any."""
    phi = walk(values, len(labels))
    u = separation(labels, phi, deadline=deadline).u
    if u is None or not _leads_proved(u, labels, values):
        return None
    wide = widest(labels, phi, u, deadline)
    return wide if wide is not None and _leads_proved(wide, labels, values) else u


def _leads_proved(u: np.ndarray, labels: tuple[int, ...], values: Values) -> bool:
    with ctx.workprec(128):
        for t, label in enumerate(labels, start=1):
            features = [arb(1)]
            for power, z in ((acb(z.real, z.imag) ** t, z) for z in values):
                features += [power.real, power.imag] if z.imag else [power.real]
            logits = [
                sum((arb(a) * f for a, f in zip(row, features, strict=True)), arb(0))
                for row in u.tolist()
            ]
            if not all(logits[label] > y for k, y in enumerate(logits) if k != label):
                return False
    return True
