r"""Strings that are read once: $w_1 \dots w_T$ then `<END>`, with any $W_h$ at all.

Nothing needs to return, so the walk may grow or fade: $0^a 1^b$ needs one unit,
$h' = r h$. One unit is decided exactly: on a line the states $r^t$ lie in one of
four orders, and each symbol must be a run of that order. Two units are refuted where
`two_units` can. More are searched over eigenvalues; what is found is proved, and the
lower bound says no more than it can.
"""

import dataclasses
import itertools
import math

import numpy as np
from flint import acb, arb, ctx

from ..harmonics import table
from ..words import Word
from .deadline import Deadline, NEVER
from .minimal_dimension import harmonic_dimension
from .separation import separation, widest
from .two_units import two_units_refuted


@dataclasses.dataclass(frozen=True, eq=False)
class SinglePass:
    """The fewest units that spell a finite string once, or proved bounds on them.

    `eigenvalues` are those of $W_h$ (conjugates left out); `readout` is symbols (in
    the order of first use, `<END>` among them) × features: 1, then for each
    eigenvalue the real and, if it is not real, the imaginary part of its powers.
    """

    word: Word
    field: str
    eigenvalues: tuple[complex, ...]
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
    cos, sin = table(w.period)
    # Features count time from 1 here and from 0 there.
    best = tuple(complex(cos[j], sin[j]) for j in whole.frequencies)
    u = _one_step_later(whole.readout, best)
    search = Deadline(deadline.left / 2)
    for values in candidates(len(labels)):
        if dimension(values) >= whole.upper or search.late:
            break
        found = proved_readout(labels, values, search)
        if found is not None:
            best, u = values, found
            break
    upper = dimension(best)
    lower = min(upper, 2)
    if rate is not None:
        lower = 1  # an order serves, but too thinly to be proved: one unit is open
    elif upper > 2 and two_units_refuted(labels, time_limit=deadline.left):
        lower = 3
    return SinglePass(w, field, best, u, lower, upper)


def _one_step_later(readout: np.ndarray, values: tuple[complex, ...]) -> np.ndarray:
    """The same logits from features one step further on."""
    u, at = readout.copy(), 1
    for z in values:
        c, s = z.real, z.imag
        if s == 0:
            u[:, at] = readout[:, at] / c
        else:
            u[:, at] = c * readout[:, at] - s * readout[:, at + 1]
            u[:, at + 1] = s * readout[:, at] + c * readout[:, at + 1]
        at += 1 if s == 0 else 2
    return u


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


def candidates(length: int):
    """Sets of eigenvalues, by dimension: two units on a grid, then drawn sets of more."""
    radii = [1.0, *(s for k in (8, 4, 2) for s in (1 - 1 / (k + length), 1 + 1 / (k + length)))]
    for angle in np.pi * np.arange(1, 8 * length) / (8 * length):
        for r in radii:
            yield (r * complex(math.cos(angle), math.sin(angle)),)
    rates = [s * r for r in (0.35, 0.6, 0.8, 0.9, 1.1, 1.25) for s in (1, -1)]
    for i, a in enumerate(rates):
        for b in rates[:i]:
            yield (complex(a), complex(b))
    rng = np.random.default_rng(0)
    for planes, real in ((1, 1), (2, 0), (2, 1), (3, 0)):
        for _ in range(400):
            angles = np.pi * rng.random(planes)
            r = 1 + rng.normal(size=planes) / length
            turns = tuple(complex(z) for z in r * np.exp(1j * angles))
            extra = (complex(rng.choice([-1, 1]) * (1 + rng.normal() / length)),) * real
            yield (*turns, *extra)


def dimension(values: tuple[complex, ...]) -> int:
    """Units of a real matrix with these eigenvalues and their conjugates."""
    return sum(1 if z.imag == 0 else 2 for z in values)


def walk(values: tuple[complex, ...], length: int) -> np.ndarray:
    """The features of the walk at times 1 … length, in floating point."""
    t = np.arange(1, length + 1)
    rows: list[np.ndarray] = [np.ones(length)]
    for z in values:
        powers = z**t
        rows.append(powers.real)
        if z.imag != 0:
            rows.append(powers.imag)
    return np.array(rows)


def proved_readout(
    labels: tuple[int, ...], values: tuple[complex, ...], deadline: Deadline = NEVER
) -> np.ndarray | None:
    """A readout for one reading, its leads shown positive in ball arithmetic: the one of
    widest margin if it can be shown, else any."""
    phi = walk(values, len(labels))
    u = separation(labels, phi, deadline=deadline).u
    if u is None or not _leads_proved(u, labels, values):
        return None
    wide = widest(labels, phi, u, deadline)
    return wide if wide is not None and _leads_proved(wide, labels, values) else u


def _leads_proved(u: np.ndarray, labels: tuple[int, ...], values: tuple[complex, ...]) -> bool:
    with ctx.workprec(128):
        for t, label in enumerate(labels):
            features = [arb(1)]
            for z in values:
                power = acb(z.real, z.imag) ** (t + 1)
                features += [power.real] if z.imag == 0 else [power.real, power.imag]
            # Differences in balls: in floating point they would be rounded.
            logits = [
                sum((arb(a) * f for a, f in zip(row, features, strict=True)), arb(0))
                for row in u.tolist()
            ]
            if not all(logits[label] > y for k, y in enumerate(logits) if k != label):
                return False
    return True
