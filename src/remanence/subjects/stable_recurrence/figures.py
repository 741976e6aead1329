"""Figures: lemmas, descents, certificates, tasks that need memory."""

import matplotlib.pyplot as plt
import numpy as np
import xarray as xr

from ...report import Figure


def lemma_figure(table: xr.Dataset) -> Figure:
    """Bound and measurement over the window."""

    def draw():
        figure, axes = panels(2)
        k = table["window"].values
        for panel, name, label, colour in (
            (0, "state_bound", "proved, norm", "C1"),
            (0, "state_bound_full", "proved, best metric", "C2"),
            (0, "state", "measured", "C0"),
            (1, "gradient_bound", "proved (Lemma 2)", "C1"),
            (1, "gradient", "measured", "C0"),
        ):
            _band(axes[panel], k, table[name].values, label, colour)
        for axis, title in zip(axes, ("state gap", "gradient gap"), strict=True):
            axis.set(xlabel="window k (steps)", ylabel=title, yscale="log")
            axis.legend(frameon=False)
        return figure

    return Figure(
        "lemmas",
        "What a window forgets",
        "Gaps between full and truncated tanh networks and their proved bounds; lines are "
        "means over instances, bands their range.",
        draw,
        table,
    )


def descent_figure(table: xr.Dataset) -> Figure:
    """Weight gaps during training, with and without 1/t."""

    def draw():
        figure, axes = panels(2, sharey=True)
        for axis, schedule in zip(axes, table["schedule"].values, strict=True):
            part = table.sel(schedule=schedule)
            for i, k in enumerate(part["window"].values[:4]):
                gap = part["gap"].sel(window=k).values
                _band(axis, part["step"].values, gap, f"k = {k}", f"C{i}")
                bound = part["bound"].sel(window=k).mean("instance")
                axis.plot(part["step"], bound, color=f"C{i}", ls=":", lw=1)
            axis.set(xscale="log", yscale="log", xlabel="step")
            axis.set_title({"alpha/t": "steps α/t"}.get(str(schedule), "constant steps"))
        axes[0].set_ylabel("weight gap")
        low = float(table["gap"].where(table["gap"] > 0).min())
        axes[0].set_ylim(max(low / 3, 1e-10), 1e3)
        axes[1].legend(frameon=False, fontsize="small", loc="lower right")
        return figure

    return Figure(
        "training",
        "Truncated and full training from one start",
        "Distance of the weights; dotted, the bound of Proposition 2 with measured constants.",
        draw,
        table,
    )


def gains_figure(table: xr.Dataset) -> Figure:
    """The largest certified gain by metric, and the limit."""

    def draw():
        kinds = table["kind"].values
        figure, axes = panels(len(kinds))
        for axis, kind in zip(axes, kinds, strict=True):
            part = table["gain"].sel(kind=kind)
            for i, metric in enumerate(("norm", "diagonal", "full", "limit")):
                colour = "C7" if metric == "limit" else f"C{i}"
                values = part.sel(metric=metric).values.T
                _band(axis, table["units"].values, values, metric, colour)
            axis.set(xlabel="units N", title=str(kind).capitalize(), xscale="log")
            axis.set_xticks(table["units"].values, [str(n) for n in table["units"].values])
            axis.minorticks_off()
            axis.set_ylim(bottom=0)
        axes[0].set_ylabel("largest certified gain")
        axes[0].legend(frameon=False)
        return figure

    return Figure(
        "certified-gains",
        "How much gain each metric certifies",
        "Largest gain that each metric proves contracting, below the limit that masks set.",
        draw,
        table,
    )


def label_of(kind: str) -> str:
    """A kind of model as it is written in a legend: RNN free, LSTM stable."""
    return kind.replace("rnn", "RNN").replace("lstm", "LSTM")


def panels(count: int, **options):
    """Axes side by side."""
    size = (3.4 * count + 1.2, 3.6)
    figure, axes = plt.subplots(
        1, count, figsize=size, squeeze=False, layout="constrained", **options
    )
    return figure, axes[0]


def memory_figure(tables: dict[str, xr.Dataset]) -> Figure:
    """Losses over the length, stable and free, with the proved floors."""
    colours = {"rnn stable": "C0", "rnn free": "C1", "lstm stable": "C2", "lstm free": "C3"}

    def draw():
        figure, axes = panels(len(tables))
        for axis, (name, table) in zip(axes, tables.items(), strict=True):
            x = table["length"].values
            for model in table["model"].values:
                y = table["loss"].sel(model=model)
                axis.plot(x, y, "o-", ms=4, color=colours[str(model)], label=label_of(str(model)))
            axis.plot(x, table["floor"], ":", color="C0", label="proved floor")
            axis.axhline(table.attrs["chance"], color="C7", lw=0.8, label="forgetting")
            unit = "mean square error" if name.startswith("adding") else "nats"
            axis.set(xlabel="length (steps)", ylabel=f"test loss ({unit})", title=name)
            axis.legend(frameon=False, fontsize="small")
        return figure

    rate = next(iter(tables.values())).attrs["rate"]
    renamed = [
        table.drop_attrs().rename(
            {name: f"{task.split()[-1]}_{name}" for name in [*table.data_vars, *table.coords]}
        )
        for task, table in tables.items()
    ]
    return Figure(
        "boundary",
        "Where stability costs",
        "What must be remembered against how long; stable tanh cells have spectral norm at "
        f"most {rate:g}, the floor is proved for their weights, forgetting is the loss of a "
        "model that lost what is asked.",
        draw,
        xr.merge(renamed),
    )


def _band(axis, x, values, label, colour):
    values = np.atleast_2d(values)
    axis.plot(x, values.mean(0), color=colour, label=label)
    axis.fill_between(x, values.min(0), values.max(0), color=colour, alpha=0.2, lw=0)
