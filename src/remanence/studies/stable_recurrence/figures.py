"""The pictures of document 004."""

import matplotlib.pyplot as plt
import numpy as np
import xarray as xr

from ...report import Figure


def lemma_figure(table: xr.Dataset) -> Figure:
    """Bound and measurement as twins, over the window."""

    def draw():
        figure, axes = plt.subplots(1, 2, figsize=(8, 3.4), constrained_layout=True)
        k = table["window"].values
        for name, label, colour in (
            ("state_bound", "proved, norm", "C1"),
            ("state_bound_full", "proved, best metric", "C2"),
            ("state", "measured", "C0"),
        ):
            _band(axes[0], k, table[name].values, label, colour)
        for name, label, colour in (
            ("gradient_bound", "proved (Lemma 2)", "C1"),
            ("gradient", "measured", "C0"),
        ):
            _band(axes[1], k, table[name].values, label, colour)
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
        figure, axes = plt.subplots(
            1, 2, figsize=(8, 3.4), sharey=True, constrained_layout=True
        )
        for axis, schedule in zip(axes, table["schedule"].values, strict=True):
            part = table.sel(schedule=schedule)
            for i, k in enumerate(part["window"].values[:4]):
                gap = part["gap"].sel(window=k).values
                _band(axis, part["step"].values, gap, f"k = {k}", f"C{i}")
                bound = part["bound"].sel(window=k).mean("instance")
                axis.plot(part["step"], bound, color=f"C{i}", ls=":", lw=1)
            axis.set(xscale="log", yscale="log", xlabel="step")
            axis.set_title(
                {"alpha/t": "steps α/t"}.get(str(schedule), "constant steps")
            )
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


def ladder_figure(table: xr.Dataset) -> Figure:
    """The largest certified gain by metric, and the limit."""

    def draw():
        kinds = table["kind"].values
        figure, axes = plt.subplots(
            1,
            len(kinds),
            figsize=(3 * len(kinds), 3.2),
            constrained_layout=True,
            squeeze=False,
        )
        for axis, kind in zip(axes[0], kinds, strict=True):
            part = table["gain"].sel(kind=kind)
            for i, rung in enumerate(("norm", "diagonal", "full", "limit")):
                colour = "C7" if rung == "limit" else f"C{i}"
                values = part.sel(rung=rung).values.T
                _band(axis, table["units"].values, values, rung, colour)
            axis.set(xlabel="units N", title=str(kind), xscale="log")
            axis.set_xticks(
                table["units"].values, [str(n) for n in table["units"].values]
            )
            axis.minorticks_off()
            axis.set_ylim(bottom=0)
        axes[0][0].set_ylabel("largest certified gain")
        axes[0][0].legend(frameon=False)
        return figure

    return Figure(
        "ladder",
        "The ladder of certificates, two-sided",
        "Largest gain that each metric proves contracting, below the limit that masks set.",
        draw,
        table,
    )


def decay_figure(models: dict[str, dict]) -> Figure:
    """Gradient over distance, with the largest exponent's slope."""
    table = xr.Dataset(
        {
            "decay": (
                ("model", "distance"),
                np.array([m["decay"] for m in models.values()]),
            )
        },
        {"model": list(models)},
    )

    def draw():
        figure, axis = plt.subplots(figsize=(6.4, 3.6), constrained_layout=True)
        for i, (name, model) in enumerate(models.items()):
            decay = np.asarray(model["decay"])
            label = f"{name}: λ₁ = {model['exponent']:+.2f} ± {model['stderr']:.2f}"
            axis.plot(decay, color=f"C{i}", label=label)
        top = np.nanmax(table["decay"].values)
        axis.set(xlabel="distance i (tokens)", yscale="log", ylim=(top * 1e-9, top * 3))
        axis.set_ylabel("‖∇ₓ p at distance i‖, mean")
        axis.legend(frameon=False, fontsize="small")
        return figure

    return Figure(
        "decay",
        "How far a loss listens back",
        "Gradient of a loss with respect to an input i tokens earlier, on held-out text, and "
        "the largest Lyapunov exponent along it (nats a token).",
        draw,
        table,
    )


def context_figure(models: dict[str, dict], peers: dict[str, dict]) -> Figure:
    """Perplexity against the context that is allowed."""
    rows = [
        (name, k, value)
        for name, model in models.items()
        for k, value in zip(model["windows"], model["truncated"], strict=True)
    ] + [
        (name, k, value)
        for name, peer in peers.items()
        for k, value in zip(peer["widths"], peer["perplexity"], strict=True)
    ]
    names, ks, values = zip(*rows, strict=True)
    table = xr.Dataset(
        {"model": ("row", list(names)), "context": ("row", list(ks)), "perplexity": ("row", list(values))}
    )  # fmt: skip

    def draw():
        figure, axis = plt.subplots(figsize=(6.4, 3.6), constrained_layout=True)
        for i, (name, model) in enumerate(models.items()):
            relative = np.asarray(model["truncated"]) / model["untruncated"]
            axis.plot(model["windows"], relative, "o-", ms=3, color=f"C{i}", label=name)
        for name, peer in peers.items():
            base = models[peer["beside"]]["untruncated"]
            relative = np.asarray(peer["perplexity"]) / base
            axis.plot(peer["widths"], relative, "s--", ms=3, color="C7", label=name)
        axis.axhline(1, color="C7", lw=0.8)
        axis.set(xlabel="context (tokens)", xscale="log")
        axis.set_ylabel("perplexity / untruncated")
        axis.legend(frameon=False, fontsize="small")
        return figure

    return Figure(
        "context",
        "Is the history needed?",
        "Truncated evaluation over the window, and gated convolutions of equal size trained "
        "at each width, relative to the untruncated recurrent model.",
        draw,
        table,
    )


def boundary_figure(table: xr.Dataset) -> Figure:
    """Loss over delay, stable and free, with the proved floor."""

    def draw():
        figure, axis = plt.subplots(figsize=(6, 3.4), constrained_layout=True)
        for i, model in enumerate(table["model"].values):
            axis.plot(
                table["delay"],
                table["loss"].sel(model=model),
                "o-",
                color=f"C{i}",
                label=str(model),
            )
        axis.plot(
            table["delay"],
            table["floor"],
            ":",
            color="C0",
            label="proved floor of the stable",
        )
        axis.axhline(table.attrs["chance"], color="C7", lw=0.8, label="chance")
        axis.set(xlabel="delay (steps)", ylabel="test loss (nats)")
        axis.legend(frameon=False)
        return figure

    return Figure(
        "boundary",
        "Where stability costs",
        f"One of four symbols recalled after a delay; stable: spectral norm at most {table.attrs['rate']:g}.",
        draw,
        table,
    )  # fmt: skip


def _band(axis, x, values, label, colour):
    values = np.atleast_2d(values)
    axis.plot(x, values.mean(0), color=colour, label=label)
    axis.fill_between(x, values.min(0), values.max(0), color=colour, alpha=0.2, lw=0)
