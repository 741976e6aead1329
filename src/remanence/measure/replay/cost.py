r"""What a window costs in loss: $\frac1M \sum_t \ell(y_t^{(k)}, z_t)$, in nats a target $z_t$."""

import dataclasses
from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from scipy.special import logsumexp

from ...nets import Recurrent
from .record import WindowCost
from .runs import FullRun


def with_targets(full: FullRun, inputs: np.ndarray, targets: Any, ends: np.ndarray) -> FullRun:
    """The full run with a target at some rows, if there are any to be had.

    Where a network reads tokens and gives as many numbers as there are tokens, each
    position is to predict the next token.
    """
    net = full.net
    tokens = np.issubdtype(inputs.dtype, np.integer) and net.embedding is not None
    S, T = len(ends), int(inputs.shape[-1] if tokens else inputs.shape[-2])
    found = np.full((S, T), -1, np.int64)
    if targets is None:
        if not tokens or not _predicts_tokens(net) or _probabilities(full):
            return full
        found[:, :-1] = inputs.reshape(S, T)[:, 1:]
        found[np.arange(T) >= ends[:, None] - 1] = -1
    else:
        many = inputs.ndim == (2 if tokens else 3)
        given = _check_targets(targets, net, S if many else None, T)
        if net.readout == "last":
            found[np.arange(S), ends - 1] = given
        else:
            found[:] = given.reshape(S, T)
        if _probabilities(full):
            raise ValueError(
                "the outputs are probabilities; a head that gives their logarithms would do"
            )
    rows = found[np.arange(T) < ends[:, None]]
    outputs = full.outputs.shape[1]
    if not 0 <= rows.max() < outputs:
        raise ValueError(f"the largest target must lie in 0 to {outputs - 1}, got {rows.max()}")
    unit = "token" if targets is None else "target"
    return dataclasses.replace(full, targets=jnp.asarray(rows), unit=unit)


def _predicts_tokens(net: Recurrent) -> bool:
    if net.readout != "every" or (net.W_y is None and net.head is None):
        return False
    if net.embedding is None:
        return False
    logits = eqx.filter_eval_shape(lambda: net.read(net.cell.initial_state()))
    return logits.shape == (len(net.embedding),)


def _probabilities(full: FullRun) -> bool:
    y = np.asarray(full.outputs)
    return bool((y >= 0).all() and np.allclose(y.sum(axis=1), 1, atol=1e-6))


def _check_targets(targets: Any, net: Recurrent, S: int | None, T: int) -> np.ndarray:
    given = np.asarray(targets)
    if not np.issubdtype(given.dtype, np.integer):
        raise ValueError(f"targets must be whole numbers, got {given.dtype}")
    last = net.readout == "last"
    shape = (() if S is None else (S,)) + (() if last else (T,))
    if given.shape != shape:
        raise ValueError(
            f"targets must have shape {shape}, one a {'sequence' if last else 'position'}, "
            f"got {given.shape}"
        )
    return given


def window_cost(
    full: FullRun,
    windows: np.ndarray,
    excess: np.ndarray,
    gain: np.ndarray,
    drawn: np.ndarray | None,
) -> WindowCost:
    """The cost at some windows, from sums over the runs followed (`drawn`, or all)."""
    z = np.asarray(full.targets)
    there = z >= 0
    y, z = np.asarray(full.outputs)[there], z[there]
    loss = float(np.mean(logsumexp(y, axis=1) - y[np.arange(len(z)), z]))
    accuracy = float(np.mean(y.argmax(axis=1) == z))
    M, K = len(z), len(excess)
    share = np.full(K, 1 / M)
    if drawn is not None:
        # Of the positions with a target that a window shortens, the runs saw some.
        seen = np.zeros(K)
        for start in drawn:
            stretch = there[start : full.end[start]]
            seen[: len(stretch)] += stretch
        cut = np.bincount(full.history[there] - 1, minlength=K + 1)
        cut = cut[::-1].cumsum()[::-1][1:]
        share = np.zeros(K)
        np.divide(cut, M * seen, out=share, where=seen > 0)
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
        unit=full.unit,
    )
