r"""Experiment 3: language models, stable and free: perplexity, decay, exponents, truncation.

Every model is trained on the same segments from the zero state; stable ones are
projected after every step, embedding included ($|x| \le .75$ for the LSTM).
"""

import math
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import optax

from ...cells import Elman, LSTM
from ...measure import lyapunov_spectrum
from ...nets import Recurrent, truncate
from ...report import Bench
from ...tasks import characters, columns, Text, wikitext
from ...train import fit
from ...train.projection import INPUT_BOUND, stable
from .config import Language


def text_of(config: Language) -> Text:
    """The text that a language configuration names."""
    if config.text == "wikitext":
        return wikitext(vocabulary=config.vocabulary)
    return characters(config.text)


def model_of(config: Language, kind: str, tokens: int, *, key: Any) -> Recurrent:
    """An untrained model."""
    key_cell, key_net = jr.split(key)
    draw = {"rnn": Elman, "lstm": LSTM}[kind]
    cell = draw.init(config.embedding, config.units, key=key_cell)
    net = Recurrent.init(cell, outputs=tokens, key=key_net, tokens=tokens)
    smaller = 0.3 * jnp.asarray(net.embedding)
    return eqx.tree_at(lambda net: net.embedding, net, smaller)


def projected(net: Recurrent) -> Recurrent:
    """The network with its cell, and the inputs that it hears, in the stable set."""
    cell = stable(net.cell)
    net = eqx.tree_at(lambda net: net.cell, net, cell)
    if isinstance(cell, LSTM):
        held = jnp.clip(net.embedding, -INPUT_BOUND, INPUT_BOUND)
        net = eqx.tree_at(lambda net: net.embedding, net, held)
    return net


def surprise(logits, targets):
    """Nats per token, each."""
    return optax.softmax_cross_entropy_with_integer_labels(logits, targets)


def segment_loss(model, batch, key):
    """The mean surprise over a batch of segments, every position counted."""
    logits = jax.vmap(model)(batch[:, :-1])
    return surprise(logits, batch[:, 1:]).mean()


def segments(length: int, batch: int):
    """A draw of segments from anywhere in a stream, for `fit`."""

    def drawn(stream, step, key):
        starts = jr.randint(key, (batch,), 0, stream.shape[0] - length - 1)
        return stream[starts[:, None] + jnp.arange(length + 1)]

    return drawn


def trained_model(
    config: Language, text: Text, kind: str, free: bool, bench: Bench
) -> Recurrent:
    """One language model, continued where an interrupted run left it."""
    model = model_of(config, kind, len(text.vocabulary), key=jr.key(bench.seed))
    optimizer = optax.chain(
        optax.clip_by_global_norm(1.0), optax.adam(config.learning_rate)
    )
    name = f"{config.text}-{kind}-{'free' if free else 'stable'}"
    done = fit(
        model if free else projected(model),
        segment_loss,
        optimizer,
        steps=config.steps,
        key=jr.key(bench.seed + 1),
        data=np.asarray(text.train),
        batch=segments(config.length, config.batch),
        every=max(config.steps // 8, 1),
        project=None if free else projected,
        folder=bench.folder / "models" / name,
        title=name,
        quiet=bench.quiet,
    )
    return done.model


def held_out(config: Language, text: Text) -> np.ndarray:
    """The held-out streams that everything is measured on."""
    rows = columns(text.test, config.streams)
    return rows[:, : config.stretch + 1]


@eqx.filter_jit
def evaluated(model, rows) -> Any:
    """Mean surprise of a model on streams, each from the zero state."""
    logits = jax.vmap(model)(rows[:, :-1])
    return surprise(logits, rows[:, 1:]).mean()


@eqx.filter_jit
def _decay(net: Recurrent, pieces, length: int):
    def last(xs, target):
        return surprise(Recurrent(net.cell, net.W_y, net.b_y)(xs)[-1], target)

    xs = net.embedding[pieces[:, :-1]]  # pyright: ignore[reportOptionalSubscript]
    slopes = jax.vmap(jax.grad(last))(xs, pieces[:, -1])
    norms = jnp.linalg.norm(slopes, axis=-1).mean(0)
    return norms[::-1][:length]


def gradient_decay(net: Recurrent, rows, length: int) -> np.ndarray:
    r"""$\|\nabla_{x_t} p_{t+i}\|$ over $i$, the mean over held-out positions."""
    size = 2 * length + 1
    whole = np.concatenate(
        [row[: len(row) // size * size].reshape(-1, size) for row in rows]
    )
    return np.asarray(_decay(net, jnp.asarray(whole[:64]), length))


def measured(config: Language, net: Recurrent, rows: np.ndarray) -> dict[str, Any]:
    """Everything that is measured on one trained model."""
    full = float(evaluated(net, jnp.asarray(rows)))
    short = rows[: min(len(rows), 2), : min(rows.shape[1], 201)]
    base = float(evaluated(net, jnp.asarray(short)))
    by_window = [
        float(evaluated(truncate(net, k), jnp.asarray(short))) for k in config.windows
    ]
    spectrum = lyapunov_spectrum(net, rows[:, :-1], k=config.exponents)
    return {
        "perplexity": math.exp(full),
        "windows": list(config.windows),
        "truncated": [math.exp(value) for value in by_window],
        "untruncated": math.exp(base),
        "decay": gradient_decay(net, rows, config.decay).tolist(),
        "exponent": float(spectrum.exponents[0]),
        "stderr": float(spectrum.stderr[0]),
        "converged": bool(spectrum.converged),
    }
