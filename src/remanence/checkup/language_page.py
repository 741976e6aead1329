"""The page of a language model's checkup: verdict, timescales, windows, layers."""

import math
from typing import Any

import numpy as np

from .page import render_page, Section
from .pictures import drawn


def language_page(found: Any) -> str:
    """One page that opens from disk."""
    replay, spectrum = found.replay, found.spectrum
    sentences = [
        f"{found.verdict[:1].upper()}{found.verdict[1:]}.",
        f"With the whole history a token costs {replay.loss:.4g} nats.",
    ]
    window = f"{replay.q95:,.0f}" if math.isfinite(replay.q95) else f"≥ {replay.longest:,}"
    numbers = [
        ("replay window", f"{window} tokens", f"{replay.evidence}\non {found.inputs}"),
        ("do not forget", found.unforgotten, f"of the channels and heads\non {found.inputs}"),
        (
            "proved window",
            "none" if math.isinf(found.proved_window) else f"{found.proved_window:.3g} tokens",
            "for every text, from the weights alone",
        ),
    ]
    pictures = [timescales(found), windows(found), layer_windows(found)]
    parts = [
        Section("Which channels remember, and for how long", pictures),
        Section("What a replay costs", table=found.costs),
        Section("Layer by layer", table=found.rows),
    ]
    details = f"Exponents by {spectrum.method}; {spectrum.verdict}. Proved {found.proved}."
    return render_page(found, sentences, numbers, parts, details)


@drawn(
    "timescales",
    "Timescales, layer by layer",
    "Tokens in which a channel or head forgets by a factor e on this text; the brightest "
    "do not within the text.",
)
def timescales(axes: Any, found: Any) -> None:
    """Layers x channels, each row sorted: who keeps the long memory."""
    layers = found.spectrum.layers
    rows = [np.sort(layer.timescales.ravel())[::-1] for layer in layers]
    share = np.linspace(0, 1, 64)
    table = np.array([row[(share * (len(row) - 1)).round().astype(int)] for row in rows])
    longest = layers[0].steps
    shown = np.log10(np.clip(table, 0.1, longest))
    options = {"aspect": "auto", "interpolation": "nearest"}
    image = axes.imshow(shown, **options, extent=(0, 100, len(rows) - 0.5, -0.5))
    axes.set(xlabel="channels and heads, slowest first (%)", ylabel="recurrent layer")
    axes.yaxis.get_major_locator().set_params(integer=True)
    bar = axes.figure.colorbar(image, ax=axes)
    bar.set_label(f"log10 timescale (tokens), up to {longest:,}")


@drawn(
    "windows",
    "What a replay brings back",
    "The next-token distribution after a replay from the empty state, in nats from the "
    "full run's, and the relative gap of the slowest state. Output and state are two windows.",
)
def windows(axes: Any, found: Any) -> None:
    """How the next-token distribution comes back as more tokens are replayed."""
    replay = found.replay
    k = np.arange(1, replay.longest + 1)
    low, high = np.nanquantile(np.maximum(replay.divergence, 1e-12), [0.5, 0.95], axis=0)
    gap = np.nanmedian(np.maximum(replay.gaps.max(axis=0), 1e-12), axis=0)
    axes.loglog(k, low, label="KL divergence, median")
    axes.loglog(k, high, label="KL divergence, 95 %")
    axes.loglog(k, gap, label="state of the slowest layer, median", ls="--")
    axes.axhline(replay.error, color="C7", lw=1)
    axes.set(xlabel="tokens replayed", ylabel="error")
    axes.legend()


@drawn(
    "layers",
    "Which layers are the bottleneck",
    "Tokens until a layer's state is right, at half of the positions. The largest own "
    "window is the bottleneck; the stack needs between that and the sum.",
)
def layer_windows(axes: Any, found: Any) -> None:
    """The window of each layer: by its own decays, and as measured in the stack."""
    replay = found.replay
    cap = replay.longest
    median = lambda windows: np.minimum([replay.quantile(0.5, row) for row in windows], cap)
    own, measured = median(replay.own_windows), median(replay.state_windows)
    axes.plot(replay.layers, own, "o-", ms=4, label="by its own decays")
    axes.plot(replay.layers, measured, "s-", ms=4, label="in the stack")
    axes.set(xlabel="layer", ylabel=f"tokens (at most {cap:,} followed)", ylim=(0, None))
    axes.xaxis.get_major_locator().set_params(integer=True)
    axes.legend()
