"""The checkup as one HTML page that opens from disk, of networks or of a language model."""

import base64
import dataclasses
import math
import pathlib
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..measure.horizon import shown
from ..report import Figure
from ..report.figures import draw_figure, DrawnFigure
from ..report.html import render
from ..report.style import Theme
from . import pictures
from .figures import comparison_table, Found, WIDE
from .headline import headline, large_numbers, TITLE
from .pictures import drawn


TEMPLATES = pathlib.Path(__file__).parent / "templates"
MEMORY = (pictures.windows, pictures.gradients, pictures.spectrum)
"""How memory fades, all networks in the same axes."""
NETWORK = (pictures.units, pictures.eigenvalues, pictures.fixed_points)
"""What one network looks like."""
LONGEST = 5  # units of each layer that the table names


@dataclasses.dataclass(frozen=True)
class Section:
    """A part of a page; one that holds nothing is left out."""

    title: str
    figures: Sequence[Figure | None] = ()
    table: Sequence[Sequence[str]] = ()  # its head first
    notes: Sequence[str] = ()
    suffix: str = ""  # makes the addresses of its pictures unique in the page

    @property
    def pictures(self) -> list[tuple[Figure, DrawnFigure]]:
        """Its figures, drawn."""
        with warnings.catch_warnings():
            # A name in letters that the font has not stands in full in the tables.
            warnings.filterwarnings("ignore", "Glyph .* missing from")
            return [(f, draw_figure(f, png=False)) for f in self.figures if f is not None]


def checkup_page(found: Sequence[Found]) -> str:
    """One page for one network, or for several side by side with the last one's figures."""
    last = found[-1]
    several = f" of {last.name}" if len(found) > 1 else ""
    few = found if len(found) <= WIDE else found[-1:]
    parts = [
        Section("How memory fades", [make(found) for make in MEMORY]),
        Section("Side by side", table=comparison_table(found) if several else ()),
        Section(
            f"Every figure{several}",
            table=[("Figure", "Value", "What it means", "Name"), *map(_figure_row, last.table)],
            notes=(*last.notes, "Each can be required by its name: `--require 'window<=128'`."),
        ),
        Section("What a window costs", table=_costs(last)),
        Section(f"Units with the longest memory{several}", table=unit_table(last)),
    ]
    for number, each in enumerate(few):
        title = f"Units and states{f' of {each.name}' if several else ''}"
        suffix = f"-{number}" if number else ""
        made = [make(each) for make in NETWORK if each.units or make is not pictures.units]
        parts.append(Section(title, made, suffix=suffix))
    sentences = [f"{part[:1].upper()}{part[1:]}." for part in headline(last)]
    quick = "A quick look." if last.quick else ""
    return render_page(last, sentences, large_numbers(last), parts, quick)


def render_page(
    found: Any,
    sentences: Sequence[str],
    numbers: Sequence[tuple[str, str, str]],
    parts: Sequence[Section],
    details: str,
) -> str:
    """The page of a checkup: its heading is the first sentence; a number has its name and error."""
    return render(
        "checkup.html",
        folder=TEMPLATES,
        title=f"{found.name}{TITLE}",
        home="#main",
        found=found,
        sentences=sentences,
        numbers=numbers,
        details=details,
        parts=[part for part in parts if any(part.figures) or part.table],
        address=_address,
    )


def _figure_row(row: dict[str, str]) -> tuple[str, ...]:
    remark = f"\n{row['remark']}" if row["remark"] else ""
    return row["title"], row["text"], row["meaning"] + remark, f"`{row['name']}`"


def unit_table(found: Found) -> list[tuple[str, ...]]:
    """The units that hold on for longest, layer by layer."""
    rows = [("Layer", "Unit", "Timescale in steps", "Median of its layer")]
    for layer in found.units:
        median = shown(np.median(layer.timescales))
        for unit in layer.longest[:LONGEST]:
            time = f"{shown(layer.timescales[unit])} ± {shown(layer.stderr[unit])}"
            rows.append((str(layer.layer), str(unit), time, median))
    return rows if found.units else []


def _costs(found: Found) -> list[tuple[str, ...]]:
    """What windows cost in nats, where there is something to predict."""
    cost = found.horizon.replay.cost
    if cost is None:
        return []
    columns = zip(cost.windows, cost.loss, cost.excess, cost.accuracy, strict=True)
    rows = [(f"{k:,}", f"{a:.4g}", f"{b:+.2g}", f"{c:.1%}") for k, a, b, c in columns]
    head = ("Window", f"Nats a {cost.unit}", "More than with all inputs", "Accuracy")
    return [head, *rows, ("all", f"{cost.full_loss:.4g}", "", f"{cost.full_accuracy:.1%}")]


def _address(drawn: DrawnFigure, theme: Theme) -> str:
    """A picture as a data address: SVG, or PNG where that would be heavy."""
    heavy = theme in drawn.png
    kind, content = ("png", drawn.png[theme]) if heavy else ("svg+xml", drawn.svg[theme])
    return f"data:image/{kind};base64,{base64.b64encode(content).decode()}"


def language_page(found: Any) -> str:
    """The page of a language model: verdict, timescales, windows, layers."""
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
    bar.set_label(f"log₁₀ timescale (tokens), up to {longest:,}")


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
