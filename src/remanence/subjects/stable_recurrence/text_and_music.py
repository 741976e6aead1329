r"""Models of text and music, stable and free: perplexity, decay, exponents, truncation; nats a chord.

Every language model is trained on the same segments from the zero state; stable ones are
projected after every step, embedding included ($|x| \le .75$ for the LSTM).
"""

import functools
import math
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import optax

from ...cells import dimension, LSTM
from ...measure import contraction, lyapunov_spectrum, truncation_window
from ...nets import on_batch, Recurrent, token_cross_entropy, window_states
from ...tasks import characters, columns, Music, music, Text, wikitext
from ...train.projection import INPUT_BOUND
from .config import Language
from .train_stable_and_free import CELLS, network_of, Task


DISTANCES = 48
"""Tokens back that gradients are followed."""
MUSIC_UNITS = 96
MUSIC_STEPS = 800
"""At most; the validation part chooses how many are taken."""
TRAINED_CHORDS = 80
"""Pieces are cut there in training; nothing is cut where losses are measured."""


@functools.cache
def text_of(name: str) -> Text:
    """The text that a configuration names."""
    return wikitext(vocabulary=None) if name == "wikitext" else characters(name)


def model_of(config: Any, kind: str, tokens: int, *, key: Any) -> Recurrent:
    """An untrained model."""
    net = network_of(kind, config.embedding, config.units, tokens, key=key, tokens=tokens)
    return eqx.tree_at(lambda net: net.embedding, net, replace_fn=lambda leaf: 0.3 * leaf)


class WithDropout(eqx.Module):
    """A network in training: a share of what its cell reads and gives is left out."""

    net: Recurrent
    share: float = eqx.field(static=True)
    key: Any

    W_y = property(lambda self: self.net.W_y)
    b_y = property(lambda self: self.net.b_y)

    def hidden(self, tokens):
        """The cell's outputs at every step, for a segment a draw of its own."""
        drop = eqx.nn.Dropout(self.share)
        key_x, key_h = jr.split(jr.fold_in(self.key, tokens.sum()))
        outputs = Recurrent(self.net.cell, None, None)(drop(self.net.embed(tokens), key=key_x))
        return drop(outputs, key=key_h)


@functools.cache
def segment_loss(dropout: float):
    """The cross entropy over a batch of segments, every position counted."""

    def loss(net, batch, key):
        return token_cross_entropy(WithDropout(net, dropout, key) if dropout else net, batch)

    return loss


@functools.cache
def segments(length: int, batch: int):
    """A draw of segments from anywhere in a stream, for `fit`."""

    def drawn(stream, step, key):
        starts = jr.randint(key, (batch,), 0, stream.shape[0] - length - 1)
        return stream[starts[:, None] + jnp.arange(length + 1)]

    return drawn


def language_task(config: Language) -> Task:
    """The training of language models on one text."""
    text = text_of(config.text)
    rows = jnp.asarray(columns(text.valid, config.test_streams))
    validated = len(config.rates) > 1
    return Task(
        name=config.text,
        network=lambda kind, free, key: model_of(config, kind, len(text.vocabulary), key=key),
        loss=segment_loss(config.dropout),
        measure=functools.partial(measure_model, config),
        steps=config.steps,
        rates=config.rates,
        pilot_steps=config.pilot_steps,
        data=np.asarray(text.train),
        batch=segments(config.length, config.batch),
        validation=(lambda net: float(cross_entropy(net, rows))) if validated else None,
        kinds=config.kinds,
        draws=config.draws,
    )


@eqx.filter_jit
def cross_entropy(model, rows, context: int = 1) -> Any:
    """Cross entropy of a model on streams, each from the zero state."""
    # Ten streams at a time: the states of all would fill the memory.
    groups = rows.reshape(-1, math.gcd(rows.shape[0], 10), rows.shape[1])
    price = lambda rows: token_cross_entropy(model, rows, context=context)
    return jax.lax.map(price, groups).mean()


@eqx.filter_jit
def truncated_cross_entropy(net: Recurrent, rows, window, context: int):
    """The cross entropy of the truncation to a traced window, where `context` tokens were read."""

    def one(row):
        states = window_states(net.cell, net.embed(row[:-1]), window)
        late = jax.tree.map(lambda leaf: leaf[context - 1 :], states)
        logits = jax.vmap(net.read)(late)
        return optax.softmax_cross_entropy_with_integer_labels(logits, row[context:]).mean()

    return jax.lax.map(one, rows).mean()


@eqx.filter_jit
def _gradient_norms(net: Recurrent, pieces):
    at_end = Recurrent(net.cell, net.W_y, net.b_y, readout="last")

    last = lambda xs, y: optax.softmax_cross_entropy_with_integer_labels(at_end(xs), y)
    xs = jnp.asarray(net.embedding)[pieces[:, :-1]]
    slopes = jax.vmap(jax.grad(last))(xs, pieces[:, -1])
    return jnp.linalg.norm(slopes, axis=-1)[:, ::-1][:, :DISTANCES]


def gradient_decay(net: Recurrent, rows) -> dict[str, list[float]]:
    r"""$\|\nabla_{x_t} p_{t+i}\|$ over $i$: mean over held-out positions, and its error."""
    size = 2 * DISTANCES + 1
    whole = np.concatenate([row[: len(row) // size * size].reshape(-1, size) for row in rows])
    norms = np.asarray(_gradient_norms(net, jnp.asarray(whole[:64])), float)
    error = norms.std(0) / math.sqrt(len(norms))
    return {"decay": norms.mean(0).tolist(), "decay_error": error.tolist()}


def measure_model(config: Language, net: Recurrent, free: bool, draw: int) -> dict[str, Any]:
    """The perplexity on the test part; of the first draw, everything else too."""
    text = text_of(config.text)
    test = jnp.asarray(columns(text.test, config.test_streams))
    perplexity = {"perplexity": math.exp(float(cross_entropy(net, test)))}
    if draw:
        return perplexity
    rows = columns(text.test, config.streams)[:, : config.stretch + 1]
    few, context = jnp.asarray(rows), max(config.windows)
    # A window as long as the stretch is no truncation, and no program of its own.
    *by_window, whole = [
        math.exp(float(truncated_cross_entropy(net, few, jnp.asarray(k), context)))
        for k in (*config.windows, few.shape[1])
    ]
    spectrum = lyapunov_spectrum(net, rows[:, :-1], k=2)
    # The inputs that it can get.
    bound = max(float(jnp.abs(jnp.asarray(net.embedding)).max()), 0.0 if free else INPUT_BOUND)
    return perplexity | {
        "windows": list(config.windows),
        "truncated": by_window,
        "untruncated": whole,
        **gradient_decay(net, rows),
        "exponent": float(spectrum.exponents[0]),
        "stderr": float(spectrum.stderr[0]),
        "converged": bool(spectrum.converged),
        "proof": proved(net.cell, bound, "auto" if isinstance(net.cell, LSTM) else "diagonal"),
    }


def proved(cell: Any, input_bound: float, metric: str = "auto") -> dict[str, Any]:
    """What can be proved of a cell, as the cross table has it."""
    proof = contraction(cell, input_bound=input_bound, metric=metric, time_limit=600)
    return {
        "dimension": dimension(cell),
        "rank": int(np.linalg.matrix_rank(np.asarray(cell.W_h))),
        "certified_rate": proof.rate if math.isfinite(proof.rate) else None,
        "window": None if proof.vacuous else truncation_window(proof, error=1e-3),
    }


def chord_loss(net: Recurrent, pieces: Any, key: Any = None):
    """Mean negative log-likelihood of the next chord, padding left out."""
    # Notes are 0 or 1; three quarters keep them in the stable LSTM's domain.
    logits = on_batch(net, INPUT_BOUND * pieces.rolls[:, :-1])
    each = optax.sigmoid_binary_cross_entropy(logits, pieces.rolls[:, 1:]).sum(-1)
    real = jnp.arange(each.shape[1])[None] < pieces.lengths[:, None] - 1
    return jnp.where(real, each, 0.0).sum() / real.sum()


def _batch(pieces: Any, step, key):
    rows = jr.randint(key, (32,), 0, pieces.rolls.shape[0])
    return jax.tree.map(lambda leaf: leaf[rows], pieces)


def music_task(draws: int) -> Task:
    """The training of models of chorales."""
    pieces, priced = music(), eqx.filter_jit(chord_loss)
    parts, whole = jax.tree.map(jnp.asarray, pieces), pieces["train"]
    beginnings = Music(whole.rolls[:, :TRAINED_CHORDS], np.minimum(whole.lengths, TRAINED_CHORDS))
    return Task(
        name="jsb",
        network=lambda kind, free, key: network_of(kind, 88, MUSIC_UNITS, 88, key=key),
        loss=chord_loss,
        measure=lambda net, free, draw: {"nll": float(priced(net, parts["test"]))},
        steps=MUSIC_STEPS,
        rates=(3e-3,),
        data=beginnings,
        batch=_batch,
        validation=lambda net: float(priced(net, parts["valid"])),
        draws=dict.fromkeys(CELLS, draws),
    )
