r"""Words of many hundreds of symbols: the loudest harmonics, as few as still spell.

Not every set is tried. At first the readout is the truncated Fourier series of the
one-hot word, so no program is solved; then, while time allows, fewer of the loudest
are given to `separation`, which finds a readout where the series fails.
"""

import numpy as np

from ..harmonics import Frequencies, table
from ..minimal.deadline import Deadline
from ..minimal.separation import proved_gap, radius, separation


LARGE = 3e7
"""Entries of the program beyond which it is not tried."""
LEAD = 1e-2
"""Leads this wide outlive the rounding of the walk that is built from them."""


def spectrum(labels: tuple[int, ...]) -> np.ndarray:
    """The Fourier coefficients of each symbol's indicator, symbols × frequencies."""
    n = max(labels) + 1
    onehot = np.zeros((n, len(labels)))
    onehot[list(labels), np.arange(len(labels))] = 1.0
    return np.fft.rfft(onehot, axis=1) / len(labels)


def by_loudness(c: np.ndarray) -> np.ndarray:
    """The frequencies of a spectrum, the loudest first."""
    return np.argsort(-(np.abs(c[:, 1:]) ** 2).sum(axis=0), kind="stable") + 1


def sparse(labels: tuple[int, ...], time_limit: float) -> tuple[Frequencies, np.ndarray]:
    """A short set of frequencies that spells the word, and a readout over it."""
    deadline = Deadline(time_limit)
    best = thinned(labels)
    u = interpolated(labels, best)
    n, p = max(labels) + 1, len(labels)
    if n == p:
        return best, u
    loud = by_loudness(spectrum(labels))
    low, high = 0, len(best)
    while high - low > 1:
        # Cover's count: about half as many dimensions as points, then bisect.
        middle = min((low + high) // 2, max(low + 1, p // 4))
        if deadline.late or (2 * middle + 1) * p * n > LARGE:
            break
        S = tuple(sorted(int(j) for j in loud[:middle]))
        phi = waves(p, S, np.arange(p))
        found = separation(labels, phi, deadline=deadline).u
        if found is not None and proved_gap(found, labels, phi) > 0:
            best, u, high = S, found, middle
        else:
            low = middle
    return best, u


def waves(period: int, frequencies: Frequencies, t: np.ndarray) -> np.ndarray:
    """The features at some times only; nothing is kept."""
    cos, sin = table(period)
    angles = np.asarray(frequencies)[:, None] * t % period
    rows = np.empty((1 + 2 * len(frequencies), len(t)))
    rows[0], rows[1::2], rows[2::2] = 1.0, cos[angles], sin[angles]
    half = bool(frequencies) and 2 * frequencies[-1] == period
    return rows[:-1] if half else rows


def leads(labels: tuple[int, ...], frequencies: Frequencies, u: np.ndarray) -> tuple[float, float]:
    """The least lead, proved, and the distance to the nearest boundary: some hundreds
    of times at once, since all of them may not fit in memory."""
    p, chunk = len(labels), max(1, (1 << 21) // u.shape[1])
    found = []
    for i in range(0, p, chunk):
        t = np.arange(i, min(i + chunk, p))
        phi, part = waves(p, frequencies, t), labels[i : i + chunk]
        found.append((proved_gap(u, part, phi), radius(u, part, phi)))
    return min(f[0] for f in found), min(f[1] for f in found)


def thinned(labels: tuple[int, ...]) -> Frequencies:
    """As few of the loudest frequencies as a bisection finds that spell the word."""
    c = spectrum(labels)
    if max(labels) + 1 == len(labels):
        return (1,)
    loud = by_loudness(c)
    low, high = 0, len(loud)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if _spells(c, loud[:middle], labels) else (middle, high)
    return tuple(sorted(int(j) for j in loud[:high]))


def _spells(c: np.ndarray, kept: np.ndarray, labels: tuple[int, ...]) -> bool:
    part = np.zeros_like(c)
    part[:, [0, *kept]] = c[:, [0, *kept]]
    y = np.fft.irfft(part, n=len(labels), axis=1) * len(labels)
    t, w = np.arange(len(labels)), np.asarray(labels)
    right = y[w, t].copy()
    y[w, t] = -np.inf
    return bool((right - y.max(axis=0)).min() > LEAD)


def interpolated(labels: tuple[int, ...], frequencies: Frequencies) -> np.ndarray:
    """The truncated series as a readout: constant, then cosine and sine of each."""
    p = len(labels)
    if max(labels) + 1 == p:
        # Every symbol once: each point of a polygon is its own corner.
        cos, sin = table(p)
        return np.stack([np.zeros(p), cos, sin], axis=1)
    c = spectrum(labels)
    columns = [np.real(c[:, 0])]
    for j in frequencies:
        scale = 1.0 if 2 * j == p else 2.0
        columns.append(scale * np.real(c[:, j]))
        if 2 * j != p:
            columns.append(-scale * np.imag(c[:, j]))
    return np.stack(columns, axis=1)
