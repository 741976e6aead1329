r"""How much of the past a recurrent language model needs, measured on models trained here.

A layer $S' = A(u) S + \mathrm{write}(u)$ forgets at the rates $\langle\log A\rangle$, which one pass over
a text gives. From an empty state its gap is the product of its decays, and a stack waits for its
slowest layers. Small Mamba, RG-LRU, minGRU and LSTM language models are trained with equal
budgets, emptied at many positions of held-out text, and compared with themselves.
"""

import dataclasses
import itertools
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import optax
import xarray as xr

from ...cells import LSTM, Stack
from ...measure import lyapunov_spectrum, replay_window
from ...measure.replay.token_record import first_good
from ...nets import Recurrent, token_cross_entropy
from ...nets.language_model import gated_language_model
from ...report import Bench, Headline, Outcome, Study
from ...tasks import text
from ...train import fit
from ..references import REFERENCES
from .claims import CLAIMS, window_95
from .figures import (
    divergence_figure,
    losses_figure,
    stack_figure,
    timescales_figure,
    windows_figure,
)


@dataclasses.dataclass(frozen=True)
class Config:
    """Which models on which text, and how long they are trained."""

    sources: tuple[str, ...] = ("sonnets",)
    kinds: tuple[str, ...] = ("mamba", "rg-lru", "mingru", "lstm")
    width: int = 32
    layers: int = 2
    length: int = 64
    """Tokens of a training sequence."""
    batch: int = 8
    steps: int = 150
    learning_rate: float = 3e-3
    held_out: int = 512
    """Held-out tokens on which memory is measured."""
    starts: int = 12
    error: float = 1e-3
    seeds: int = 1


QUICK = Config()
FULL = Config(
    sources=("shakespeare", "wikitext"),
    width=64,
    length=128,
    batch=16,
    steps=1500,
    held_out=4096,
    starts=24,
    seeds=2,
)


def train_and_measure(
    config: Config, source: str, kind: str, seed: int, bench: Bench
) -> dict[str, Any]:
    """Everything that is measured of one model."""
    words = text.wikitext() if source == "wikitext" else text.characters(source)
    key = jr.fold_in(jr.key(bench.seed), seed)
    start = fresh_model(kind, len(words.vocabulary), config, key)
    bench.tell(f"training {kind} on {source}, seed {seed}")
    done = fit(
        start,
        lambda model, tokens, key: token_cross_entropy(model, tokens),
        optax.chain(optax.clip_by_global_norm(1.0), optax.adam(config.learning_rate)),
        steps=config.steps,
        key=key,
        data=jnp.asarray(words.train),
        batch=lambda data, step, key: _windows(data, config, key),
        folder=bench.folder / f"{source}-{kind}-{seed}",
        quiet=bench.quiet,
    )
    held_out = np.concatenate([words.valid, words.test])[: config.held_out]
    bench.tell(f"measuring {kind}")
    name = " ".join([kind, *[source] * (len(config.sources) > 1), *[f"seed {seed}"] * (seed > 0)])
    found = {"kind": kind, "source": source, "seed": seed, "name": name}
    found |= restarts(done.model, held_out, config)
    found |= {"diverged": done.diverged_at is not None, "tokens": len(held_out)}
    if kind == "lstm":
        return found
    before, after = (decays(model, held_out) for model in (start, done.model))
    bounds = replay_window(done.model, held_out, error=config.error).stack_bounds
    return found | {"before": before, "after": after, "stack_bounds": bounds}


def fresh_model(kind: str, tokens: int, config: Config, key: Any) -> Recurrent:
    """A model that is not trained; LSTMs are as wide as the gated layers are inside."""
    if kind != "lstm":
        return gated_language_model(
            kind, tokens=tokens, width=config.width, layers=config.layers, key=key
        )
    inner = 2 * config.width
    keys = jr.split(key, config.layers + 1)
    sizes = [config.width, *[inner] * config.layers]
    cells = [LSTM.init(n, inner, key=k) for n, k in zip(sizes, keys[1:], strict=False)]
    return Recurrent.init(Stack(tuple(cells)), outputs=tokens, key=keys[0], tokens=tokens)


def _windows(data: Any, config: Config, key: Any) -> Any:
    last = len(data) - config.length - 1
    starts = jr.randint(key, (config.batch, 1), 0, last)
    return data[starts + jnp.arange(config.length + 1)]


def decays(model: Recurrent, held_out: np.ndarray) -> dict[str, Any]:
    """The largest exponent with its error, and the timescales of all channels."""
    found = lyapunov_spectrum(model, held_out)
    times = np.concatenate([layer.timescales.ravel() for layer in found.layers])
    slow = [layer.unforgotten.ravel() for layer in found.layers]
    return {
        "largest": float(found.exponents[0]),
        "stderr": float(found.stderr[0]),
        "timescales": np.minimum(times, 1e9),
        "unforgotten": float(np.mean(np.concatenate(slow))),
    }


def restarts(model: Recurrent, held_out: np.ndarray, config: Config) -> dict[str, Any]:
    """Any model emptied at some positions: KL from the kept run, and nats a token."""
    longest = len(held_out) // 2
    positions = np.linspace(1, len(held_out) - longest - 1, config.starts).astype(int)
    logs = eqx.filter_jit(lambda tokens: jax.nn.log_softmax(model(tokens)))
    tokens = jnp.asarray(held_out)
    full = np.asarray(logs(tokens), float)
    nats = -full[np.arange(len(held_out) - 1), held_out[1:]]
    divergence, excess = [], []
    for a in positions:
        short = np.asarray(logs(tokens[a : a + longest]), float)
        p = full[a : a + longest]
        divergence.append(np.sum(np.exp(p) * (p - short), axis=1))
        asked = held_out[a + 1 : a + longest + 1]
        excess.append((p - short)[np.arange(len(asked)), asked])
    divergence = np.maximum(np.array(divergence), 0)
    windows = first_good(divergence, config.error)
    return {
        "divergence": divergence,
        "excess": np.array(excess),
        "windows": windows,
        "longest": longest,
        "loss": float(nats.mean()),
        **beyond_trained_length(np.array(excess)[positions >= config.length], config.length),
    }


def beyond_trained_length(excess: np.ndarray, length: int) -> dict[str, float]:
    """Nats a token that the kept state loses, with its error, where it has read more than was
    ever trained on: against one emptied half to a whole trained length before the same token."""
    lost = -excess[:, length // 2 : length].mean(axis=1)
    return {
        "lost_at_length": float(lost.mean()),
        "lost_error": float(lost.std(ddof=1) / np.sqrt(len(lost))),
    }


def run(config: Config, bench: Bench) -> Outcome:
    """Every kind on every text with every seed; each training continues where it was stopped."""
    every = itertools.product(config.sources, range(config.seeds), config.kinds)
    models = [train_and_measure(config, source, kind, seed, bench) for source, seed, kind in every]
    results: dict[str, Any] = {"models": models}
    table = xr.Dataset(
        {
            "window_95": ("model", [window_95(each) for each in models]),
            "loss": ("model", [each["loss"] for each in models]),
        },
        {"model": [each["name"] for each in models]},
    )
    draw = (windows_figure, divergence_figure, stack_figure, timescales_figure, losses_figure)
    figures = tuple(each(models) for each in draw)
    return Outcome(results=results, data={"models": table}, figures=figures)


STUDY = Study(
    name="recurrent-language-models",
    document="005",
    title="How many tokens must a recurrent language model read again?",
    reference=REFERENCES["recurrent-language-models"].text,
    claims=CLAIMS,
    profiles={"quick": QUICK, "full": FULL},
    run=run,
    cost={
        "quick": "about a minute, most of it compiling; no data beyond the shipped sonnets",
        "full": "hours: Shakespeare's characters and WikiText-2's words from REMANENCE_DATA, "
        "four kinds, two seeds",
    },
    headline=Headline(
        claim="005.7",
        number="{least:.2g} to {most:.2g} ×",
        sentence="an LSTM's replay window is what gated models of its size need, kind by kind.",
    ),
)
