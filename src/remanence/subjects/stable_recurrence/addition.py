r"""The adding problem, stable and free, over its length; and over its last inputs.

Let the first marked number $u$ stand $D$ steps before the end of a cell of rate
$\lambda$. Moving $u$ over $[0, 1]$ moves the answer by at most
$\delta = \|W_y\|\,\lambda^D\,\|W_{x,u}\|$, and the best constant misses $u$ by $1/\sqrt{12}$:
the mean square error is at least $(1/\sqrt{12} - \delta/2)^2$.
"""

import math
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
from ...tasks import adding
from ...train import trained
from ...train.projection import stable
from .config import Adding
from .light import lane_of
from .parts import Parts
from .peer import peer_of


FORGOTTEN = 1 / 12
"""The mean square error that is left when the first number is forgotten."""
UNITS = 32


def padded(samples: int, length, longest: int, *, key):
    """The adding problem of a traced length, silence in front, so that lengths share a program."""
    key_u, key_first, key_second = jr.split(key, 3)
    u = jr.uniform(key_u, (samples, longest))
    half = length // 2
    begin = longest - length
    first = begin + jr.randint(key_first, (samples,), 0, half)
    second = begin + jr.randint(key_second, (samples,), half, length)
    t = jnp.arange(longest)
    marks = (t == first[:, None]) | (t == second[:, None])
    marks = marks.astype(u.dtype)
    u = jnp.where(t >= begin, u, 0.0)
    return jnp.stack([u, marks], axis=-1), (u * marks).sum(1)


def summed(
    lengths: tuple[int, ...], *, steps: int, rate: float, seed: int
) -> xr.Dataset:
    """Test errors of stable and free models at each length, and the proved floor."""
    longest = max(lengths)
    ends = {}
    for name in ("rnn", "lstm"):
        free = (False,) if name == "rnn" else (False, True)
        lanes = [(length, f) for f in free for length in lengths]
        length, wild = (jnp.asarray(part) for part in zip(*lanes, strict=True))
        run = lambda length, wild, name=name: _summer(
            name, length, wild, longest, steps, rate, seed
        )
        nets, losses = eqx.filter_jit(eqx.filter_vmap(run))(length, wild)
        ends[name] = (nets, np.asarray(losses).reshape(len(free), -1))
    nets = ends["rnn"][0]
    floors = [
        sum_floor(lane_of(nets, lane), length) for lane, length in enumerate(lengths)
    ]
    losses = np.concatenate([ends["rnn"][1], ends["lstm"][1]])
    return xr.Dataset(
        {"loss": (("model", "length"), losses), "floor": ("length", floors)},
        {
            "model": ["rnn stable", "lstm stable", "lstm free"],
            "length": list(lengths),
        },
        {"chance": FORGOTTEN, "rate": rate},
    )


def _summer(name, length, free, longest, steps, rate, seed):
    key_cell, key_net, key_run, key_test = jr.split(jr.key(seed), 4)
    cell = (Elman if name == "rnn" else LSTM).init(2, UNITS, key=key_cell)
    net = Recurrent.init(cell, outputs=1, key=key_net, readout="last")

    def held(net):
        kept = stable(net.cell, rate=rate)
        kept = jax.tree.map(lambda a, b: jnp.where(free, a, b), net.cell, kept)
        return eqx.tree_at(lambda n: n.cell, net, kept)

    def loss(model, _, key):
        xs, y = padded(64, length, longest, key=key)
        return jnp.mean((on_batch(model, xs)[:, 0] - y) ** 2)

    optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.adam(3e-3))
    options = {"steps": steps, "key": key_run, "every": steps, "project": held}
    model, _ = trained(held(net), loss, optimizer, **options)
    tests = jax.vmap(lambda key: loss(model, None, key))(jr.split(key_test, 32))
    return model, tests.mean()


def sum_floor(net: Recurrent, length: int) -> float:
    """The least error of this cell and readout, over where the first mark can stand."""
    wide = lambda A: np.asarray(A, np.float64)
    rate = float(np.linalg.norm(wide(net.cell.W_h), 2))
    push = float(np.linalg.norm(wide(net.cell.W_x)[:, 0]))
    push *= float(np.linalg.norm(wide(net.W_y)))
    steps = length - 1 - np.arange(length // 2)
    least = np.maximum(1 / math.sqrt(12) - push * rate**steps / 2, 0)
    return float(np.mean(least**2))


def _loss_of(length: int):
    def loss(model, _, key):
        xs, y = adding(64, length, key=key)
        out = on_batch(model, xs) if isinstance(model, Recurrent) else jax.vmap(model)(xs)  # fmt: skip
        return jnp.mean((out[:, 0] - y) ** 2)

    return loss


def added(config: Adding, parts: Parts) -> dict[str, Any]:
    """The adding problem by an LSTM, then asked of its last k inputs; and by convolutions."""
    seed, loss = parts.bench.seed, _loss_of(config.length)
    key_cell, key_net, key_run, key_test = jr.split(jr.key(seed), 4)
    cell = LSTM.init(2, config.units, key=key_cell)
    net = Recurrent.init(cell, outputs=1, key=key_net, readout="last")
    optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.adam(5e-3))

    def learnt(name, model):
        return parts.trained(
            f"adding-{name}", model, loss, optimizer, steps=config.steps, key=key_run
        )

    def tested(model):
        price = eqx.filter_jit(lambda model, key: loss(model, None, key))
        return float(np.mean([price(model, key) for key in jr.split(key_test, 16)]))

    model = learnt("lstm", net)
    if model is None:
        return {"diverged": True}
    peers = []
    for context in config.contexts:
        peer = learnt(f"convolution-{context}", peer_of(net, context, key=key_net))
        peers.append(None if peer is None else tested(peer))
    return {
        "length": config.length,
        "windows": list(config.windows),
        "truncated": [tested(truncate(model, k)) for k in config.windows],
        "full": tested(model),
        "contexts": list(config.contexts),
        "peers": peers,
    }
