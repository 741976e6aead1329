"""Polyphonic music (JSB chorales), stable and free: nats a chord."""

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
from ...train.projection import INPUT_BOUND
from .config import Chorales
from .gated_convolution import convolution_like
from .language_models import draw_suffix, falling_adam, training_seed
from .parts import Parts
from .train_stable_and_free import StableOrFree


CHORDS = 160
"""The longest chorale: nothing is cut where losses are measured."""


def chord_loss(model, rolls, lengths):
    """Mean negative log-likelihood of the next chord, padding left out."""
    # Notes are 0 or 1; three quarters keep them in the stable LSTM's domain.
    xs = INPUT_BOUND * rolls[:, :-1]
    quick = isinstance(model, Recurrent)
    logits = on_batch(model, xs) if quick else jax.vmap(model)(xs)
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


def _loss(model, batch, key):
    return chord_loss(_net(model), *batch)


def _batch(data, step, key):
    rows = jr.randint(key, (32,), 0, data.rolls.shape[0])
    return data.rolls[rows], data.lengths[rows]


def _untrained(config: Chorales, kind: str, seed: int) -> Recurrent:
    key_cell, key_net = jr.split(jr.key(seed))
    draw = {"rnn": Elman, "lstm": LSTM}[kind]
    cell = draw.init(88, config.units, key=key_cell)
    return Recurrent.init(cell, outputs=88, key=key_net)


_priced = eqx.filter_jit(chord_loss)


def _net(model):
    return model.net if isinstance(model, StableOrFree) else model


def _whole_pieces(part: Music) -> tuple[Any, Any]:
    whole = trimmed(part, CHORDS)
    return jnp.asarray(whole.rolls), jnp.asarray(whole.lengths)


def _trained(config: Chorales, model, name: str, parts: Parts, seed: int, project=None):
    pieces = music("jsb")
    valid = _whole_pieces(pieces["valid"])
    return parts.train(
        name,
        model,
        _loss,
        falling_adam(config.learning_rate, config.steps),
        steps=config.steps,
        key=jr.key(seed + 1),
        data=trimmed(pieces["train"], 80),
        batch=_batch,
        project=project,
        validation=lambda model: float(_priced(_net(model), *valid)),
    )


def chorale_model(
    config: Chorales, kind: str, free: bool, parts: Parts, draw: int = 0
) -> dict[str, Any]:
    """Losses of one model on the parts; of the first draw's truncations, on the test part."""
    name = f"jsb-{kind}-{'free' if free else 'stable'}{draw_suffix(draw)}"
    seed = training_seed(parts, draw)
    start = StableOrFree(_untrained(config, kind, seed), jnp.asarray(free)).projected()
    model = _trained(config, start, name, parts, seed, StableOrFree.projected)
    if model is None:
        return {"diverged": True}
    net = model.net
    pieces = {part: _whole_pieces(rolls) for part, rolls in music("jsb").items()}
    found: dict[str, Any] = {
        "nll": float(_priced(net, *pieces["test"])),
        "nll_valid": float(_priced(net, *pieces["valid"])),
        "nll_train": float(_priced(net, *pieces["train"])),
    }
    if draw == 0:
        found["windows"] = list(config.windows)
        found["truncated"] = [
            float(window_loss(net, *pieces["test"], jnp.asarray(k))) for k in config.windows
        ]
    return found


def chorale_convolution(config: Chorales, context: int, parts: Parts) -> float | None:
    """The test loss of a convolution of the LSTM's size."""
    seed = parts.bench.seed
    peer = convolution_like(_untrained(config, "lstm", seed), context, key=jr.key(seed))
    peer = _trained(config, peer, f"jsb-convolution-{context}", parts, seed)
    return None if peer is None else float(_priced(peer, *_whole_pieces(music("jsb")["test"])))


def trimmed(part: Music, time: int) -> Music:
    """The beginnings of the pieces."""
    return Music(part.rolls[:, :time], np.minimum(part.lengths, time))
