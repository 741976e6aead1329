r"""The strongest harmonics of a word, as few as still spell it: an upper bound at once.

At first the readout is the truncated Fourier series of the
one-hot word, so no program is solved; then, while time allows, fewer of the strongest
are given to `separation`, which finds a readout where the series fails.
"""

import numpy as np

from ..harmonics import Frequencies, table, waves
from ..minimal.deadline import Deadline
from ..minimal.separation import margin_of, proved_lead, separation
from ..written import leads


LARGE = 3e7
"""Entries of the program beyond which it is not tried."""
LEAD = 1e-2
"""Leads this wide outlive the rounding of the walk that is built from them."""


def strongest_harmonics(
    labels: tuple[int, ...], time_limit: float
) -> tuple[Frequencies, np.ndarray]:
    """A short set of frequencies that spells the word, and a readout over it."""
    deadline, n, p = Deadline(time_limit), max(labels) + 1, len(labels)
    if n == p > 2:
        # Every symbol once: each point of a polygon is its own corner.
        return (1,), np.stack([np.zeros(p), *table(p)], axis=1)
    onehot = np.zeros((n, p))
    onehot[list(labels), np.arange(p)] = 1.0
    c = np.fft.rfft(onehot, axis=1) / p
    strongest = np.argsort(-(np.abs(c[:, 1:]) ** 2).sum(axis=0), kind="stable") + 1
    first = lambda count: tuple(sorted(int(j) for j in strongest[:count]))
    low, high = 0, len(strongest)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if _spells(c, first(middle), labels) else (middle, high)
    best, u = first(high), _series(c, first(high), p)
    low = 0
    while high - low > 1:
        # Cover's count: about half as many dimensions as points, then bisect.
        middle = min((low + high) // 2, max(low + 1, p // 4))
        if deadline.late or (2 * middle + 1) * p * n > LARGE:
            break
        phi = waves(p, first(middle), np.arange(p))
        found = separation(labels, phi, deadline=deadline).u
        if found is not None and proved_lead(found, labels, phi) > 0:
            best, u, high = first(middle), found, middle
        else:
            low = middle
    return best, u


def _spells(c: np.ndarray, kept: Frequencies, labels: tuple[int, ...]) -> bool:
    part = np.zeros_like(c)
    part[:, [0, *kept]] = c[:, [0, *kept]]
    y = np.fft.irfft(part, n=len(labels), axis=1) * len(labels)
    return bool(leads(y, labels).min() > LEAD)


def _series(c: np.ndarray, frequencies: Frequencies, p: int) -> np.ndarray:
    """The truncated series as a readout: constant, then cosine and sine of each."""
    columns = [np.real(c[:, 0])]
    for j in frequencies:
        columns += (
            [np.real(c[:, j])] if 2 * j == p else [2 * np.real(c[:, j]), -2 * np.imag(c[:, j])]
        )
    return np.stack(columns, axis=1)


def lead_and_margin(
    labels: tuple[int, ...], frequencies: Frequencies, u: np.ndarray
) -> tuple[float, float]:
    """The least lead, proved, and the distance to the nearest boundary: some hundreds
    of times at once, since all of them may not fit in memory."""
    p, chunk = len(labels), max(1, (1 << 21) // u.shape[1])
    found = []
    for i in range(0, p, chunk):
        t = np.arange(i, min(i + chunk, p))
        phi, part = waves(p, frequencies, t), labels[i : i + chunk]
        found.append((proved_lead(u, part, phi), margin_of(u, part, phi)))
    return min(f[0] for f in found), min(f[1] for f in found)
