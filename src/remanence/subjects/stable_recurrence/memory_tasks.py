r"""Where stability costs: a delayed symbol, a memorised string and a sum, with proved floors.

A cell of rate $\lambda$ lets an input $D$ steps back move its readout by at most
$\epsilon = \|W_y\|\,\lambda^D\,\|\Delta\|$, so that past some length a stable model must fail.
The floors are derived in `docs/science/stable_recurrence.md`.
"""

import dataclasses
import functools
import math
from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import optax
import xarray as xr
from scipy.special import entr

from ...cells import Elman
from ...nets import on_batch, Recurrent
from .config import Lengths
from .train_stable_and_free import network_of, Parts, Task, train_stable_and_free


SYMBOLS = 4
UNITS = 24
RATE = 0.7
"""The largest spectral norm of stable tanh cells."""


@dataclasses.dataclass(frozen=True)
class MemoryTask:
    """What must be remembered for some length."""

    chance: float
    """The loss of having forgotten it."""
    data: Callable[[int], Any]
    floor: Callable[[Recurrent, int], float]
    """What the weights of a tanh cell prove that it loses at least, over the length."""
    training: dict[str, Any]
    """Network, loss and learning rate, for `Task`."""


def memory_tables(asked: dict[str, Lengths], parts: Parts) -> dict[str, xr.Dataset]:
    """Of each task, losses of stable and free models over the length, and the stable tanh cell's
    floor; left out where a model is missing."""
    found = {name: memory_table(name, each, parts) for name, each in asked.items()}
    return {name: table for name, table in found.items() if table is not None}


def memory_table(name: str, config: Lengths, parts: Parts) -> xr.Dataset | None:
    """Test losses and floors of one task, over model and length."""
    seed, shared = parts.bench.seed, {"steps": config.steps, "rate": RATE}
    task = MEMORY_TASKS[name](max(config.lengths), seed)
    keys, loss = jr.split(jr.key(seed + 77), 16), task.training["loss"]
    price = eqx.filter_jit(lambda net, data: jax.lax.map(lambda k: loss(net, data, k), keys).mean())

    def measure(length: int, net: Recurrent, free: bool, draw: int) -> dict[str, float]:
        found = {"loss": float(price(net, task.data(length)))}
        bounded = isinstance(net.cell, Elman) and not free
        return found | ({"floor": task.floor(net, length)} if bounded else {})

    rows = []
    for length in config.lengths:
        own = {"data": task.data(length), "measure": functools.partial(measure, length)}
        label = f"{name} {length}"
        found = train_stable_and_free(Task(name=label, **own, **shared, **task.training), parts)
        rows.append({model.removeprefix(f"{label} "): draws[0] for model, draws in found.items()})
    kinds = task.training["kinds"]
    if any(len(row) < 2 * len(kinds) or "diverged" in str(row) for row in rows):
        return None
    losses = {model: [row[model]["loss"] for row in rows] for model in rows[0]}
    floors = [row["rnn stable"]["floor"] for row in rows]
    return xr.Dataset(
        {"loss": (("model", "length"), list(losses.values())), "floor": ("length", floors)},
        {"model": list(losses), "length": list(config.lengths)},
        {"chance": task.chance, "rate": RATE},
    )


def _training(network: Callable, loss: Callable, learning_rate: float, *kinds: str) -> dict:
    return {"network": network, "loss": loss, "rates": (learning_rate,), "kinds": kinds}


def delayed_symbol(longest: int, seed: int) -> MemoryTask:
    """A symbol asked for after each delay."""

    def network(kind: str, free: bool, key: Any) -> Recurrent:
        net = network_of(kind, SYMBOLS + 2, UNITS, SYMBOLS, key=key, readout="last")
        # An identity start remembers long from the first step (Le et al. 2015).
        W_h = jnp.eye(UNITS) if free else net.cell.W_h
        weights = lambda net: (net.cell.W_h, net.cell.W_x)
        return eqx.tree_at(weights, net, (W_h, 0.3 * net.cell.W_x))

    def loss(net, delay, key):
        xs, asked = symbol_after(delay, 64, longest + 2, key=key)
        logits = on_batch(net, xs)
        return optax.softmax_cross_entropy_with_integer_labels(logits, asked).mean()

    training = _training(network, loss, 5e-3, "rnn")
    return MemoryTask(math.log(SYMBOLS), jnp.int32, symbol_floor, training)


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
    W_h, W_x, W_y = _weights(net)
    messages = W_x[:, :SYMBOLS].T
    far = np.linalg.norm(messages[:, None] - messages, axis=-1).max()
    epsilon = np.linalg.norm(W_y, axis=1).max() * np.linalg.norm(W_h, 2) ** (delay + 1) * far
    return max(0.0, math.log(SYMBOLS) - 2 * float(epsilon))


def string_of(length: int, seed: int) -> np.ndarray:
    """A drawn string, no symbol more frequent than needed: nothing but memory helps."""
    even = np.resize(np.arange(SYMBOLS), length)
    return np.random.default_rng(seed).permutation(even).astype(np.int32)


def string_recall(longest: int, seed: int) -> MemoryTask:
    """The second half of strings of each length, recited after one signal."""
    signal = jnp.zeros((longest, 1)).at[0].set(1.0)

    def loss(net, data, key):
        string, length = data
        each = optax.softmax_cross_entropy_with_integer_labels(net(signal), string)
        t = jnp.arange(longest)
        return jnp.mean(each, where=(t >= length // 2) & (t < length))

    def data(length: int):
        string = np.pad(string_of(length, seed), (0, longest - length))
        return jnp.asarray(string), jnp.int32(length)

    network = lambda kind, free, key: network_of(kind, 1, UNITS, SYMBOLS, key=key)
    floor = lambda net, length: string_floor(net, string_of(length, seed))
    return MemoryTask(math.log(SYMBOLS), data, floor, _training(network, loss, 3e-3, "rnn"))


def string_floor(net: Recurrent, string: np.ndarray) -> float:
    """The least loss that this cell and readout can have on the second half of the string."""
    W_h, W_x, W_y = _weights(net)
    b, L = np.asarray(net.cell.b, np.float64), len(string)
    rate = float(np.linalg.norm(W_h, 2))
    if rate >= 1:
        return 0.0
    rest = np.zeros(len(W_h))
    for _ in range(math.ceil(40 / -math.log(rate))):
        rest = np.tanh(W_h @ rest + b)
    far = np.linalg.norm(np.tanh(W_x[:, 0] + b) - rest)
    epsilon = np.linalg.norm(W_y, axis=1).max() * far * rate ** np.arange(L)
    entropy = lambda symbols: entr(np.bincount(symbols) / len(symbols)).sum()
    late = range(L // 2, L)
    tails = [(L - t) * entropy(string[t:]) - 2 * epsilon[t:].sum() for t in late]
    return float(max(0.0, *tails)) / len(late)


def adding_problem(longest: int, seed: int) -> MemoryTask:
    """Sums of two marked numbers; the loss of a forgotten first one is 1/12."""

    def loss(net, length, key):
        xs, y = padded_sum(64, length, longest, key=key)
        return jnp.mean((on_batch(net, xs)[:, 0] - y) ** 2)

    network = lambda kind, free, key: network_of(kind, 2, 32, 1, key=key, readout="last")
    training = _training(network, loss, 3e-3, "rnn", "lstm")
    return MemoryTask(1 / 12, jnp.int32, sum_floor, training)


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
    W_h, W_x, W_y = _weights(net)
    push = np.linalg.norm(W_x[:, 0]) * np.linalg.norm(W_y)
    steps = length - 1 - np.arange(length // 2)
    least = np.maximum(1 / math.sqrt(12) - push * np.linalg.norm(W_h, 2) ** steps / 2, 0)
    return float(np.mean(least**2))


def _weights(net: Recurrent) -> tuple[np.ndarray, ...]:
    return tuple(np.asarray(W, np.float64) for W in (net.cell.W_h, net.cell.W_x, net.W_y))


MEMORY_TASKS = {
    "delayed symbol": delayed_symbol,
    "memorised string": string_recall,
    "adding problem": adding_problem,
}
"""Each takes the longest length and a seed."""
