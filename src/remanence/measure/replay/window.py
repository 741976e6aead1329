r"""The replay window: the least $k$ with $\|y_t - y_t^{(j)}\| \le$ error at every $t$, for all $j \ge k$.

$y_t^{(j)}$ is the output of the network started from its empty state and given the last
$j$ inputs before and at $t$. Errors need not fall with $j$, so a window counts only if
every longer one is as good.
"""

import math
from typing import Any, get_args

import jax.numpy as jnp
import numpy as np

from ..._precision import double
from ..._types import Key
from ..drive import driven, network_in_double
from .cost import window_cost, with_targets
from .record import Of, ReplayWindow
from .runs import full_run
from .shares import judges, longest_judged, window_of_share
from .starts import follow_starts, WORK
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
    layers) a `TokenReplay`: windows of the next-token distribution and of every layer's
    state, beside what the layers' decays predict, on one text or several (a list, or rows
    with their `lengths`). What follows is of other networks, and of a language model if
    `of` is given.

    The network (or bare cell) is started from its empty state at every place of every
    sequence and followed from there: at position t, after k inputs, its output (or its
    state) is compared with that of the full run in the Euclidean norm. A window counts
    if it and every longer one is within `error`. A position near the beginning has
    heard few inputs: up to there every window is the whole history and exact, so
    position t can show a window of at most t, and says nothing about longer ones.

    Sequences padded to one length come with their `lengths`. With `targets` (whole
    numbers, one a position, or one a sequence where only the last output is read;
    negative: none) the record holds what windows cost in nats and accuracy, the outputs
    being logits; tokens of a language model are their own targets. Above `work`
    multiplications starts are drawn at random from all sequences (`key`), and the record
    says what that may miss.

    >>> import jax.numpy as jnp
    >>> from remanence.cells import Linear
    >>> found = replay_window(Linear(0.5 * jnp.eye(1), jnp.ones((1, 1))), jnp.ones((60, 1)))
    >>> found.window, found.at[0][:12].tolist()
    (11.0, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 10, 11])
    """
    layers = hasattr(getattr(net, "cell", None), "layers")
    if of is None and layers and _are_tokens(inputs):
        if targets is not None:
            raise ValueError("a language model predicts its tokens; give no targets")
        return token_replay(net, inputs, error=_positive(error), lengths=lengths, key=key)
    of = "outputs" if of is None else of
    if of not in get_args(Of):
        raise ValueError(f"of must be 'outputs' or 'states', got {of!r}")
    _positive(error)
    with double():
        drive = driven(net, inputs, lengths=lengths)
        net = network_in_double(net)
        ends = drive.ends
        if ends.max() < 2:
            raise ValueError("a window leaves nothing out of one input; two would do")
        full = full_run(net, drive.xs, ends)
        full = with_targets(full, np.asarray(inputs), targets, ends)
        tally, drawn = follow_starts(full, error, of=of, work=work, key=key)
        size = full.outputs if of == "outputs" else full.states
        scale = float(jnp.sqrt(jnp.mean(jnp.sum(size**2, axis=1))))
    return _record(full, tally, drawn, error, of, scale, len(ends))


def _are_tokens(inputs: Any) -> bool:
    rows = inputs if isinstance(inputs, list | tuple) else [inputs]
    return all(np.issubdtype(np.asarray(row).dtype, np.integer) for row in rows)


def _positive(error: float) -> float:
    if not (isinstance(error, int | float) and 0 < error < math.inf):
        raise ValueError(f"error must be a positive number, got {error!r}")
    return error


def _record(full, tally, drawn, error, of, scale, sequences) -> ReplayWindow:
    possible, followed = len(full.starts), len(tally.starts)
    complete = followed == possible
    rooms = full.end[tally.starts] - tally.starts
    if complete:
        windows, room = tally.rows + 1, full.history - 1
    else:
        windows, room = tally.runs + 1, rooms
    worst = window_of_share(windows, room, 0.0)
    K = len(tally.largest)
    pairs = np.zeros(K, np.int64)
    pairs[: rooms.max()] = judges(rooms)
    grid = 2 ** np.arange(int(math.log2(K)) + 1)
    if math.isfinite(worst):
        grid = np.union1d(grid, int(worst))
    grid = grid[pairs[grid - 1] > 0]
    cost = None
    if full.targets is not None:
        part = None if complete else tally.starts
        cost = window_cost(full, grid, tally.excess, tally.gain, part)
    cuts = np.flatnonzero(full.history == 1)[1:]
    return ReplayWindow(
        error=error,
        of=of,
        worst=worst,
        q95=window_of_share(windows, room, 0.05),
        median=window_of_share(windows, room, 0.5),
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
