r"""What a window costs in loss: $\frac1M \sum_t \ell(y_t^{(k)}, z_t)$, in nats a target."""

from typing import Any

import numpy as np
from scipy.special import logsumexp

from ...nets import Recurrent
from .record import WindowCost
from .runs import FullRun


def target_rows(
    net: Recurrent, inputs: np.ndarray, targets: Any, ends: np.ndarray
) -> np.ndarray | None:
    """Targets as `sequences x time`, -1 where there is none; None if there are none at all.

    Tokens of a network that reads out as many numbers as there are tokens are
    followed by their targets: each position is to say the next token.
    """
    tokens = np.issubdtype(inputs.dtype, np.integer) and net.embedding is not None
    S, T = len(ends), int(inputs.shape[-1] if tokens else inputs.shape[-2])
    found = np.full((S, T), -1, np.int64)
    if targets is None:
        if not tokens or net.W_y is None or net.readout != "every":
            return None
        if net.embedding is None or len(net.W_y) != len(net.embedding):
            return None
        found[:, :-1] = inputs.reshape(S, T)[:, 1:]
        found[np.arange(T) >= ends[:, None] - 1] = -1
        return found
    given = np.asarray(targets)
    if not np.issubdtype(given.dtype, np.integer):
        raise ValueError(f"targets must be whole numbers, got {given.dtype}")
    many = inputs.ndim == (2 if tokens else 3)
    last = net.readout == "last"
    shape = ((S,) if many else ()) + (() if last else (T,))
    if given.shape != shape:
        raise ValueError(
            f"targets must have shape {shape}, one a {'sequence' if last else 'position'}, "
            f"got {given.shape}"
        )
    if last:
        found[np.arange(S), ends - 1] = given
    else:
        found[:] = given.reshape(S, T)
    return found


def window_cost(
    full: FullRun,
    windows: np.ndarray,
    excess: np.ndarray,
    gain: np.ndarray,
    drawn: np.ndarray | None,
) -> WindowCost:
    """The cost at some windows, from sums over followed runs (`drawn`, or all)."""
    z = np.asarray(full.targets)
    there = z >= 0
    if not there.any():
        raise ValueError("no position has a target")
    y = np.asarray(full.outputs)[there]
    if z.max() >= y.shape[1]:
        raise ValueError(
            f"targets must lie in 0 to {y.shape[1] - 1}, got {int(z.max())}"
        )
    z = z[there]
    loss = float(np.mean(logsumexp(y, axis=1) - y[np.arange(len(z)), z]))
    accuracy = float(np.mean(y.argmax(axis=1) == z))
    M, K = len(z), len(excess)
    share = np.full(K, 1 / M)
    if drawn is not None:
        # Of the positions with a target that a window shortens, the drawn runs saw some.
        seen = np.zeros(K)
        for start in drawn:
            stretch = there[start : full.end[start]]
            seen[: len(stretch)] += stretch
        share = np.zeros(K)
        cut = np.bincount(full.history[there] - 1, minlength=K + 1)[::-1].cumsum()[::-1]
        np.divide(cut[1:], M * seen, out=share, where=seen > 0)
    mean_excess, mean_gain = excess * share, gain * share
    reset = np.cumsum(mean_excess) / np.arange(1, K + 1)
    at = windows - 1
    return WindowCost(
        windows=windows,
        loss=loss + mean_excess[at],
        accuracy=accuracy + mean_gain[at],
        reset=loss + reset[at],
        full_loss=loss,
        full_accuracy=accuracy,
        targets=M,
    )
