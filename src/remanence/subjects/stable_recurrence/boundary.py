r"""Experiment 5: where stability costs. A symbol is asked for after a delay of $D$ steps.

If no two messages can move a logit by more than $\epsilon$, no reading of them loses
less than $\log S - 2\epsilon$ nats; a cell of rate $\lambda$ has
$\epsilon \le \max_i\|W_{y,i}\|\,C\,\lambda^{D+1} \max\|\phi(0, x) - \phi(0, x')\|$. The proved floor
rises to $\log S$ as the delay grows: past it a stable model must fail.
"""

import math

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import optax
import xarray as xr

from ...cells import Elman
from ...nets import on_batch, Recurrent
from ...train import trained
from ...train.projection import stable
from .light import lane_of, side_by_side


SYMBOLS = 4
UNITS = 24


def copied(
    delays: tuple[int, ...], *, steps: int, rate: float, seed: int
) -> xr.Dataset:
    """The loss of stable and free models at each delay, beside the proved floor."""
    time = max(delays) + 2
    lanes = [(delay, free) for free in (False, True) for delay in delays]
    delay, free = (jnp.asarray(part) for part in zip(*lanes, strict=True))
    run = lambda delay, free: _copier(delay, free, time, steps, rate, seed)
    nets, losses = side_by_side(run, delay, free)
    floors = [
        proved_floor(lane_of(nets, lane), each) for lane, each in enumerate(delays)
    ]
    return xr.Dataset(
        {
            "loss": (("model", "delay"), np.asarray(losses).reshape(2, -1)),
            "floor": ("delay", floors),
        },
        {"model": ["stable", "free"], "delay": list(delays)},
        {"chance": math.log(SYMBOLS), "rate": rate},
    )


def asked_after(delay, samples: int, time: int, *, key):
    """Blanks, one symbol, `delay` blanks and the bell: the copying task, padded in
    front so that all delays have one length and are trained side by side."""
    asked = jr.randint(key, (samples,), 0, SYMBOLS)
    t = jnp.arange(time)
    tokens = jnp.where(t == time - 2 - delay, asked[:, None], SYMBOLS)
    tokens = jnp.where(t == time - 1, SYMBOLS + 1, tokens)
    return jax.nn.one_hot(tokens, SYMBOLS + 2), asked


def _copier(delay, free, time: int, steps: int, rate: float, seed: int):
    key_cell, key_net, key_run, key_test = jr.split(jr.key(seed), 4)
    cell = Elman.init(SYMBOLS + 2, UNITS, key=key_cell, gain=1.0)
    # An identity start remembers long from the first step (Le et al. 2015).
    W_h = jnp.where(free, jnp.eye(UNITS), cell.W_h)
    cell = eqx.tree_at(lambda c: (c.W_h, c.W_x), cell, (W_h, 0.3 * cell.W_x))
    net = Recurrent.init(cell, outputs=SYMBOLS, key=key_net, readout="last")

    def held(net):
        kept = jnp.where(free, net.cell.W_h, stable(net.cell, rate=rate).W_h)
        return eqx.tree_at(lambda n: n.cell.W_h, net, kept)

    def loss(model, _, key):
        xs, asked = asked_after(delay, 64, time, key=key)
        logits = on_batch(model, xs)
        return optax.softmax_cross_entropy_with_integer_labels(logits, asked).mean()

    optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.adam(5e-3))
    options = {"steps": steps, "key": key_run, "every": steps, "project": held}
    model, _ = trained(held(net), loss, optimizer, **options)
    tests = jax.vmap(lambda key: loss(model, None, key))(jr.split(key_test, 16))
    return model, tests.mean()


def proved_floor(net: Recurrent, delay: int) -> float:
    """The least loss that any reading of this cell by these readout weights can have."""
    cell = net.cell
    W = np.asarray(cell.W_h, np.float64)
    W_x = np.asarray(cell.W_x, np.float64)[:, :SYMBOLS]
    rate = float(np.linalg.norm(W, 2))
    apart = max(
        float(np.linalg.norm(W_x[:, i] - W_x[:, j]))
        for i in range(SYMBOLS)
        for j in range(i)
    )
    rows = np.linalg.norm(np.asarray(net.W_y, np.float64), axis=1)
    epsilon = float(rows.max()) * rate ** (delay + 1) * apart
    return max(0.0, math.log(SYMBOLS) - 2 * epsilon)
