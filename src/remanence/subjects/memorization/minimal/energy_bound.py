r"""A lower bound on d for words of any length: too little energy in too few harmonics.

Let the logits be $f : \mathbb{Z}_p \to \mathbb{R}^n$, centred over the symbols, made of the constant
and of harmonics of cost d. Such functions have $\max_t |f(t)|^2 \le \frac{d+1}{p} \|f\|^2$. The
right logit is the largest of n that sum to zero, so it is at least
$|f(t)| / \sqrt{n(n-1)}$, and

$$\frac{\|f\|^2}{\max|f|\sqrt{n(n-1)}} \le \sum_t f_{w_t}(t) = \langle X, f \rangle \le \|P X\|\,\|f\|,$$

$X$ the centred one-hot word and $P$ the projection onto those harmonics. Hence a
set of cost d spells the word only if $(d + 1)\,n(n-1)\,\|PX\|^2 \ge p$: the strongest set of
each cost decides for all of them at once (after Forster's bound on sign matrices).
"""

import numpy as np


SLACK = 1e-9
"""Far above what a Fourier transform in float64 rounds, relative to the whole energy."""


def energy_floor(labels: tuple[int, ...]) -> int:
    """No set of harmonics of smaller cost spells the word.

    >>> energy_floor((0, 0, 1)), energy_floor((0,) * 4)
    (2, 0)
    """
    n, p = max(labels) + 1, len(labels)
    if n == 1:
        return 0
    X = -np.full((n, p), 1.0 / n)
    X[list(labels), np.arange(p)] += 1.0
    power = (np.abs(np.fft.rfft(X, axis=1)) ** 2).sum(axis=0) / p
    half = float(power[-1]) if p % 2 == 0 else 0.0
    pairs = 2 * power[1 : (p + 1) // 2]
    strongest = np.concatenate([[0.0], np.cumsum(np.sort(pairs)[::-1])])
    limit = p * (1 - SLACK) / (n * (n - 1))
    # One unit says words of period two; odd costs hold p/2, so odd periods have none.
    for d in range(1 if p == 2 else 2, p, 1 + p % 2):
        # p/2 alone costs one, so the odd costs hold it and the even ones do not.
        energy = power[0] + strongest[min(d // 2, len(pairs))] + (half if d % 2 else 0.0)
        if (d + 1) * (energy + SLACK * p) >= limit:
            return d
    return p - 1
