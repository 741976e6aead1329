"""The experiments on text and music: every model of every configured data set."""

import functools
from typing import Any

import jax.numpy as jnp
import jax.random as jr
import numpy as np

from ...tasks import Text
from .config import Config, Language
from .gated_convolution import convolution_like
from .language_models import (
    cross_entropy,
    draw_suffix,
    falling_adam,
    held_out_streams,
    measure_model,
    model_of,
    perplexity,
    prove_model,
    segment_loss,
    segments,
    text_of,
    trained_model,
)
from .music_models import chorale_convolution, chorale_model
from .parts import Parts
from .truncated_training import truncated_training_gap


Models = dict[str, dict[str, Any]]
PAIRS = [(kind, free) for kind in ("rnn", "lstm") for free in (True, False)]


def model_name(text: str, kind: str, free: bool) -> str:
    """What a model is called in tables."""
    return f"{text} {kind} {'free' if free else 'stable'}"


def language_models(config: Config, parts: Parts) -> Models:
    """Measurements of every language model: of characters first, then of words."""
    found: Models = {}
    for each in sorted(config.language, key=lambda each: each.vocabulary is not None):
        text = functools.cache(functools.partial(text_of, each))
        for kind, free in PAIRS:
            if kind not in each.kinds:
                continue

            def make(each=each, text=text, kind=kind, free=free):
                net = trained_model(each, text(), kind, free, parts)
                if net is None:
                    return {"diverged": True}
                proof = {"proof": prove_model(net, free)}
                return measure_model(each, net, text()) | proof

            name = model_name(each.text, kind, free)
            value = parts.get_or_make(name, make)
            if value is not None:
                found[name] = value
    return found


def perplexities(config: Config, parts: Parts, models: Models) -> dict[str, list[float]]:
    """Perplexities of the models that were measured, and of their other trainings."""
    scores = {n: [m["perplexity"]] for n, m in models.items() if "diverged" not in m}
    for each in config.language:
        text = functools.cache(functools.partial(text_of, each))
        for draw in range(1, each.seeds):
            for kind, free in PAIRS:
                name = model_name(each.text, kind, free)
                if name not in scores:
                    continue

                def make(each=each, text=text, kind=kind, free=free, draw=draw):
                    net = trained_model(each, text(), kind, free, parts, draw)
                    return None if net is None else perplexity(each, net, text())

                value = parts.get_or_make(f"{name}{draw_suffix(draw)}", make)
                if value is not None:
                    scores[name].append(value)
    return scores


def music_models(config: Config, parts: Parts) -> Models:
    """Losses of the chorale models, all draws."""
    chosen, found = config.music, Models()
    if chosen is None:
        return found
    for draw in range(chosen.seeds):
        for kind, free in PAIRS:
            name = model_name("jsb", kind, free)
            make = functools.partial(chorale_model, chosen, kind, free, parts, draw)
            value = parts.get_or_make(f"{name}{draw_suffix(draw)}", make)
            if value is not None and draw == 0:
                found[name] = value | {"draws": []}
            if value is not None and "diverged" not in value and name in found:
                found[name]["draws"].append(value["nll"])
    return found


def convolutions(config: Config, parts: Parts) -> Models:
    """Scores of convolutions of the LSTM's size over their context, text and music."""
    found: Models = {}

    def add(name: str, context: int, make) -> None:
        value = parts.get_or_make(f"{name} convolution {context}", make)
        if value is not None:
            scores = found.setdefault(name, {"contexts": [], "score": []})
            scores["contexts"].append(context)
            scores["score"].append(value)

    for each in config.language:
        text = functools.cache(functools.partial(text_of, each))
        for context in each.contexts:
            make = lambda each=each, text=text, context=context: _text_convolution(
                each, text(), context, parts
            )
            add(each.text, context, make)
    if (music := config.music) is not None:
        for context in music.contexts:
            make = functools.partial(chorale_convolution, music, context, parts)
            add("jsb", context, make)
    return found


def _text_convolution(each: Language, text: Text, context: int, parts: Parts) -> float | None:
    seed = parts.bench.seed
    like = model_of(each, "lstm", len(text.vocabulary), key=jr.key(seed))
    model = parts.train(
        f"{each.text}-convolution-{context}",
        convolution_like(like, context, key=jr.key(seed)),
        segment_loss,
        falling_adam(each.learning_rate, each.steps),
        steps=each.steps,
        key=jr.key(seed + 1),
        data=np.asarray(text.train),
        batch=segments(each.length, each.batch),
    )
    if model is None:
        return None
    rows = jnp.asarray(held_out_streams(each, text))
    return float(np.exp(float(cross_entropy(model, rows, max(each.windows)))))


def truncated_trainings(config: Config, parts: Parts) -> Models:
    """Distances of truncated from full training of language models."""
    chosen, found = config.truncated_training, Models()
    if chosen is None:
        return found
    for kind, free in PAIRS:
        make = functools.partial(truncated_training_gap, chosen, kind, free, parts.bench.seed)
        name = model_name(chosen.text, kind, free)
        value = parts.get_or_make(f"{name}, truncated and full training", make)
        if value is not None:
            found[name] = value
    return found
