r"""One language model trained with its whole past and with $k$ tokens of it.

The loss is that of the last token of a segment; the truncated models read its last
$k$ inputs. All start from the same weights, see the same segments and take the same
plain steps, so their distance $\|w - w^k\|$ is truncation's doing alone.
"""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import optax

from ...nets import Recurrent
from .config import TruncatedTraining
from .language_models import model_of, segments, text_of
from .train_stable_and_free import project


def last_loss(net: Recurrent, rows, start):
    """The cross entropy of the last token of each row, read from position `start` on."""

    def one(row):
        xs = net.embed(row[:-1])

        def step(h, at):
            t, x = at
            wait = lambda new, old: jnp.where(t >= start, new, old)
            return jax.tree.map(wait, net.cell(h, x), h), None

        times = jnp.arange(xs.shape[0])
        h, _ = jax.lax.scan(step, net.cell.initial_state(), (times, xs))
        logits = net.read(h)
        return optax.softmax_cross_entropy_with_integer_labels(logits, row[-1])

    return jax.vmap(one)(rows).mean()


@eqx.filter_jit
def _distances(config: TruncatedTraining, net, free: bool, stream, windows, key):
    params, rest = eqx.partition(net, eqx.is_inexact_array)
    optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.sgd(config.learning_rate))
    drawn = segments(config.length, config.batch)
    size = lambda tree: jnp.sqrt(
        sum(jnp.sum(leaf**2, axis=tuple(range(1, leaf.ndim))) for leaf in jax.tree.leaves(tree))
    )
    minus = lambda a, b: jax.tree.map(lambda x, y: x - y, a, b)
    first = lambda tree: jax.tree.map(lambda leaf: leaf[:1], tree)

    def step(carry, t):
        rows = drawn(stream, t, jr.fold_in(key, t))

        def moved(params, memory, window):
            price = lambda params: last_loss(
                eqx.combine(params, rest), rows, config.length - window
            )
            slope = jax.grad(price)(params)
            updates, memory = optimizer.update(slope, memory)
            params = eqx.apply_updates(params, updates)
            if not free:
                net = project(eqx.combine(params, rest))
                params = eqx.filter(net, eqx.is_inexact_array)
            return params, memory

        params, memory = jax.vmap(moved)(carry[0], carry[1], windows)
        gap = size(minus(params, first(params)))
        way = size(minus(first(params), start))[0]
        return (params, memory), (gap, way)

    lanes = windows.shape[0]
    repeated = lambda tree: jax.tree.map(lambda leaf: jnp.repeat(leaf[None], lanes, 0), tree)
    start = jax.tree.map(lambda leaf: leaf[None], params)
    carry = (repeated(params), repeated(optimizer.init(params)))
    _, (gap, way) = jax.lax.scan(step, carry, jnp.arange(config.steps))
    return gap, way


def truncated_training_gap(
    config: TruncatedTraining, kind: str, free: bool, seed: int
) -> dict[str, Any]:
    """Distances of truncated from full training over steps and windows."""
    text = text_of(config.text)
    net = model_of(config, kind, len(text.vocabulary), key=jr.key(seed))
    net = net if free else project(net)
    windows = jnp.asarray([config.length, *config.windows])
    key = jr.key(seed + 1)
    gap, way = _distances(config, net, free, jnp.asarray(text.train), windows, key)
    gap, way = np.asarray(gap, float), np.asarray(way, float)
    thin = np.unique(np.geomspace(1, config.steps, 40).astype(int)) - 1
    return {
        "windows": list(config.windows),
        "steps": (thin + 1).tolist(),
        "gap": gap[thin, 1:].T.tolist(),
        "moved": way[thin].tolist(),
        "relative": (gap[-1, 1:] / way[-1]).tolist(),
    }
