r"""Words of many hundreds of symbols: harmonics by their loudness, read back by Fourier.

The readout is the truncated Fourier series of the one-hot word, so no program is
solved: the loudest frequencies are kept, as few as still spell.
"""

import numpy as np

from .harmonics import Frequencies, table


LEAD = 1e-2
"""Leads this wide outlive the rounding of the walk that is built from them."""


def spectrum(labels: tuple[int, ...]) -> np.ndarray:
    """The Fourier coefficients of each symbol's indicator, symbols × frequencies."""
    n = max(labels) + 1
    onehot = np.zeros((n, len(labels)))
    onehot[list(labels), np.arange(len(labels))] = 1.0
    return np.fft.rfft(onehot, axis=1) / len(labels)


def thinned(labels: tuple[int, ...]) -> Frequencies:
    """As few of the loudest frequencies as a bisection finds that spell the word."""
    c = spectrum(labels)
    if max(labels) + 1 == len(labels):
        return (1,)
    loud = np.argsort(-(np.abs(c[:, 1:]) ** 2).sum(axis=0), kind="stable") + 1
    low, high = 0, len(loud)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (
            (low, middle) if _spells(c, loud[:middle], labels) else (middle, high)
        )
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
