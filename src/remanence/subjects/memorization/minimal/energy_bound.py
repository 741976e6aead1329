r"""A lower bound on d for words of any length: too little energy in too few harmonics.

Let the logits be $f : \mathbb{Z}_p \to \mathbb{R}^n$, centred over the symbols, made of the constant
and of harmonics of cost d. Such functions have $\max_t |f(t)|^2 \le \frac{d+1}{p} \|f\|^2$. The
right logit is the largest of n that sum to zero, so it is at least
$|f(t)| / \sqrt{n(n-1)}$, and

$$\frac{\|f\|^2}{\max|f|\sqrt{n(n-1)}} \le \sum_t f_{w_t}(t) = \langle X, f \rangle \le \|P X\|\,\|f\|,$$

$X$ the centred one-hot word and $P$ the projection onto those harmonics. Hence a
set of cost d spells the word only if $(d + 1)\,n(n-1)\,\|PX\|^2 \ge p$: the loudest set of
each cost decides for all of them at once (after Forster's bound on sign matrices).
"""

import math

import numpy as np

from .deadline import Deadline, NEVER


SLACK = 1e-9
"""Far above what a Fourier transform in float64 rounds, relative to the whole energy."""


def energies(labels: tuple[int, ...]) -> tuple[float, np.ndarray, float]:
    """How much of $\\|X\\|^2$ is constant, in each pair of waves, and at p/2."""
    n, p = max(labels) + 1, len(labels)
    X = -np.full((n, p), 1.0 / n)
    X[list(labels), np.arange(p)] += 1.0
    power = (np.abs(np.fft.rfft(X, axis=1)) ** 2).sum(axis=0) / p
    half = float(power[-1]) if p % 2 == 0 else 0.0
    pairs = 2 * power[1 : (p + 1) // 2]
    return float(power[0]), pairs, half


def energy_floor(labels: tuple[int, ...]) -> int:
    """No set of harmonics of smaller cost spells the word.

    >>> energy_floor((0, 0, 1)), energy_floor((0,) * 4)
    (2, 0)
    """
    n, p = max(labels) + 1, len(labels)
    if n == 1:
        return 0
    constant, pairs, half = energies(labels)
    loudest = np.concatenate([[0.0], np.cumsum(np.sort(pairs)[::-1])])
    limit = p * (1 - SLACK) / (n * (n - 1))
    for d in range(1, p):
        if p % 2 and d % 2:
            continue
        # p/2 alone costs one, so the odd costs hold it and the even ones do not.
        heard = constant + loudest[min(d // 2, len(pairs))] + (half if d % 2 else 0.0)
        if (d + 1) * (heard + SLACK * p) >= limit:
            return d
    return p - 1


def two_unit_floor(labels: tuple[int, ...], deadline: Deadline = NEVER) -> int:
    """What costs more than two where no single harmonic spells the word, else less (and
    where there was no time to try them all).

    One harmonic that is not a unit of $\\mathbb{Z}_p$ repeats a state before the word repeats;
    a unit walks round a polygon, where two symbols that alternate more than once
    on the way cannot be parted by a line.
    """
    n, p = max(labels) + 1, len(labels)
    if n == 1:
        return 0
    w = np.asarray(labels)
    for u in range(1, p // 2 + 1):
        if math.gcd(u, p) > 1:
            continue
        if deadline.late or not _crossed(w[np.arange(p) * u % p], n):
            return min(2, p - 1)
    return 4 if p % 2 else 3


def _crossed(w: np.ndarray, n: int) -> bool:
    """Whether some two symbols alternate more than once round the circle."""
    changes = np.flatnonzero(w != np.roll(w, 1))
    if n == 2:
        return len(changes) > 2
    short = w[changes].tolist()
    # Convex regions on a circle nest like brackets: each symbol is closed before
    # an outer one goes on. A stack finds the first that is not.
    stack: list[int] = []
    left = dict(zip(*np.unique(short, return_counts=True), strict=True))
    for k in short:
        while stack and stack[-1] != k and left[stack[-1]] == 0:
            stack.pop()
        if k in stack and stack[-1] != k:
            return True
        if k not in stack:
            stack.append(k)
        left[k] -= 1
    return False
