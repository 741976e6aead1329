r"""Where stability costs: a delayed symbol, a memorised string and a sum, with proved floors.

A cell of rate $\lambda$ lets an input $D$ steps back move its readout by at most
$\epsilon = \|W_y\|\,\lambda^D\,\|\Delta\|$, so that past some length a stable model must fail.

- Delayed symbol: if no two messages move a logit by more than $\epsilon$, no readout loses
  less than $\log S - 2\epsilon$ nats.
- Memorised string: after one signal nothing comes in, so the state falls towards its fixed
  point and log-probabilities are within $2\epsilon_t$ of constants, which lose at least the
  entropy of the frequencies: for any $t_0$ the loss is at least
  $\frac1L[(L - t_0) H(s_{t_0+1} \dots s_L) - 2\sum_{t>t_0}\epsilon_t]$.
- Sum: moving the first number over $[0, 1]$ moves the answer by at most $\delta$, and the
  best constant misses it by $1/\sqrt{12}$: the mean square error is at least
  $(1/\sqrt{12} - \delta/2)^2$.
"""

import math
from collections.abc import Mapping
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import optax
import xarray as xr

from ...cells import Elman, LSTM
from ...nets import on_batch, Recurrent
from .train_stable_and_free import lane_of, MemoryTask, train_stable_and_free


SYMBOLS = 4
UNITS = 24
FORGOTTEN = 1 / 12
"""The mean square error of a sum whose first number is forgotten."""


def _table(
    lengths: tuple[int, ...],
    models: Mapping[str, Any],
    floors: list[float],
    chance: float,
    rate: float,
) -> xr.Dataset:
    return xr.Dataset(
        {
            "loss": (("model", "length"), np.stack(list(models.values()))),
            "floor": ("length", floors),
        },
        {"model": list(models), "length": list(lengths)},
        {"chance": chance, "rate": rate},
    )


def delayed_symbol(delays: tuple[int, ...], *, steps: int, rate: float, seed: int) -> xr.Dataset:
    """The loss of stable and free models at each delay, beside the proved floor."""
    time = max(delays) + 2

    def network(key_cell, key_net, free):
        cell = Elman.init(SYMBOLS + 2, UNITS, key=key_cell, gain=1.0)
        # An identity start remembers long from the first step (Le et al. 2015).
        W_h = jnp.where(free, jnp.eye(UNITS), cell.W_h)
        cell = eqx.tree_at(lambda c: (c.W_h, c.W_x), cell, (W_h, 0.3 * cell.W_x))
        return Recurrent.init(cell, outputs=SYMBOLS, key=key_net, readout="last")

    def loss(net, delay, key):
        xs, asked = symbol_after(delay, 64, time, key=key)
        logits = on_batch(net, xs)
        return optax.softmax_cross_entropy_with_integer_labels(logits, asked).mean()

    task = MemoryTask(network, loss, learning_rate=5e-3, tests=16)
    return _stable_and_free(task, delays, delays, symbol_floor, steps, rate, seed)


def symbol_after(delay, samples: int, time: int, *, key):
    """Blanks, one symbol, `delay` blanks and the question, padded in front so that all
    delays have one length."""
    asked = jr.randint(key, (samples,), 0, SYMBOLS)
    t = jnp.arange(time)
    tokens = jnp.where(t == time - 2 - delay, asked[:, None], SYMBOLS)
    tokens = jnp.where(t == time - 1, SYMBOLS + 1, tokens)
    return jax.nn.one_hot(tokens, SYMBOLS + 2), asked


def symbol_floor(net: Recurrent, delay: int) -> float:
    """The least loss that any readout of this cell by these weights can have."""
    W_x = _wide(net.cell.W_x)[:, :SYMBOLS]
    rate = float(np.linalg.norm(_wide(net.cell.W_h), 2))
    far = max(
        float(np.linalg.norm(W_x[:, i] - W_x[:, j])) for i in range(SYMBOLS) for j in range(i)
    )
    rows = np.linalg.norm(_wide(net.W_y), axis=1)
    epsilon = float(rows.max()) * rate ** (delay + 1) * far
    return max(0.0, math.log(SYMBOLS) - 2 * epsilon)


def string_recall(lengths: tuple[int, ...], *, steps: int, rate: float, seed: int) -> xr.Dataset:
    """The loss of stable and free models on strings of each length, and the floor."""
    longest = max(lengths)
    strings = [string_of(length, seed) for length in lengths]
    table = jnp.asarray([np.pad(s, (0, longest - len(s))) for s in strings])
    sizes = jnp.asarray(lengths)
    signal = jnp.zeros((longest, 1)).at[0].set(1.0)

    def network(key_cell, key_net, free):
        cell = Elman.init(1, UNITS, key=key_cell, gain=1.0)
        return Recurrent.init(cell, outputs=SYMBOLS, key=key_net)

    def loss(net, at, key):
        each = optax.softmax_cross_entropy_with_integer_labels(net(signal), table[at])
        asked = jnp.arange(longest) < sizes[at]
        return jnp.sum(jnp.where(asked, each, 0.0)) / sizes[at].astype(each.dtype)

    task = MemoryTask(network, loss, learning_rate=3e-3, tests=1)
    floor = lambda net, at: string_floor(net, strings[at])
    lanes = tuple(range(len(lengths)))
    return _stable_and_free(task, lengths, lanes, floor, steps, rate, seed)


def string_of(length: int, seed: int) -> np.ndarray:
    """A drawn string, no symbol more frequent than needed: nothing but memory helps."""
    even = np.resize(np.arange(SYMBOLS), length)
    return np.random.default_rng(seed).permutation(even).astype(np.int32)


def string_floor(net: Recurrent, string: np.ndarray) -> float:
    """The least loss that this cell and readout can have on the string."""
    W, b, L = _wide(net.cell.W_h), _wide(net.cell.b), len(string)
    rate = float(np.linalg.norm(W, 2))
    if rate >= 1:
        return 0.0
    h = np.tanh(_wide(net.cell.W_x)[:, 0] + b)
    rest = np.zeros(len(W))
    for _ in range(math.ceil(40 / -math.log(rate))):
        rest = np.tanh(W @ rest + b)
    far = float(np.linalg.norm(h - rest))
    rows = float(np.linalg.norm(_wide(net.W_y), axis=1).max())
    epsilon = rows * far * rate ** np.arange(L)
    tails = [(L - t) * _entropy(string[t:]) - 2 * float(epsilon[t:].sum()) for t in range(L)]
    return max(0.0, *tails) / L


def _entropy(symbols: np.ndarray) -> float:
    counts = np.bincount(symbols)
    p = counts[counts > 0] / len(symbols)
    return float(-(p * np.log(p)).sum())


def adding_problem(lengths: tuple[int, ...], *, steps: int, rate: float, seed: int) -> xr.Dataset:
    """Test errors of stable and free models at each length, and the proved floor."""
    longest, count = max(lengths), len(lengths)

    def task(kind):
        def network(key_cell, key_net, free):
            cell = kind.init(2, 32, key=key_cell)
            return Recurrent.init(cell, outputs=1, key=key_net, readout="last")

        def loss(net, length, key):
            xs, y = padded_sum(64, length, longest, key=key)
            return jnp.mean((on_batch(net, xs)[:, 0] - y) ** 2)

        return MemoryTask(network, loss, learning_rate=3e-3, tests=32)

    options = {"steps": steps, "rate": rate, "seed": seed}
    nets, simple = train_stable_and_free(task(Elman), lengths, [False] * count, **options)
    flags = [False] * count + [True] * count
    _, gated = train_stable_and_free(task(LSTM), lengths * 2, flags, **options)
    floors = [sum_floor(lane_of(nets, i), each) for i, each in enumerate(lengths)]
    losses = {"rnn stable": simple, "lstm stable": gated[:count], "lstm free": gated[count:]}
    return _table(lengths, losses, floors, FORGOTTEN, rate)


def padded_sum(samples: int, length, longest: int, *, key):
    """The adding problem of a traced length, zeros in front."""
    key_u, key_first, key_second = jr.split(key, 3)
    u = jr.uniform(key_u, (samples, longest))
    half, begin = length // 2, longest - length
    first = begin + jr.randint(key_first, (samples,), 0, half)
    second = begin + jr.randint(key_second, (samples,), half, length)
    t = jnp.arange(longest)
    marks = ((t == first[:, None]) | (t == second[:, None])).astype(u.dtype)
    u = jnp.where(t >= begin, u, 0.0)
    return jnp.stack([u, marks], axis=-1), (u * marks).sum(1)


def sum_floor(net: Recurrent, length: int) -> float:
    """The least error of this cell and readout, over where the first mark can stand."""
    rate = float(np.linalg.norm(_wide(net.cell.W_h), 2))
    push = float(np.linalg.norm(_wide(net.cell.W_x)[:, 0]))
    push *= float(np.linalg.norm(_wide(net.W_y)))
    steps = length - 1 - np.arange(length // 2)
    least = np.maximum(1 / math.sqrt(12) - push * rate**steps / 2, 0)
    return float(np.mean(least**2))


def _stable_and_free(task, lengths, lanes, floor, steps, rate, seed) -> xr.Dataset:
    count = len(lanes)
    flags = [False] * count + [True] * count
    options = {"steps": steps, "rate": rate, "seed": seed}
    nets, losses = train_stable_and_free(task, lanes * 2, flags, **options)
    floors = [floor(lane_of(nets, i), lane) for i, lane in enumerate(lanes)]
    models = {"stable": losses[:count], "free": losses[count:]}
    return _table(lengths, models, floors, math.log(SYMBOLS), rate)


def _wide(array) -> np.ndarray:
    return np.asarray(array, np.float64)
