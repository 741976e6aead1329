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
from .config import Language
from .random_instances import distances
from .text_and_music import model_of, segments, text_of
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
        return optax.softmax_cross_entropy_with_integer_labels(net.read(h), row[-1])

    return jax.vmap(one)(rows).mean()


@eqx.filter_jit
def _descend(config: Language, net, free: bool, stream, windows, key):
    """Trained weights by window: distances from the first's, and how far that one moved."""
    start, rest = eqx.partition(net, eqx.is_inexact_array)
    optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.sgd(config.rates[0]))
    drawn = segments(config.length, config.batch)

    def one(params, memory, window, rows):
        price = lambda params: last_loss(eqx.combine(params, rest), rows, config.length - window)
        updates, memory = optimizer.update(jax.grad(price)(params), memory)
        params = eqx.apply_updates(params, updates)
        if not free:
            params = eqx.filter(project(eqx.combine(params, rest)), eqx.is_inexact_array)
        return params, memory

    def step(t, carry):
        rows = drawn(stream, t, jr.fold_in(key, t))
        params, memory = carry
        return jax.vmap(one, in_axes=(0, 0, 0, None))(params, memory, windows, rows)

    repeated = lambda leaf: jnp.repeat(leaf[None], len(windows), 0)
    carry = jax.tree.map(repeated, (start, optimizer.init(start)))
    params, _ = jax.lax.fori_loop(0, config.steps, step, carry)
    full = jax.tree.map(lambda leaf: leaf[0], params)
    return distances(params, full), distances(params, start)[0]


def truncated_training_gap(config: Language, kind: str, free: bool, seed: int) -> dict[str, Any]:
    """By window, how far truncated training ends from full training over the way moved."""
    text = text_of(config.text)
    net = model_of(config, kind, len(text.vocabulary), key=jr.key(seed))
    net = net if free else project(net)
    windows = jnp.asarray([config.length, *config.windows])
    gap, way = _descend(config, net, free, jnp.asarray(text.train), windows, jr.key(seed + 1))
    return {"windows": list(config.windows), "relative": np.asarray(gap[1:] / way).tolist()}
