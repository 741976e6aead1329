"""Experiments 3, 4 and 6: models of text and music, their truncations and their peers."""

import functools
from typing import Any

import jax.numpy as jnp
import jax.random as jr
import numpy as np

from ...tasks import Text
from . import heard
from .addition import added
from .chorales import sung, sung_by_peer
from .config import Config, Language
from .language import (
    evaluated,
    falling_adam,
    held_out,
    marked,
    measured,
    model_of,
    perplexity,
    proved,
    segment_loss,
    segments,
    text_of,
    trained_model,
)
from .parts import Parts
from .peer import peer_of
from .theory import short


Models = dict[str, dict[str, Any]]
PAIRS = [(kind, free) for kind in ("rnn", "lstm") for free in (True, False)]


def named(text: str, kind: str, free: bool) -> str:
    """What a model is called in tables."""
    return f"{text} {kind} {'free' if free else 'stable'}"


def of_words(config: Config, words: bool) -> tuple[Language, ...]:
    """The texts by words, or those by characters."""
    return tuple(e for e in config.language if (e.vocabulary is not None) == words)


def language_models(config: Config, parts: Parts, *, words: bool) -> Models:
    """Measurements of every language model, of words or of characters."""
    found: Models = {}
    for each in of_words(config, words):
        text = functools.cache(functools.partial(text_of, each))
        for kind, free in PAIRS:
            if kind not in each.kinds:
                continue
            name = named(each.text, kind, free)

            def made(each=each, text=text, kind=kind, free=free):
                net = trained_model(each, text(), kind, free, parts)
                if net is None:
                    return {"diverged": True}
                return measured(each, net, text()) | {"proof": proved(net, free)}

            value = parts.kept(name, made)
            if value is not None:
                found[name] = value
    return found


def other_draws(config: Config, parts: Parts, models: Models) -> dict[str, list[float]]:
    """Perplexities of the models that were measured, and of their other trainings."""
    scores = {name: [v["perplexity"]] for name, v in sound(models).items()}
    for each in config.language:
        text = functools.cache(functools.partial(text_of, each))
        for draw in range(1, each.seeds):
            for kind, free in PAIRS:
                name = named(each.text, kind, free)
                if name not in scores:
                    continue

                def made(each=each, text=text, kind=kind, free=free, draw=draw):
                    net = trained_model(each, text(), kind, free, parts, draw)
                    return None if net is None else perplexity(each, net, text())

                value = parts.kept(f"{name}{marked(draw)}", made)
                if value is not None:
                    scores[name].append(value)
    return scores


def text_peers(config: Config, parts: Parts, *, words: bool) -> Models:
    """Perplexity of convolutions of the LSTM's size, over their context."""
    found: Models = {}
    for each in of_words(config, words):
        text = functools.cache(functools.partial(text_of, each))
        for context in each.contexts:
            name = f"{each.text} convolution {context}"
            made = lambda each=each, text=text, context=context: _peer(
                each, text(), context, parts
            )
            value = parts.kept(name, made)
            if value is not None:
                peer = found.setdefault(each.text, {"contexts": [], "score": []})
                peer["contexts"].append(context)
                peer["score"].append(value)
    return found


def _peer(each: Language, text: Text, context: int, parts: Parts) -> float | None:
    seed = parts.bench.seed
    like = model_of(each, "lstm", len(text.vocabulary), key=jr.key(seed))
    model = parts.trained(
        f"{each.text}-convolution-{context}",
        peer_of(like, context, key=jr.key(seed)),
        segment_loss,
        falling_adam(each.learning_rate, each.steps),
        steps=each.steps,
        key=jr.key(seed + 1),
        data=np.asarray(text.train),
        batch=segments(each.length, each.batch),
    )
    if model is None:
        return None
    rows = jnp.asarray(held_out(each, text))
    return float(np.exp(float(evaluated(model, rows, max(each.windows)))))


def music_models(config: Config, parts: Parts) -> Models:
    """Losses of the chorale models, all draws."""
    chosen = config.music
    if chosen is None:
        return {}
    found: Models = {}
    for draw in range(chosen.seeds):
        for kind, free in PAIRS:
            name = named("jsb", kind, free)
            made = lambda kind=kind, free=free, draw=draw: sung(
                chosen, kind, free, parts, draw
            )
            value = parts.kept(f"{name}{marked(draw)}", made)
            if value is not None and draw == 0:
                found[name] = value | {"draws": []}
            if value is not None and "diverged" not in value and name in found:
                found[name]["draws"].append(value["nll"])
    return found


def music_peers(config: Config, parts: Parts) -> Models:
    """Losses of convolutions of the LSTM's size on the chorales, over their context."""
    chosen = config.music
    if chosen is None:
        return {}
    peers: Models = {"jsb": {"contexts": [], "score": []}}
    for context in chosen.contexts:
        made = lambda context=context: sung_by_peer(chosen, context, parts)
        value = parts.kept(f"jsb convolution {context}", made)
        if value is not None:
            peers["jsb"]["contexts"].append(context)
            peers["jsb"]["score"].append(value)
    return peers if peers["jsb"]["score"] else {}


def sums(config: Config, parts: Parts) -> dict[str, Any] | None:
    """The adding problem over its last inputs."""
    chosen = config.adding
    if chosen is None:
        return None
    return parts.kept("adding problem over its last inputs", lambda: added(chosen, parts))  # fmt: skip


def sound(found: Models) -> Models:
    """Without the models that diverged."""
    return {name: model for name, model in found.items() if "diverged" not in model}


def near(windows, context: int) -> int:
    """The last window that is no longer than the context."""
    return max(i for i, k in enumerate(windows) if k <= context)


def judge(
    models: Models,
    scores: dict[str, list[float]],
    music: Models,
    peers: Models,
    adding: Any,
    evidence: dict,
) -> list[Any]:
    """Evidence for statements 5, 6 and 13; the figures."""
    lost = [n for n, m in (models | music).items() if "diverged" in m]
    models, music = sound(models), sound(music)
    if not models:
        return []
    evidence["004.5"] = {
        "perplexity": {k: [short(v) for v in scores[k]] for k in models},
        "jsb_nll": {k: [short(v) for v in m["draws"]] for k, m in music.items()},
        "diverged": lost,
    }
    free = {name: v for name, v in models.items() if name.endswith("free")}
    if free:
        evidence["004.6"] = {
            "models": list(free),
            "exponents": [short(v["exponent"]) for v in free.values()],
            "stderrs": [short(v["stderr"]) for v in free.values()],
            "converged": [v["converged"] for v in free.values()],
            "decay_20": [short(v["decay"][20] / v["decay"][0]) for v in free.values()],
        }
    at = {name: near(v["windows"], 20) for name, v in models.items()}
    costs = {
        name: short(v["truncated"][at[name]] / v["untruncated"])
        for name, v in models.items()
    }
    evidence["004.13"] = {
        "window": int(max(models[name]["windows"][i] for name, i in at.items())),
        "worst_loss": max(costs.values()),
        "costs": costs,
        "peers": {
            name: dict(
                zip(map(str, p["contexts"]), map(short, p["score"]), strict=True)
            )
            for name, p in peers.items()
        },
    }
    if music:
        evidence["004.13"]["jsb"] = {
            name: short(v["truncated"][near(v["windows"], 20)] - v["nll"])
            for name, v in music.items()
        }
    if adding and "diverged" not in adding:
        half = near(adding["windows"], adding["length"] // 2)
        evidence["004.13"] |= {
            "adding_window": short(adding["truncated"][half]),
            "adding_full": short(adding["full"]),
        }
    return [
        heard.decay_figure(models),
        heard.context_figure(models, music, peers, adding),
    ]
