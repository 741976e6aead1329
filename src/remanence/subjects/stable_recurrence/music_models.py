"""Polyphonic music (JSB chorales), stable and free: nats a chord."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import optax

from ...nets import on_batch, Recurrent, window_states
from ...tasks import Music, music
from ...train.projection import INPUT_BOUND
from .config import Chorales
from .train_stable_and_free import CELLS, Task


CHORDS = 160
"""The longest chorale: nothing is cut where losses are measured."""


def chord_loss(net: Recurrent, batch):
    """Mean negative log-likelihood of the next chord, padding left out."""
    rolls, lengths = batch
    # Notes are 0 or 1; three quarters keep them in the stable LSTM's domain.
    return _mean(on_batch(net, INPUT_BOUND * rolls[:, :-1]), rolls, lengths)


def _mean(logits, rolls, lengths):
    each = optax.sigmoid_binary_cross_entropy(logits, rolls[:, 1:]).sum(-1)
    real = jnp.arange(each.shape[1])[None] < lengths[:, None] - 1
    return jnp.where(real, each, 0.0).sum() / real.sum()


test_loss = eqx.filter_jit(chord_loss)


@eqx.filter_jit
def window_loss(net: Recurrent, batch, window):
    """The loss of the truncation to a traced window."""
    rolls, lengths = batch

    def one(roll):
        return jax.vmap(net.read)(window_states(net.cell, INPUT_BOUND * roll, window))

    return _mean(jax.lax.map(one, rolls[:, :-1]), rolls, lengths)


def _batch(data, step, key):
    rows = jr.randint(key, (32,), 0, data.rolls.shape[0])
    return data.rolls[rows], data.lengths[rows]


def first_chords(part: Music, time: int) -> Music:
    """The beginnings of the pieces."""
    return Music(part.rolls[:, :time], np.minimum(part.lengths, time))


def music_task(config: Chorales) -> Task:
    """The training of models of chorales."""
    pieces = {name: first_chords(part, CHORDS) for name, part in music("jsb").items()}
    whole = {n: (jnp.asarray(p.rolls), jnp.asarray(p.lengths)) for n, p in pieces.items()}

    def network(kind: str, free: bool, key: Any) -> Recurrent:
        key_cell, key_net = jr.split(key)
        cell = CELLS[kind].init(88, config.units, key=key_cell)
        return Recurrent.init(cell, outputs=88, key=key_net)

    def measure(net: Any, free: bool, draw: int) -> dict[str, Any]:
        found: dict[str, Any] = {"nll": float(test_loss(net, whole["test"]))}
        if draw == 0:
            loss = lambda k: float(window_loss(net, whole["test"], jnp.asarray(k)))
            found["windows"] = list(config.windows)
            found["truncated"] = [loss(k) for k in config.windows]
        return found

    return Task(
        name="jsb",
        network=network,
        loss=lambda model, batch, key: chord_loss(model.net, batch),
        measure=measure,
        steps=config.steps,
        rates=(config.learning_rate,),
        data=first_chords(pieces["train"], 80),
        batch=_batch,
        validation=lambda model: float(test_loss(model.net, whole["valid"])),
        draws=dict.fromkeys(CELLS, config.seeds),
    )
