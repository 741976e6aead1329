"""The pictures: what a replay brings back, timescales before and after, losses along a text."""

from collections.abc import Callable
from functools import partial
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import xarray as xr
from matplotlib.ticker import LogFormatter

from ...report import Figure
from .claims import median_windows, Models


def _by_text(models: Models, label: str, draw: Callable[[Any, dict[str, Any], str], None]) -> Any:
    """A panel a text: each of its models is drawn in the colour of its kind."""
    sources, colours = list(dict.fromkeys(each["source"] for each in models)), _colours(models)
    width = 1.5 + 4.5 * len(sources)
    figure, axes = plt.subplots(1, len(sources), figsize=(width, 3.8), squeeze=False, sharey=True)
    for each in models:
        draw(axes[0, sources.index(each["source"])], each, colours[each["kind"]])
    for axis, source in zip(axes[0], sources, strict=True):
        axis.set_title(source)
    axes[0, 0].set(ylabel=label)
    axes[0, 0].legend()
    return figure


def _row_each(models: Models, label: str, draw: Callable[..., None], **options: Any) -> Any:
    """A row a model, the first above."""
    figure, axis = plt.subplots(figsize=(6.5, 1.6 + 0.3 * len(models)))
    colours = _colours(models)
    for i, each in enumerate(models):
        draw(axis, each, i, colours[each["kind"]])
    axis.set_yticks(range(len(models)), [each["name"] for each in models])
    axis.set(xlabel=label, **options)
    axis.invert_yaxis()
    return figure


def _colours(models: Models) -> dict[str, str]:
    kinds = dict.fromkeys(each["kind"] for each in models)
    return {kind: f"C{i}" for i, kind in enumerate(kinds)}


def divergence_figure(models: Models) -> Figure:
    """KL divergence against the tokens replayed."""
    curves = {each["name"]: np.quantile(each["divergence"], 0.95, axis=0) for each in models}
    k = np.arange(1, 1 + min(map(len, curves.values())))
    data = xr.Dataset({n: ("window", c[: len(k)]) for n, c in curves.items()}, {"window": k})

    def draw(axis: Any, each: dict[str, Any], colour: str) -> None:
        label = None if each["seed"] else each["kind"]
        axis.loglog(k, np.maximum(data[each["name"]], 1e-12), color=colour, lw=1, label=label)
        axis.axhline(1e-3, color="C7", ls=":")
        axis.set(xlabel="tokens replayed")

    drawn = partial(_by_text, models, "KL divergence, 95 % (nats)", draw)
    caption = "The next-token distribution after a replay from an empty state, beside the kept state's: 95 % of the restarts lie below the line. One line per seed; dotted: the error that the windows are measured for."
    return Figure("divergence", "What a replay brings back", caption, drawn, data)


def windows_figure(models: Models) -> Figure:
    """Every restart's window, and the medians that are compared."""
    names = [each["name"] for each in models]
    rows = np.array([np.minimum(each["windows"], each["longest"]) for each in models])
    data = xr.Dataset({"window": (("model", "restart"), rows)}, {"model": names})
    medians = median_windows(models)

    def draw(axis: Any, each: dict[str, Any], i: int, colour: str) -> None:
        axis.plot(rows[i], np.full(len(rows[i]), i), ".", color=colour, alpha=0.5)
        median = medians.get((each["source"], each["kind"]), np.nan)
        axis.plot(median, i, "|", color=colour, ms=14, mew=2)

    drawn = partial(_row_each, models, "window (tokens)", draw, xscale="log")
    caption = "Tokens that must be replayed until the next-token distribution stays within the error: one dot per restart, a bar at the median of a kind on a text; a window that was not reached is drawn at the longest one followed."
    return Figure("windows", "How many tokens must be replayed", caption, drawn, data)


def stack_figure(models: Models) -> Figure:
    """Every restart's window of the states, between the bounds that the layers' own ones set."""
    judged = [each for each in models if "stack_bounds" in each]
    kinds = [each["kind"] for each in judged for _ in each["stack_bounds"]]
    rows = np.concatenate([each["stack_bounds"] for each in judged])
    order = np.argsort(rows[:, 1], kind="stable")
    rows, kinds = rows[order], np.array(kinds, dtype=np.str_)[order]
    names = ("largest", "window", "sum")
    columns = {name: ("restart", rows[:, i]) for i, name in enumerate(names)}

    def draw():
        figure, axes = plt.subplots(figsize=(6.5, 3.8))
        at = np.arange(len(rows))
        axes.vlines(at, np.maximum(rows[:, 0], 0.5), rows[:, 2], color="C7", alpha=0.5)
        for kind, colour in _colours(judged).items():
            if (here := kinds == kind).any():
                axes.plot(at[here], rows[here, 1], ".", color=colour, label=kind)
        axes.set(yscale="log", xlabel="restarts, by window", ylabel="window of the states (tokens)")
        axes.yaxis.set_major_formatter("{x:g}")
        axes.yaxis.set_minor_formatter(LogFormatter(minor_thresholds=(1, 0.5)))
        axes.legend(loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=4)
        return figure

    caption = "Tokens until the states of all layers stay within the error, one dot per restart; grey: from the largest of the layers' own windows to their sum, a tenth of a window wider at both ends, as it is judged."
    return Figure(
        "stack-law",
        "A stack waits for its slowest layers",
        caption,
        draw,
        xr.Dataset({**columns, "kind": ("restart", kinds)}),
    )


def timescales_figure(models: Models) -> Figure:
    """Timescales of all channels, sorted, before and after training."""
    gated = [each for each in models if "after" in each]
    share = np.linspace(0, 1, 101)
    rows = {
        f"{each['name']} {when}": np.quantile(each[when]["timescales"], share, method="higher")
        for each in gated
        for when in ("before", "after")
    }
    data = xr.Dataset({n: ("share", row) for n, row in rows.items()}, {"share": share})

    def draw(axis: Any, each: dict[str, Any], colour: str) -> None:
        for when, style in (("before", ":"), ("after", "-")):
            label = None if each["seed"] else f"{each['kind']} {when}"
            line = rows[f"{each['name']} {when}"]
            axis.semilogy(100 * share, line, style, color=colour, lw=1, label=label)
        axis.axvline(90, color="C7", lw=0.8)
        axis.set(xlabel="channels (%)")

    drawn = partial(_by_text, gated, "timescale (tokens)", draw)
    caption = "Tokens in which a channel forgets by a factor e on held-out text, before and after training, one line per seed. Right of the grey line: the slowest tenth."
    return Figure("timescales", "What training does to timescales", caption, drawn, data)


def losses_figure(models: Models) -> Figure:
    """What a history longer than any trained on costs."""
    names = [each["name"] for each in models]
    lost, error = ([each[key] for each in models] for key in ("lost_at_length", "lost_error"))
    data = xr.Dataset({"lost": ("model", lost), "error": ("model", error)}, {"model": names})

    def draw(axis: Any, each: dict[str, Any], i: int, colour: str) -> None:
        axis.errorbar(lost[i], i, xerr=error[i], fmt="o", capsize=3, color=colour)
        axis.axvline(0, color="C7", ls=":")

    drawn = partial(_row_each, models, "lost by the longer history (nats a token)", draw)
    caption = "The same held-out tokens, read from a state that was never emptied, against one emptied half to a whole trained length before; a bar is one standard error over restarts. Right of zero, the history beyond the trained length harms."
    return Figure("losses", "Beyond the trained length", caption, drawn, data)
