r"""Where stability costs: a delayed symbol, a memorised string and a sum, with proved floors.

A cell of rate $\lambda$ lets an input $D$ steps back move its readout by at most
$\epsilon = \|W_y\|\,\lambda^D\,\|\Delta\|$, so that past some length a stable model must fail.

- Delayed symbol: if no two messages move a logit by more than $\epsilon$, no readout loses
  less than $\log S - 2\epsilon$ nats.
- Memorised string: after one signal nothing comes in, so the state falls towards its fixed
  point and log-probabilities are within $2\epsilon_t$ of constants, which lose at least the
  entropy of the frequencies. Asked for is the second half, which must be kept for longest:
  for any $t_0 \ge L/2$ its loss is at least
  $\frac2L[(L - t_0) H(s_{t_0+1} \dots s_L) - 2\sum_{t>t_0}\epsilon_t]$.
- Sum: moving the first number over $[0, 1]$ moves the answer by at most $\delta$, and the
  best constant misses it by $1/\sqrt{12}$: the mean square error is at least
  $(1/\sqrt{12} - \delta/2)^2$.
"""

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

from ...cells import Elman, LSTM
from ...nets import on_batch, Recurrent, truncate
from .config import Lengths
from .parts import Parts
from .train_stable_and_free import CELLS, Task, train_stable_and_free


SYMBOLS = 4
UNITS = 24


def memory_table(
    name: str, config: Lengths, parts: Parts, chance: float, of_length: Callable, loss: Any, **task
) -> xr.Dataset | None:
    """Test losses of stable and free models over the length, and the stable tanh cell's floor.

    `of_length` gives the data of a length and the floor of trained weights there. None where
    a model is missing.
    """
    keys = jr.split(jr.key(parts.bench.seed + 77), 16)
    price = eqx.filter_jit(lambda net, data: jax.lax.map(lambda k: loss(net, data, k), keys).mean())

    def measure(data, floor, half, net: Recurrent, free: bool, draw: int) -> dict[str, float]:
        found = {"loss": float(price(net, data))}
        if isinstance(net.cell, Elman) and not free:
            found["floor"] = floor(net)
        if isinstance(net.cell, LSTM) and free:
            found["half"] = float(price(truncate(net, half), data))
        return found

    rows: dict[str, list[float]] = {}
    for length in config.lengths:
        data, floor = of_length(length)
        found = train_stable_and_free(
            Task(
                name=f"{name} {length}",
                loss=lambda model, data, key: loss(model.net, data, key),
                measure=functools.partial(measure, data, floor, length // 2),
                data=data,
                steps=config.steps,
                rate=config.rate,
                **task,
            ),
            parts,
        )
        for model, (numbers, *_) in found.items():
            for what, number in numbers.items():
                label = model.removeprefix(f"{name} {length} ")
                rows.setdefault(f"{label}, {what}", []).append(number)
    count = len(config.lengths)
    losses = {k.removesuffix(", loss"): v for k, v in rows.items() if k.endswith(", loss")}
    floors = rows.get("rnn stable, floor", [])
    if len(floors) < count or any(len(values) < count for values in losses.values()):
        return None
    values = {"loss": (("model", "length"), list(losses.values())), "floor": ("length", floors)}
    if "lstm free, half" in rows:
        values["half_window"] = ("length", rows["lstm free, half"])
    coordinates = {"model": list(losses), "length": list(config.lengths)}
    return xr.Dataset(values, coordinates, {"chance": chance, "rate": config.rate})


def delayed_symbol(config: Lengths, parts: Parts) -> xr.Dataset | None:
    """A symbol asked for after each delay."""
    time = max(config.lengths) + 2

    def network(kind: str, free: bool, key: Any) -> Recurrent:
        key_cell, key_net = jr.split(key)
        cell = CELLS[kind].init(SYMBOLS + 2, UNITS, key=key_cell, gain=1.0)
        # An identity start remembers long from the first step (Le et al. 2015).
        W_h = jnp.eye(UNITS) if free else cell.W_h
        cell = eqx.tree_at(lambda c: (c.W_h, c.W_x), cell, (W_h, 0.3 * cell.W_x))
        return Recurrent.init(cell, outputs=SYMBOLS, key=key_net, readout="last")

    def loss(net, delay, key):
        xs, asked = symbol_after(delay, 64, time, key=key)
        logits = on_batch(net, xs)
        return optax.softmax_cross_entropy_with_integer_labels(logits, asked).mean()

    of_length = lambda delay: (jnp.int32(delay), lambda net: symbol_floor(net, delay))
    options = {"network": network, "loss": loss, "rates": (5e-3,), "kinds": ("rnn",)}
    return memory_table("delayed symbol", config, parts, math.log(SYMBOLS), of_length, **options)


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


def string_of(length: int, seed: int) -> np.ndarray:
    """A drawn string, no symbol more frequent than needed: nothing but memory helps."""
    even = np.resize(np.arange(SYMBOLS), length)
    return np.random.default_rng(seed).permutation(even).astype(np.int32)


def string_recall(config: Lengths, parts: Parts) -> xr.Dataset | None:
    """The second half of strings of each length, recited after one signal."""
    longest = max(config.lengths)
    signal = jnp.zeros((longest, 1)).at[0].set(1.0)

    def network(kind: str, free: bool, key: Any) -> Recurrent:
        key_cell, key_net = jr.split(key)
        cell = CELLS[kind].init(1, UNITS, key=key_cell, gain=1.0)
        return Recurrent.init(cell, outputs=SYMBOLS, key=key_net)

    def loss(net, data, key):
        string, length = data
        each = optax.softmax_cross_entropy_with_integer_labels(net(signal), string)
        t = jnp.arange(longest)
        return jnp.mean(each, where=(t >= length // 2) & (t < length))

    def of_length(length: int):
        string = string_of(length, parts.bench.seed)
        data = (jnp.asarray(np.pad(string, (0, longest - length))), jnp.int32(length))
        return data, lambda net: string_floor(net, string)

    options = {"network": network, "loss": loss, "rates": (3e-3,), "kinds": ("rnn",)}
    return memory_table("memorised string", config, parts, math.log(SYMBOLS), of_length, **options)


def string_floor(net: Recurrent, string: np.ndarray) -> float:
    """The least loss that this cell and readout can have on the second half of the string."""
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
    late = range(L // 2, L)
    tails = [(L - t) * _entropy(string[t:]) - 2 * float(epsilon[t:].sum()) for t in late]
    return max(0.0, *tails) / len(late)


def _entropy(symbols: np.ndarray) -> float:
    counts = np.bincount(symbols)
    p = counts[counts > 0] / len(symbols)
    return float(-(p * np.log(p)).sum())


def adding_problem(config: Lengths, parts: Parts) -> xr.Dataset | None:
    """Sums of two marked numbers; the loss of a forgotten first one is 1/12."""
    longest = max(config.lengths)

    def network(kind: str, free: bool, key: Any) -> Recurrent:
        key_cell, key_net = jr.split(key)
        cell = CELLS[kind].init(2, 32, key=key_cell)
        return Recurrent.init(cell, outputs=1, key=key_net, readout="last")

    def loss(net, length, key):
        xs, y = padded_sum(64, length, longest, key=key)
        return jnp.mean((on_batch(net, xs)[:, 0] - y) ** 2)

    of_length = lambda length: (jnp.int32(length), lambda net: sum_floor(net, length))
    options = {"network": network, "loss": loss, "rates": (3e-3,)}
    return memory_table("adding problem", config, parts, 1 / 12, of_length, **options)


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


def _wide(array) -> np.ndarray:
    return np.asarray(array, np.float64)
