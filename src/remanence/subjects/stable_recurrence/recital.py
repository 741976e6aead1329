r"""A memorised string: a bell, then silence, and the symbols $s_1 \dots s_L$ are to be told.

After the bell nothing comes in, so a cell of rate $\lambda$ falls towards its fixed
point, $\|h_t - h_*\| \le \lambda^{t-1}\|h_1 - h_*\|$, and its log-probabilities are within
$2\epsilon_t = 2\max_i\|W_{y,i}\|\,\|h_t - h_*\|$ of constants. Constants lose at least the
entropy of the frequencies, so from any $t_0$ on the loss is at least
$$\frac1L\Big[(L - t_0)\,H(s_{t_0+1} \dots s_L) - 2\sum_{t>t_0}\epsilon_t\Big].$$
"""

import math

import equinox as eqx
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import optax
import xarray as xr

from ...cells import Elman
from ...nets import Recurrent
from ...train import trained
from ...train.projection import stable
from .light import lane_of


SYMBOLS = 4
UNITS = 24


def string_of(length: int, seed: int) -> np.ndarray:
    """A drawn string, no symbol more frequent than needed: nothing but memory helps."""
    even = np.resize(np.arange(SYMBOLS), length)
    return np.random.default_rng(seed).permutation(even).astype(np.int32)


def recited(
    lengths: tuple[int, ...], *, steps: int, rate: float, seed: int
) -> xr.Dataset:
    """The loss of stable and free models on strings of each length, and the floor."""
    longest = max(lengths)
    strings = [string_of(length, seed) for length in lengths]
    table = jnp.asarray([np.pad(s, (0, longest - len(s))) for s in strings])
    lanes = [(i, free) for free in (False, True) for i in range(len(lengths))]
    at, free = (jnp.asarray(part) for part in zip(*lanes, strict=True))
    size = jnp.asarray(lengths)
    run = lambda at, free: _reciter(table[at], size[at], free, steps, rate, seed)
    nets, losses = eqx.filter_jit(eqx.filter_vmap(run))(at, free)
    floors = [
        string_floor(lane_of(nets, lane), string) for lane, string in enumerate(strings)
    ]
    return xr.Dataset(
        {
            "loss": (("model", "length"), np.asarray(losses).reshape(2, -1)),
            "floor": ("length", floors),
        },
        {"model": ["stable", "free"], "length": list(lengths)},
        {"chance": math.log(SYMBOLS), "rate": rate},
    )


def _reciter(string, length, free, steps, rate, seed):
    key_cell, key_net, key_run = jr.split(jr.key(seed), 3)
    cell = Elman.init(1, UNITS, key=key_cell, gain=1.0)
    net = Recurrent.init(cell, outputs=SYMBOLS, key=key_net)
    bell = jnp.zeros((string.shape[0], 1)).at[0].set(1.0)
    asked = jnp.arange(string.shape[0]) < length

    def held(net):
        kept = jnp.where(free, net.cell.W_h, stable(net.cell, rate=rate).W_h)
        return eqx.tree_at(lambda n: n.cell.W_h, net, kept)

    def loss(model, _, key):
        each = optax.softmax_cross_entropy_with_integer_labels(model(bell), string)
        return jnp.sum(jnp.where(asked, each, 0.0)) / length.astype(each.dtype)

    optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.adam(3e-3))
    options = {"steps": steps, "key": key_run, "every": steps, "project": held}
    model, _ = trained(held(net), loss, optimizer, **options)
    return model, loss(model, None, key_run)


def string_floor(net: Recurrent, string: np.ndarray) -> float:
    """The least loss that this cell and readout can have on the string."""
    wide = lambda A: np.asarray(A, np.float64)
    W, b, L = wide(net.cell.W_h), wide(net.cell.b), len(string)
    rate = float(np.linalg.norm(W, 2))
    if rate >= 1:
        return 0.0
    h = np.tanh(wide(net.cell.W_x)[:, 0] + b)
    rest = np.zeros(len(W))
    for _ in range(math.ceil(40 / -math.log(rate))):
        rest = np.tanh(W @ rest + b)
    far = float(np.linalg.norm(h - rest))
    rows = float(np.linalg.norm(wide(net.W_y), axis=1).max())
    epsilon = rows * far * rate ** np.arange(L)
    tails = [
        (L - t) * _entropy(string[t:]) - 2 * float(epsilon[t:].sum()) for t in range(L)
    ]
    return max(0.0, *tails) / L


def _entropy(symbols: np.ndarray) -> float:
    counts = np.bincount(symbols)
    p = counts[counts > 0] / len(symbols)
    return float(-(p * np.log(p)).sum())
