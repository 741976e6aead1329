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
from .train_stable_and_free import CELLS, network_of, Task


UNITS = 96
STEPS = 800
"""At most; the validation part chooses how many are taken."""
TRAINED_CHORDS = 80
"""Pieces are cut there in training; nothing is cut where losses are measured."""
WINDOWS = (1, 2, 4, 8, 16, 32)


def chord_loss(net: Recurrent, pieces: Any):
    """Mean negative log-likelihood of the next chord, padding left out."""
    # Notes are 0 or 1; three quarters keep them in the stable LSTM's domain.
    return _mean(on_batch(net, INPUT_BOUND * pieces.rolls[:, :-1]), pieces)


def _mean(logits, pieces: Any):
    each = optax.sigmoid_binary_cross_entropy(logits, pieces.rolls[:, 1:]).sum(-1)
    real = jnp.arange(each.shape[1])[None] < pieces.lengths[:, None] - 1
    return jnp.where(real, each, 0.0).sum() / real.sum()


test_loss = eqx.filter_jit(chord_loss)


@eqx.filter_jit
def window_loss(net: Recurrent, pieces: Any, window):
    """The loss of the truncation to a traced window."""

    def one(roll):
        return jax.vmap(net.read)(window_states(net.cell, INPUT_BOUND * roll, window))

    return _mean(jax.lax.map(one, pieces.rolls[:, :-1]), pieces)


def _batch(pieces: Any, step, key):
    rows = jr.randint(key, (32,), 0, pieces.rolls.shape[0])
    return jax.tree.map(lambda leaf: leaf[rows], pieces)


def _loss(model, pieces: Any, key):
    return chord_loss(model.net, pieces)


def music_task(draws: int) -> Task:
    """The training of models of chorales."""
    pieces = music()
    parts = jax.tree.map(jnp.asarray, pieces)

    def measure(net: Any, free: bool, draw: int) -> dict[str, Any]:
        found: dict[str, Any] = {"nll": float(test_loss(net, parts["test"]))}
        if draw == 0:
            found["windows"] = list(WINDOWS)
            found["truncated"] = [
                float(window_loss(net, parts["test"], jnp.asarray(k))) for k in WINDOWS
            ]
        return found

    whole = pieces["train"]
    beginnings = Music(whole.rolls[:, :TRAINED_CHORDS], np.minimum(whole.lengths, TRAINED_CHORDS))
    return Task(
        name="jsb",
        network=lambda kind, free, key: network_of(kind, 88, UNITS, 88, key=key),
        loss=_loss,
        measure=measure,
        steps=STEPS,
        rates=(3e-3,),
        data=beginnings,
        batch=_batch,
        validation=lambda model: float(test_loss(model.net, parts["valid"])),
        draws=dict.fromkeys(CELLS, draws),
    )
