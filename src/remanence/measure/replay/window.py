r"""The replay window: the least $k$ with $\|y_t - y_t^{(j)}\| \le$ error at every $t$, for all $j \ge k$.

$y_t^{(j)}$ is the output of the network started from its empty state and given the last $j$ inputs
before and at $t$. Errors need not fall with $j$, so a window counts only if every longer one is as
good. What a window costs in loss is $\frac1M \sum_t \ell(y_t^{(k)}, z_t)$, in nats a target $z_t$.
"""

import dataclasses
import math
from typing import Any, get_args

import jax
import numpy as np
from scipy.special import logsumexp

from ..._precision import double
from ..._types import Key
from ..drive import driven, network_in_double
from .record import judges, longest_judged, Of, ReplayWindow, window_of_share, WindowCost
from .runs import follow_starts, full_run, FullRun, Tally, WORK
from .tokens import token_replay


def replay_window(
    net: Any,
    inputs: Any,
    *,
    error: float = 1e-3,
    of: Of | None = None,
    lengths: Any = None,
    targets: Any = None,
    work: float = WORK,
    key: Key | None = None,
) -> Any:
    """How many of the last inputs give the full run's outputs, at every position.

    The answer is a `ReplayWindow`; for the tokens of a recurrent language model (a cell with
    layers), unless `of` is given, a `TokenReplay`: windows of the next-token distribution and of
    every layer's state, beside what the layers' decays predict, on one text or several (a list,
    or rows with their `lengths`). What follows is of other networks.

    The network (or bare cell) is started from its empty state at every place of every sequence:
    at position t, after k inputs, its output (or state) is compared with the full run's in the
    Euclidean norm. A window counts if it and every longer one is within `error`. Position t has
    read t inputs and can show a window of at most t; it says nothing about longer ones.

    Sequences padded to one length come with their `lengths`. With `targets` (whole numbers, one a
    position, or one a sequence where only the last output is read; negative: none) the record
    holds what windows cost in nats and accuracy, the outputs being logits; tokens of a language
    model are their own targets. Above `work` multiplications starts are drawn at random from all
    sequences (`key`), and the record says what that may miss.

    >>> import jax.numpy as jnp
    >>> from remanence.cells import Linear
    >>> found = replay_window(Linear(0.5 * jnp.eye(1), jnp.ones((1, 1))), jnp.ones((60, 1)))
    >>> found.window, found.at[0][:12].tolist()
    (11.0, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 10, 11])
    """
    if not (isinstance(error, int | float) and 0 < error < math.inf):
        raise ValueError(f"error must be a positive number, got {error!r}")
    layers = hasattr(getattr(net, "cell", None), "layers")
    if of is None and layers and _are_tokens(inputs):
        if targets is not None:
            raise ValueError("a language model predicts its tokens; give no targets")
        return token_replay(net, inputs, error=error, lengths=lengths, key=key)
    of = "outputs" if of is None else of
    if of not in get_args(Of):
        raise ValueError(f"of must be 'outputs' or 'states', got {of!r}")
    with double():
        drive = driven(net, inputs, lengths=lengths)
        net = network_in_double(net)
        ends = drive.ends
        if ends.max() < 2:
            raise ValueError("a window leaves nothing out of one input; two would do")
        full = full_run(net, drive.xs, ends)
        full = _with_targets(full, np.asarray(inputs), targets, ends)
        tally, drawn = follow_starts(full, error, of=of, work=work, key=key)
        size = full.outputs if of == "outputs" else full.states
        with np.errstate(over="ignore"):
            scale = float(np.sqrt(np.mean(np.sum(np.asarray(size) ** 2, axis=1))))
    return _record(full, tally, drawn, error, of, scale, len(ends))


def _are_tokens(inputs: Any) -> bool:
    rows = inputs if isinstance(inputs, list | tuple) else [inputs]
    return all(np.issubdtype(np.asarray(row).dtype, np.integer) for row in rows)


def _record(full, tally, drawn, error, of, scale, sequences) -> ReplayWindow:
    possible, followed = len(full.starts), len(tally.starts)
    complete = followed == possible
    rooms = full.end[tally.starts] - tally.starts
    windows = (tally.rows if complete else tally.runs) + 1
    room = full.history - 1 if complete else rooms
    worst, q95, median = (window_of_share(windows, room, share) for share in (0.0, 0.05, 0.5))
    K = len(tally.largest)
    pairs = np.zeros(K, np.int64)
    pairs[: rooms.max()] = judges(rooms)
    grid = 2 ** np.arange(int(math.log2(K)) + 1)
    if math.isfinite(worst):
        grid = np.union1d(grid, int(worst))
    grid = grid[pairs[grid - 1] > 0]
    cost = None if full.targets is None else _window_cost(full, tally, grid)
    cuts = np.flatnonzero(full.history == 1)[1:]
    return ReplayWindow(
        error=error,
        of=of,
        worst=worst,
        q95=q95,
        median=median,
        at=tuple(np.split(windows, cuts)) if complete else None,
        largest=tally.largest,
        typical=np.sqrt(tally.squares / np.maximum(pairs, 1)),
        scale=scale,
        positions=len(full.history),
        sequences=sequences,
        starts=followed,
        possible=possible,
        longest=longest_judged(room),
        missed=0.0 if complete else 1 - 0.05 ** (1 / drawn),
        cost=cost,
    )


def _with_targets(full: FullRun, inputs: np.ndarray, targets: Any, ends: np.ndarray) -> FullRun:
    """The full run with a target at some rows, if there are any to be had.

    Where a network reads tokens and gives as many numbers as there are tokens, each
    position is to predict the next token.
    """
    net, outputs = full.net, full.outputs.shape[1]
    known = 0 if net.embedding is None else len(net.embedding)
    tokens = known > 0 and np.issubdtype(inputs.dtype, np.integer)
    S, T = len(ends), int(inputs.shape[-1] if tokens else inputs.shape[-2])
    last = net.readout == "last"
    y = np.asarray(full.outputs)
    probabilities = (y >= 0).all() and np.allclose(y.sum(axis=1), 1, atol=1e-6)
    found = np.full((S, T), -1, np.int64)
    if targets is None:
        silent = last or (net.W_y is None and net.head is None)
        if not tokens or silent or outputs != known or probabilities:
            return full
        found[:, :-1] = inputs.reshape(S, T)[:, 1:]
        found[np.arange(T) >= ends[:, None] - 1] = -1
    else:
        given = np.asarray(targets)
        shape = (*inputs.shape[: -1 if tokens else -2], *(() if last else (T,)))
        if not np.issubdtype(given.dtype, np.integer) or given.shape != shape:
            raise ValueError(
                f"targets must be whole numbers of shape {shape}, one a "
                f"{'sequence' if last else 'position'}, got {given.dtype} of {given.shape}"
            )
        if probabilities:
            raise ValueError("the outputs are probabilities; a head that gives logarithms would do")
        if last:
            found[np.arange(S), ends - 1] = given
        else:
            found[:] = given.reshape(S, T)
    rows = found[np.arange(T) < ends[:, None]]
    if not 0 <= rows.max() < outputs:
        raise ValueError(f"the largest target must lie in 0 to {outputs - 1}, got {rows.max()}")
    unit = "token" if targets is None else "target"
    return dataclasses.replace(full, targets=jax.device_put(rows), unit=unit)


def _window_cost(full: FullRun, tally: Tally, windows: np.ndarray) -> WindowCost:
    """The cost at some windows, from sums over the runs followed."""
    z = np.asarray(full.targets)
    there = z >= 0
    y, z = np.asarray(full.outputs)[there], z[there]
    loss = float(np.mean(logsumexp(y, axis=1) - y[np.arange(len(z)), z]))
    accuracy = float(np.mean(y.argmax(axis=1) == z))
    M, K = len(z), len(tally.excess)
    share = np.full(K, 1 / M)
    if len(tally.starts) < len(full.starts):
        # Of the positions with a target that a window shortens, the runs saw some.
        seen = np.zeros(K)
        for start in tally.starts:
            stretch = there[start : full.end[start]]
            seen[: len(stretch)] += stretch
        cut = np.bincount(full.history[there] - 1, minlength=K + 1)
        cut = cut[::-1].cumsum()[::-1][1:]
        share = np.zeros(K)
        np.divide(cut, M * seen, out=share, where=seen > 0)
    mean_excess, mean_gain = tally.excess * share, tally.gain * share
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
