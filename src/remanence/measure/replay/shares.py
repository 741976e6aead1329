"""The window that serves at all, or at a share, of the places that can judge it."""

import math

import numpy as np


JUDGES = 0.05
"""The share of places that must have heard more than a window, for it to be judged."""


def window_of_share(windows: np.ndarray, room: np.ndarray, share: float) -> float:
    """The least window that fails at no more than a share of the places that judge it.

    A place judges windows up to its `room`, and fails those below its own window; inf
    if every window that enough places judge fails at more of them.

    >>> window_of_share(np.array([1, 2, 3, 3]), np.array([0, 1, 2, 3]), 0.0)
    3.0
    """
    K = longest_judged(room)
    failing = len(windows) - np.bincount(windows, minlength=K + 2).cumsum()[1 : K + 1]
    fine = np.flatnonzero(failing <= share * judges(room)[:K])
    return float(fine[0] + 1) if len(fine) else math.inf


def longest_judged(room: np.ndarray) -> int:
    """The longest window that at least `JUDGES` of the places judge."""
    return int(np.sum(judges(room) >= JUDGES * len(room)))


def judges(room: np.ndarray) -> np.ndarray:
    """How many places judge windows of 1, 2, ..."""
    return len(room) - np.bincount(room).cumsum()[:-1]
