r"""Language models, stable and free: perplexity, decay, exponents, truncation.

Every model is trained on the same segments from the zero state; stable ones are
projected after every step, embedding included ($|x| \le .75$ for the LSTM).
"""

import dataclasses
import functools
import math
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import optax

from ...cells import dimension, Elman, LSTM
from ...measure import contraction, lyapunov_spectrum, truncation_window
from ...nets import Recurrent, token_cross_entropy, window_states
from ...tasks import characters, columns, Text, wikitext
from ...train.projection import INPUT_BOUND
from .config import Language
from .parts import Parts
from .train_stable_and_free import StableOrFree


def text_of(config: Any) -> Text:
    """The text that a configuration names."""
    if config.text == "wikitext":
        return wikitext(vocabulary=config.vocabulary)
    return characters(config.text)


def model_of(config: Any, kind: str, tokens: int, *, key: Any) -> Recurrent:
    """An untrained model."""
    key_cell, key_net = jr.split(key)
    draw = {"rnn": Elman, "lstm": LSTM}[kind]
    cell = draw.init(config.embedding, config.units, key=key_cell)
    net = Recurrent.init(cell, outputs=tokens, key=key_net, tokens=tokens)
    smaller = 0.3 * jnp.asarray(net.embedding)
    return eqx.tree_at(lambda net: net.embedding, net, smaller)


def stable_or_free_loss(model: StableOrFree, batch, key):
    """The cross entropy of the network inside."""
    return token_cross_entropy(model.net, batch)


def segment_loss(model, batch, key):
    """The cross entropy over a batch of segments, every position counted."""
    return token_cross_entropy(model, batch)


@functools.cache
def segments(length: int, batch: int):
    """A draw of segments from anywhere in a stream, for `fit`."""

    def drawn(stream, step, key):
        starts = jr.randint(key, (batch,), 0, stream.shape[0] - length - 1)
        return stream[starts[:, None] + jnp.arange(length + 1)]

    return drawn


@dataclasses.dataclass(frozen=True)
class Cosine:
    """A learning rate that falls to a twentieth along half a cosine."""

    # optax's own schedule rewrites its closure at the first call, and a stopped run
    # would no longer know itself.
    rate: float
    steps: int

    def __call__(self, count):
        share = jnp.minimum(jnp.asarray(count, jnp.float32) / self.steps, 1.0)
        return self.rate * (0.05 + 0.475 * (1 + jnp.cos(jnp.pi * share)))


@functools.cache
def falling_adam(rate: float, steps: int) -> optax.GradientTransformation:
    """Adam on clipped gradients, its rate falling along a cosine."""
    return optax.chain(optax.clip_by_global_norm(1.0), optax.adam(Cosine(rate, steps)))


def trained_model(
    config: Language, text: Text, kind: str, free: bool, parts: Parts, draw: int = 0
) -> Recurrent | None:
    """One language model, continued where an interrupted run left it."""
    seed = training_seed(parts, draw)
    model = model_of(config, kind, len(text.vocabulary), key=jr.key(seed))
    done = parts.train(
        f"{config.text}-{kind}-{'free' if free else 'stable'}{draw_suffix(draw)}",
        StableOrFree(model, jnp.asarray(free)).projected(),
        stable_or_free_loss,
        falling_adam(config.learning_rate, config.steps),
        steps=config.steps,
        key=jr.key(seed + 1),
        data=np.asarray(text.train),
        batch=segments(config.length, config.batch),
        project=StableOrFree.projected,
    )
    return None if done is None else done.net


def training_seed(parts: Parts, draw: int) -> int:
    """The seed of a model's training: the run's for the first, far from it for others."""
    return parts.bench.seed + 1_000 * draw


def draw_suffix(draw: int) -> str:
    """What is added to the name of a training that is not the first."""
    return f"-{draw + 1}" if draw else ""


def held_out_streams(config: Language, text: Text) -> np.ndarray:
    """The held-out streams for exponents, gradients and windows."""
    rows = columns(text.test, config.streams)
    return rows[:, : config.stretch + 1]


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
        asked = row[context:]
        return optax.softmax_cross_entropy_with_integer_labels(logits, asked).mean()

    return jax.lax.map(one, rows).mean()


@eqx.filter_jit
def _decay(net: Recurrent, pieces, length: int):
    at_end = Recurrent(net.cell, net.W_y, net.b_y, readout="last")

    def last(xs, target):
        return optax.softmax_cross_entropy_with_integer_labels(at_end(xs), target)

    xs = jnp.asarray(net.embedding)[pieces[:, :-1]]
    slopes = jax.vmap(jax.grad(last))(xs, pieces[:, -1])
    norms = jnp.linalg.norm(slopes, axis=-1)[:, ::-1][:, :length]
    # Over positions: the mean, and its standard error.
    return norms.mean(0), norms.std(0) / math.sqrt(len(norms))


def gradient_decay(net: Recurrent, rows, length: int) -> tuple[np.ndarray, np.ndarray]:
    r"""$\|\nabla_{x_t} p_{t+i}\|$ over $i$: mean over held-out positions, and its error."""
    size = 2 * length + 1
    whole = np.concatenate([row[: len(row) // size * size].reshape(-1, size) for row in rows])
    mean, error = _decay(net, jnp.asarray(whole[:64]), length)
    return np.asarray(mean), np.asarray(error)


def perplexity(config: Language, net: Recurrent, text: Text) -> float:
    """The perplexity on the test part."""
    test = columns(text.test, config.test_streams)
    if config.test_stretch is not None:
        test = test[:, : config.test_stretch + 1]
    return math.exp(float(cross_entropy(net, jnp.asarray(test))))


def measure_model(config: Language, net: Recurrent, text: Text) -> dict[str, Any]:
    """Everything that is measured on one trained model."""
    rows = held_out_streams(config, text)
    context = max(config.windows)
    few = jnp.asarray(rows)
    # A window as long as the stretch is no truncation, and no program of its own.
    *by_window, whole = [
        float(truncated_cross_entropy(net, few, jnp.asarray(k), context))
        for k in (*config.windows, few.shape[1])
    ]
    spectrum = lyapunov_spectrum(net, rows[:, :-1], k=config.exponents)
    decay, error = gradient_decay(net, rows, config.decay)
    return {
        "perplexity": perplexity(config, net, text),
        "windows": list(config.windows),
        "truncated": [math.exp(value) for value in by_window],
        "untruncated": math.exp(whole),
        "decay": decay.astype(float).tolist(),
        "decay_error": error.astype(float).tolist(),
        "exponent": float(spectrum.exponents[0]),
        "stderr": float(spectrum.stderr[0]),
        "converged": bool(spectrum.converged),
    }


def prove_model(net: Recurrent, free: bool) -> dict[str, Any]:
    """What can be proved of a trained model, for the inputs that it can get."""
    largest = float(jnp.abs(jnp.asarray(net.embedding)).max())
    proof = contraction(
        net.cell,
        input_bound=largest if free else max(largest, INPUT_BOUND),
        metric="auto" if isinstance(net.cell, LSTM) else "diagonal",
        time_limit=600,
    )
    return {
        "dimension": dimension(net.cell),
        "rank": int(np.linalg.matrix_rank(np.asarray(net.cell.W_h))),
        "rate": proof.rate if math.isfinite(proof.rate) else None,
        "window": None if proof.vacuous else truncation_window(proof, error=1e-3),
    }
