"""The pictures of the study, each with the table that it shows."""

from collections.abc import Mapping
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import xarray as xr
from matplotlib.ticker import MaxNLocator, NullLocator

from ...report import Figure, figure


COLOURS = {"rnn free": "C0", "rnn stable": "C1", "lstm free": "C2", "lstm stable": "C3"}
LABELS = {name: name.replace("rnn", "RNN").replace("lstm", "LSTM") for name in COLOURS}


def _panels(count: int, **options: Any):
    """Axes side by side."""
    size = (3.4 * count + 1.2, 3.6)
    drawing, axes = plt.subplots(1, count, figsize=size, squeeze=False, **options)
    return drawing, axes[0]


def _band(axis, x, values, label, colour):
    axis.plot(x, values.mean(0), color=colour, label=label)
    axis.fill_between(x, values.min(0), values.max(0), color=colour, alpha=0.2, lw=0)


def _by_text(models: Mapping[str, Any]):
    """A panel for each text: its axis, its name, and its models by kind."""
    texts = dict.fromkeys(name.split()[0] for name in models)
    drawing, axes = _panels(len(texts))
    kinds = lambda text: {n.split(" ", 1)[1]: m for n, m in models.items() if n.split()[0] == text}
    return drawing, [(axis, text, kinds(text)) for axis, text in zip(axes, texts, strict=True)]


@figure(
    "lemmas",
    "What a window forgets",
    "Gaps between full and truncated tanh networks and their proved bounds; lines are means over "
    "instances, bands their range.",
)
def _lemmas(table: xr.Dataset):
    drawing, axes = _panels(2)
    lines = (
        (0, "state_bound", "proved, norm", "C1"),
        (0, "state_bound_full", "proved, best metric", "C2"),
        (0, "state", "measured", "C0"),
        (1, "gradient_bound", "proved (Lemma 2)", "C1"),
        (1, "gradient", "measured", "C0"),
    )
    for panel, name, label, colour in lines:
        _band(axes[panel], table["window"].values, table[name].values, label, colour)
    for axis, gap in zip(axes, ("state gap", "gradient gap"), strict=True):
        axis.set(xlabel="window k (steps)", ylabel=gap, yscale="log")
        axis.legend()
    return drawing


@figure(
    "training",
    "Truncated and full training from one start",
    "Distance of the weights; dotted, the bound of Proposition 2 with measured constants.",
)
def _descents(table: xr.Dataset):
    drawing, axes = _panels(2, sharey=True)
    titles = ("steps α/t", "constant steps")
    for axis, schedule, title in zip(axes, table["schedule"].values, titles, strict=True):
        part = table.sel(schedule=schedule)
        for i, k in enumerate(part["window"].values[:4]):
            gap = part["gap"].sel(window=k).values
            _band(axis, part["step"].values, gap, f"k = {k}", f"C{i}")
            bound = part["bound"].sel(window=k).mean("instance")
            axis.plot(part["step"], bound, color=f"C{i}", ls=":", lw=1)
        axis.set(xscale="log", yscale="log", xlabel="step", title=title)
    axes[0].set_ylabel("weight gap")
    low = float(table["gap"].where(table["gap"] > 0).min())
    axes[0].set_ylim(max(low / 3, 1e-10), 1e3)
    axes[1].legend(loc="lower right")
    return drawing


@figure(
    "certified-gains",
    "How much gain each metric certifies",
    "Largest gain of Gaussian matrices that each metric proves contracting, below the limit that "
    "masks set.",
)
def _gains(table: xr.Dataset):
    drawing, (axis,) = _panels(1)
    units = table["units"].values
    for i, metric in enumerate(table["metric"].values):
        colour = "C7" if metric == "limit" else f"C{i}"
        _band(axis, units, table["gain"].sel(metric=metric).values.T, metric, colour)
    axis.set(xlabel="units N", ylabel="largest certified gain", xscale="log", ylim=(0, None))
    axis.set_xticks(units, [str(n) for n in units])
    axis.minorticks_off()
    axis.legend()
    return drawing


@figure(
    "boundary",
    "Where stability costs",
    "What must be remembered against how long; stable tanh cells have a bounded spectral norm, "
    "the floor is proved for their weights, forgetting is the loss of a model that lost what is "
    "asked.",
)
def _memory(data: xr.Dataset, tables: Mapping[str, xr.Dataset]):
    drawing, axes = _panels(len(tables))
    for axis, (name, table) in zip(axes, tables.items(), strict=True):
        x = table["length"].values
        for model in table["model"].values:
            style = {"color": COLOURS[str(model)], "label": LABELS[str(model)]}
            axis.plot(x, table["loss"].sel(model=model), "o-", ms=4, **style)
        axis.plot(x, table["floor"], ":", color=COLOURS["rnn stable"], label="proved floor")
        axis.axhline(table.attrs["chance"], color="C7", lw=0.8, label="forgetting")
        unit = "mean square error" if name.startswith("adding") else "nats"
        axis.set(xlabel="length (steps)", ylabel=f"test loss ({unit})", title=name)
        axis.legend()
    return drawing


@figure(
    "decay",
    "How far back a loss depends on its inputs",
    "Gradient of a loss with respect to an input i tokens earlier, on held-out text (mean and "
    "standard error over positions), and the largest Lyapunov exponent along that text (nats a "
    "token).",
)
def _decay(data: xr.Dataset, models: Mapping[str, Any]):
    drawing, panels = _by_text(models)
    for axis, text, kinds in panels:
        for kind, model in kinds.items():
            y, e = np.asarray(model["decay"]), np.asarray(model["decay_error"])
            exponent = f"{model['exponent']:+.3f}".replace("-", "−")
            label = f"{LABELS[kind]}: λ₁ = {exponent} ± {model['stderr']:.3f}"
            axis.plot(y, color=COLOURS[kind], label=label)
            x = np.arange(len(y))
            axis.fill_between(x, y - e, y + e, color=COLOURS[kind], alpha=0.2, lw=0)
        top = max(max(model["decay"]) for model in kinds.values())
        limits = (top * 1e-9, top * 30)
        axis.set(xlabel="distance i (tokens)", yscale="log", title=text, ylim=limits)
        axis.legend(loc="upper right")
    panels[0][0].set_ylabel("‖∇ₓ p at distance i‖, mean")
    return drawing


@figure(
    "context",
    "Is the history needed?",
    "Perplexity on held-out text of truncations over their window; dotted, the untruncated models.",
)
def _context(data: xr.Dataset, models: Mapping[str, Any]):
    drawing, panels = _by_text(models)
    for axis, text, kinds in panels:
        for kind, model in kinds.items():
            style = {"color": COLOURS[kind], "label": LABELS[kind]}
            axis.plot(model["windows"], model["truncated"], "o-", ms=3, **style)
            axis.axhline(model["untruncated"], color=COLOURS[kind], lw=0.7, ls=":")
        scales = {"xscale": "log", "yscale": "log"}  # they set ticks of their own
        axis.set(xlabel="context (tokens)", ylabel="perplexity", title=text, **scales)
        windows = sorted({k for model in kinds.values() for k in model["windows"]})
        axis.set_xticks(windows, [str(k) for k in windows])
        axis.xaxis.set_minor_locator(NullLocator())
        axis.yaxis.set_major_formatter("{x:g}")
        axis.yaxis.set_minor_formatter("{x:g}")
        if np.divide(*axis.get_ylim()[::-1]) < 3:  # too short for ticks of a decade
            axis.yaxis.set_major_locator(MaxNLocator(5))
            axis.yaxis.set_minor_locator(NullLocator())
        axis.legend()
    return drawing


def context_table(models: Mapping[str, Any]) -> xr.Dataset:
    """Perplexity on held-out text of every truncation, one row each: windows differ by text."""
    rows = [
        (name, k, score)
        for name, model in models.items()
        for k, score in zip(model["windows"], model["truncated"], strict=True)
    ]
    columns = zip(("model", "context", "score"), zip(*rows, strict=True), strict=True)
    return xr.Dataset({name: ("row", list(values)) for name, values in columns})


def figures(
    data: Mapping[str, xr.Dataset], memory: Mapping[str, xr.Dataset], language: Mapping[str, Any]
) -> tuple[Figure, ...]:
    """All pictures of which there are numbers."""
    drawn = [_lemmas(data["lemmas"]), _descents(data["training"]), _gains(data["gains"])]
    if memory:
        drawn.append(_memory(data["boundary"], memory))
    if language:
        of = lambda name: (("model", "distance"), [m[name] for m in language.values()])
        table = {name: of(name) for name in ("decay", "decay_error")}
        drawn.append(_decay(xr.Dataset(table, {"model": list(language)}), language))
        drawn.append(_context(data["context"], language))
    return tuple(drawn)
