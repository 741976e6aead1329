r"""Strings that no two units say, even once: every $W_h \in \mathbb{R}^{2 \times 2}$ refuted.

Two symbols of the string are parted by the sign of $g_t = c + x_t$, $x$ a solution
of the recurrence of $W_h$. With real eigenvalues g is a sum of three exponentials: if
they are positive its sign changes at most twice, if one is negative then at most twice
among the even and twice among the odd steps. With complex ones, after reversing time
or renaming the two symbols if need be,

$$g_t < 0 \iff \log\cos x_t > a + b t, \qquad x_t = \varphi + \theta t - 2\pi k_t,\ |x_t| < \pi/2,\ b \ge 0.$$

So for each $(\theta, \varphi)$ the points $(t, \log\cos x_t)$ must be parted by a line that does not
fall. Boxes of $(\theta, \varphi)$ are refuted by three points that no such line parts; and where
the points of a box run together, by concavity: of three steps with collinear $(t, k_t)$ the
middle one is negative if the outer ones are.
"""

import itertools
import math

import numpy as np

from .deadline import Deadline


SLACK = 1e-9
"""Far above the rounding of a cosine or a logarithm here."""
MOST = 60_000
"""Boxes; more at one level and the string is left undecided."""


def two_units_refuted(labels: tuple[int, ...], *, time_limit: float) -> bool:
    """Whether some two symbols cannot be parted by any two units; False decides nothing."""
    deadline = Deadline(time_limit)
    pairs = itertools.combinations(sorted(set(labels)), 2)
    # The two symbols that are heard most are the hardest to part.
    for i, j in sorted(pairs, key=lambda ij: -sum(k in ij for k in labels)):
        steps = np.array([t for t, k in enumerate(labels) if k in (i, j)])
        signs = np.array([1 if labels[t] == i else -1 for t in steps])
        if len(steps) > 4 and _real_refuted(steps, signs):
            views = ((s, f) for s in (steps, steps[-1] - steps) for f in (1, -1))
            if all(_turning_refuted(s, f * signs, deadline) for s, f in views):
                return True
    return False


def changes(signs: np.ndarray) -> int:
    """How often the sign changes."""
    return int((signs[1:] != signs[:-1]).sum())


def _real_refuted(steps: np.ndarray, signs: np.ndarray) -> bool:
    """Whether real eigenvalues fail, of whatever signs."""
    halves = [changes(signs[steps % 2 == parity]) for parity in (0, 1)]
    return changes(signs) > 2 and max(halves) > 2


def _turning_refuted(steps: np.ndarray, signs: np.ndarray, deadline: Deadline) -> bool:
    """Whether all complex eigenvalues fail that shrink (or stay), the constant positive."""
    order = np.argsort(steps)
    t, negative = steps[order], signs[order] < 0
    # Angles are counted from the middle of the string: boxes stay narrow at its ends.
    t = t - (t[0] + t[-1]) / 2
    theta, phi = (
        a.ravel()
        for a in np.meshgrid(
            math.pi * (np.arange(16) + 0.5) / 16, 2 * math.pi * (np.arange(16) + 0.5) / 16
        )
    )
    wide = np.array([math.pi / 32, math.pi / 16])
    while len(theta):
        if len(theta) > MOST:
            return False
        try:
            left = _open(theta, phi, wide, t, negative, deadline)
        except TimeoutError:
            return False
        theta, phi = theta[left], phi[left]
        # The side that moves the outermost angle more is cut.
        axis = 0 if wide[0] * t[-1] > wide[1] else 1
        wide[axis] /= 2
        if axis == 0:
            theta = np.concatenate([theta - wide[0], theta + wide[0]])
            phi = np.tile(phi, 2)
        else:
            phi = np.concatenate([phi - wide[1], phi + wide[1]])
            theta = np.tile(theta, 2)
    return True


def _open(theta, phi, wide, t: np.ndarray, negative: np.ndarray, deadline: Deadline) -> np.ndarray:
    """The boxes that are not refuted; all arrays are steps × boxes."""
    angle = phi + theta * t[:, None]
    k = np.round(angle / (2 * math.pi))
    x = np.abs(angle - 2 * math.pi * k)
    w = (wide[1] + wide[0] * np.abs(t))[:, None]
    near, far = np.maximum(x - w, 0.0), x + w
    quarter = math.pi / 2
    with np.errstate(divide="ignore", invalid="ignore"):
        above = np.log(np.cos(np.minimum(near, quarter)))
        below = np.where(far < quarter, np.log(np.cos(np.minimum(far, quarter))), -np.inf)
    out = (near[negative] > quarter + SLACK).any(axis=0)
    sure = (w < quarter - SLACK)[:, 0]
    N, P = np.flatnonzero(negative), np.flatnonzero(~negative)
    for i, j in itertools.product(P, N):
        deadline.check()
        if i < j:
            out |= below[i] > above[j] + SLACK
    for i, j in itertools.combinations(P, 2):
        deadline.check()
        for m in N[(i < N) & (j > N)]:
            share = (t[m] - t[i]) / (t[j] - t[i])
            out |= (1 - share) * below[i] + share * below[j] > above[m] + SLACK
    for i, j in itertools.combinations(N, 2):
        deadline.check()
        for m in P[(i < P) & (j > P)]:
            share = (t[m] - t[i]) / (t[j] - t[i])
            out |= below[m] > (1 - share) * above[i] + share * above[j] + SLACK
            if sure[i] and sure[j]:
                # Whole turns at whole steps: then the middle angle lies between.
                span, part = t[j] - t[i], t[m] - t[i]
                out |= (k[j] - k[i]) * part % span == 0
    return ~out
