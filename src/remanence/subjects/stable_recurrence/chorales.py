"""Experiment 4: polyphonic music (JSB chorales), stable and free: nats a chord."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import optax

from ...cells import Elman, LSTM
from ...nets import on_batch, Recurrent, window_states
from ...tasks import Music, music
from ...train.projection import INPUT_BOUND, stable
from .config import Chorales
from .language import falling_adam, marked, seed_of
from .parts import Parts
from .peer import peer_of


CHORDS = 160
"""The longest chorale: nothing is cut where losses are measured."""


def chord_loss(model, rolls, lengths):
    """Mean negative log-likelihood of the next chord, padding left out."""
    # Notes are 0 or 1; three quarters keep them in the stable LSTM's domain.
    heard = INPUT_BOUND * rolls[:, :-1]
    quick = isinstance(model, Recurrent)
    logits = on_batch(model, heard) if quick else jax.vmap(model)(heard)
    return _mean(logits, rolls, lengths)


def _mean(logits, rolls, lengths):
    each = optax.sigmoid_binary_cross_entropy(logits, rolls[:, 1:]).sum(-1)
    real = jnp.arange(each.shape[1])[None] < lengths[:, None] - 1
    return jnp.where(real, each, 0.0).sum() / real.sum()


@eqx.filter_jit
def window_loss(net: Recurrent, rolls, lengths, window):
    """The loss of the truncation to a traced window."""

    def one(roll):
        return jax.vmap(net.read)(window_states(net.cell, INPUT_BOUND * roll, window))

    return _mean(jax.lax.map(one, rolls[:, :-1]), rolls, lengths)


def held(net: Recurrent) -> Recurrent:
    """The network with its cell in the stable set."""
    return eqx.tree_at(lambda n: n.cell, net, stable(net.cell))


def _loss(model, batch, key):
    return chord_loss(model, *batch)


def _batch(data, step, key):
    rows = jr.randint(key, (32,), 0, data.rolls.shape[0])
    return data.rolls[rows], data.lengths[rows]


def _untrained(config: Chorales, kind: str, seed: int) -> Recurrent:
    key_cell, key_net = jr.split(jr.key(seed))
    draw = {"rnn": Elman, "lstm": LSTM}[kind]
    cell = draw.init(88, config.units, key=key_cell)
    return Recurrent.init(cell, outputs=88, key=key_net)


_priced = eqx.filter_jit(chord_loss)


def _heard(part: Music) -> tuple[Any, Any]:
    whole = trimmed(part, CHORDS)
    return jnp.asarray(whole.rolls), jnp.asarray(whole.lengths)


def _trained(config: Chorales, model, name: str, parts: Parts, seed: int, project=None):
    pieces = music("jsb")
    valid = _heard(pieces["valid"])
    return parts.trained(
        name,
        model,
        _loss,
        falling_adam(config.learning_rate, config.steps),
        steps=config.steps,
        key=jr.key(seed + 1),
        data=trimmed(pieces["train"], 80),
        batch=_batch,
        project=project,
        price=lambda model: float(_priced(model, *valid)),
    )


def sung(
    config: Chorales, kind: str, free: bool, parts: Parts, draw: int = 0
) -> dict[str, Any]:
    """Losses of one model on the parts; of the first draw's truncations, on the test part."""
    name = f"jsb-{kind}-{'free' if free else 'stable'}{marked(draw)}"
    seed = seed_of(parts, draw)
    net = _untrained(config, kind, seed)
    net = _trained(config, net if free else held(net), name, parts, seed, None if free else held)  # fmt: skip
    if net is None:
        return {"diverged": True}
    heard = {part: _heard(rolls) for part, rolls in music("jsb").items()}
    found: dict[str, Any] = {
        "nll": float(_priced(net, *heard["test"])),
        "nll_valid": float(_priced(net, *heard["valid"])),
        "nll_train": float(_priced(net, *heard["train"])),
    }
    if draw == 0:
        found["windows"] = list(config.windows)
        found["truncated"] = [
            float(window_loss(net, *heard["test"], jnp.asarray(k)))
            for k in config.windows
        ]
    return found


def sung_by_peer(config: Chorales, context: int, parts: Parts) -> float | None:
    """The test loss of a convolution of the LSTM's size."""
    seed = parts.bench.seed
    peer = peer_of(_untrained(config, "lstm", seed), context, key=jr.key(seed))
    peer = _trained(config, peer, f"jsb-convolution-{context}", parts, seed)
    return None if peer is None else float(_priced(peer, *_heard(music("jsb")["test"])))


def trimmed(part: Music, time: int) -> Music:
    """The beginnings of the pieces."""
    return Music(part.rolls[:, :time], np.minimum(part.lengths, time))
