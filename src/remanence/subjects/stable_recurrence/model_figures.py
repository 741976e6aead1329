"""Figures: how far back models of text and music read, and truncated training."""

import numpy as np
import xarray as xr
from matplotlib.ticker import NullLocator

from ...report import Figure
from .figures import label_of, panels


def _by_text(names) -> dict[str, list[str]]:
    """Models by the text that they learnt: the first word of their names."""
    texts: dict[str, list[str]] = {}
    for name in names:
        texts.setdefault(name.split()[0], []).append(name)
    return texts


COLOURS = {"rnn free": "C0", "rnn stable": "C1", "lstm free": "C2", "lstm stable": "C3"}


def decay_figure(models: dict[str, dict]) -> Figure:
    """Gradient over distance, with the largest exponent's slope."""
    table = xr.Dataset(
        {
            name: (("model", "distance"), np.array([m[name] for m in models.values()]))
            for name in ("decay", "decay_error")
        },
        {"model": list(models)},
    )

    def draw():
        texts = _by_text(models)
        figure, axes = panels(len(texts))
        for axis, (text, names) in zip(axes, texts.items(), strict=True):
            for name in names:
                model, kind = models[name], name.split(" ", 1)[1]
                y, e = np.asarray(model["decay"]), np.asarray(model["decay_error"])
                exponent = f"{model['exponent']:+.3f}".replace("-", "−")
                label = f"{label_of(kind)}: λ₁ = {exponent} ± {model['stderr']:.3f}"
                axis.plot(y, color=COLOURS[kind], label=label)
                x = np.arange(len(y))
                axis.fill_between(x, y - e, y + e, color=COLOURS[kind], alpha=0.2, lw=0)
            top = max(max(models[name]["decay"]) for name in names)
            axis.set(xlabel="distance i (tokens)", yscale="log", title=text)
            axis.set_ylim(top * 1e-9, top * 30)
            axis.legend(frameon=False, fontsize="small", loc="upper right")
        axes[0].set_ylabel("‖∇ₓ p at distance i‖, mean")
        return figure

    return Figure(
        "decay",
        "How far back a loss depends on its inputs",
        "Gradient of a loss with respect to an input i tokens earlier, on held-out text (mean "
        "and standard error over positions), and the largest Lyapunov exponent along that "
        "text (nats a token).",
        draw,
        table,
    )


def truncated_training_figure(table: xr.Dataset) -> Figure:
    """Weight distances of truncated from full training on text."""

    def draw():
        models = table["model"].values
        figure, axes = panels(len(models), sharey=True)
        for axis, model in zip(axes, models, strict=True):
            part = table.sel(model=model)
            for i, k in enumerate(part["window"].values):
                ratio = part["gap"].sel(window=k) / part["moved"]
                axis.plot(part["step"], ratio, color=f"C{i}", label=f"k = {k}")
            axis.set(xscale="log", yscale="log", xlabel="step")
            axis.set_title(label_of(str(model)), fontsize="medium")
        axes[0].set_ylabel("weight gap / way moved")
        axes[0].legend(frameon=False, fontsize="small", loc="lower left")
        return figure

    return Figure(
        "truncated-training",
        "Truncated and full training of language models",
        "Distance of weights trained on the last k tokens from those trained on the whole "
        "segment, over the way that the full model has moved; same start, same data.",
        draw,
        table,
    )


def context_table(models: dict[str, dict]) -> xr.Dataset:
    """Scores on held-out data of every truncation, one row each: windows differ by text."""
    rows = [
        (name, k, score)
        for name, model in models.items()
        for k, score in zip(model["windows"], model["truncated"], strict=True)
    ]
    columns = zip(("model", "context", "score"), zip(*rows, strict=True), strict=True)
    return xr.Dataset({name: ("row", list(values)) for name, values in columns})


UNITS = {"jsb": "nats a chord"}


def context_figure(models: dict[str, dict]) -> Figure:
    """Test loss against the context that is allowed, on text and music."""

    def draw():
        texts = _by_text(models)
        figure, axes = panels(len(texts))
        for axis, (text, names) in zip(axes, texts.items(), strict=True):
            for name in names:
                model, kind = models[name], name.split(" ", 1)[1]
                style = {"color": COLOURS[kind], "label": label_of(kind)}
                axis.plot(model["windows"], model["truncated"], "o-", ms=3, **style)
                whole = model.get("untruncated", model.get("nll"))
                axis.axhline(whole, color=COLOURS[kind], lw=0.7, ls=":")
            axis.set(xlabel="context (inputs)", xscale="log", yscale="log", title=text)
            axis.set_ylabel(UNITS.get(text, "perplexity"))
            ticks = models[names[0]]["windows"]
            axis.set_xticks(ticks, [str(k) for k in ticks])
            axis.xaxis.set_minor_locator(NullLocator())
            axis.yaxis.set_major_formatter("{x:g}")
            axis.yaxis.set_minor_formatter("{x:g}")
            axis.legend(frameon=False, fontsize="small")
        return figure

    return Figure(
        "context",
        "Is the history needed?",
        "Score on held-out data of truncations over their window; dotted, the untruncated models.",
        draw,
        context_table(models),
    )
