"""Polyphonic music (JSB chorales), stable and free: nats a chord."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import optax

from ...nets import on_batch, Recurrent
from ...tasks import Music, music
from ...train.projection import INPUT_BOUND
from .train_stable_and_free import CELLS, network_of, Task


UNITS = 96
STEPS = 800
"""At most; the validation part chooses how many are taken."""
TRAINED_CHORDS = 80
"""Pieces are cut there in training; nothing is cut where losses are measured."""


def chord_loss(net: Recurrent, pieces: Any, key: Any = None):
    """Mean negative log-likelihood of the next chord, padding left out."""
    # Notes are 0 or 1; three quarters keep them in the stable LSTM's domain.
    logits = on_batch(net, INPUT_BOUND * pieces.rolls[:, :-1])
    each = optax.sigmoid_binary_cross_entropy(logits, pieces.rolls[:, 1:]).sum(-1)
    real = jnp.arange(each.shape[1])[None] < pieces.lengths[:, None] - 1
    return jnp.where(real, each, 0.0).sum() / real.sum()


test_loss = eqx.filter_jit(chord_loss)


def _batch(pieces: Any, step, key):
    rows = jr.randint(key, (32,), 0, pieces.rolls.shape[0])
    return jax.tree.map(lambda leaf: leaf[rows], pieces)


def music_task(draws: int) -> Task:
    """The training of models of chorales."""
    pieces = music()
    parts = jax.tree.map(jnp.asarray, pieces)
    whole = pieces["train"]
    beginnings = Music(whole.rolls[:, :TRAINED_CHORDS], np.minimum(whole.lengths, TRAINED_CHORDS))
    return Task(
        name="jsb",
        network=lambda kind, free, key: network_of(kind, 88, UNITS, 88, key=key),
        loss=chord_loss,
        measure=lambda net, free, draw: {"nll": float(test_loss(net, parts["test"]))},
        steps=STEPS,
        rates=(3e-3,),
        data=beginnings,
        batch=_batch,
        validation=lambda net: float(test_loss(net, parts["valid"])),
        draws=dict.fromkeys(CELLS, draws),
    )
