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

from ...cells import Elman, LSTM
from ...nets import Recurrent
from ...tasks import adding, copying
from ...train import trained
from ...train.projection import stable
from .language import surprise


SYMBOLS = 4


def copied(
    delays: tuple[int, ...], *, steps: int, rate: float, seed: int
) -> xr.Dataset:
    """The loss of stable and free models at each delay, beside the proved floor."""
    losses = np.zeros((2, len(delays)))
    floors = np.zeros(len(delays))
    for at, delay in enumerate(delays):
        for row, free in enumerate((False, True)):
            net, losses[row, at] = _copier(delay, free, steps, rate, seed)
            if not free:
                floors[at] = proved_floor(net, delay)
    return xr.Dataset(
        {"loss": (("model", "delay"), losses), "floor": ("delay", floors)},
        {"model": ["stable", "free"], "delay": list(delays)},
        {"chance": math.log(SYMBOLS), "rate": rate},
    )


def _copier(delay: int, free: bool, steps: int, rate: float, seed: int):
    key_cell, key_net, key_run, key_test = jr.split(jr.key(seed), 4)
    inputs = SYMBOLS + 2
    cell = Elman.init(inputs, 24, key=key_cell, gain=1.0)
    if free:
        # An identity start remembers long from the first step (Le et al. 2015).
        cell = eqx.tree_at(lambda c: c.W_h, cell, jnp.eye(24))
    net = Recurrent.init(cell, outputs=SYMBOLS, key=key_net, readout="last")
    held = lambda net: eqx.tree_at(lambda n: n.cell, net, stable(net.cell, rate=rate))

    def loss(model, _, key):
        xs, asked = copying(64, symbols=SYMBOLS, length=1, delay=delay, key=key)
        return surprise(jax.vmap(model)(xs), asked[:, 0]).mean()

    optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.adam(5e-3))
    model, _ = eqx.filter_jit(trained)(
        net if free else held(net),
        loss,
        optimizer,
        steps=steps,
        key=key_run,
        every=steps,
        project=None if free else held,
    )
    tests = [
        float(eqx.filter_jit(loss)(model, None, key)) for key in jr.split(key_test, 4)
    ]
    return model, float(np.mean(tests))


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


def added(length: int, *, steps: int, seed: int, windows: tuple[int, ...]) -> dict:
    """The adding problem by an LSTM, then asked of its last k inputs only."""
    from ...nets import truncate

    key_cell, key_net, key_run, key_test = jr.split(jr.key(seed), 4)
    net = Recurrent.init(
        LSTM.init(2, 32, key=key_cell), outputs=1, key=key_net, readout="last"
    )

    def loss(model, _, key):
        xs, y = adding(64, length, key=key)
        return jnp.mean((jax.vmap(model)(xs)[:, 0] - y) ** 2)

    optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.adam(5e-3))
    model, _ = eqx.filter_jit(trained)(
        net, loss, optimizer, steps=steps, key=key_run, every=steps
    )
    tested = lambda model: float(eqx.filter_jit(loss)(model, None, key_test))
    return {
        "length": length,
        "windows": list(windows),
        "truncated": [tested(truncate(model, min(k, length))) for k in windows],
        "full": tested(model),
    }
