"""The pictures: what a replay brings back, timescales before and after, losses along a text."""

from typing import Any

import numpy as np
import xarray as xr

from ...report import Figure


def windows_figure(models: list[dict[str, Any]]) -> Figure:
    """KL divergence against the tokens replayed."""
    curves = {each["name"]: np.quantile(each["divergence"], 0.95, axis=0) for each in models}
    k = np.arange(1, 1 + min(map(len, curves.values())))
    data = xr.Dataset({n: ("window", c[: len(k)]) for n, c in curves.items()}, {"window": k})

    def draw():
        import matplotlib.pyplot as plt

        figure, axes = plt.subplots()
        for name, curve in curves.items():
            axes.loglog(k, np.maximum(curve[: len(k)], 1e-12), label=name)
        axes.set(xlabel="tokens replayed", ylabel="KL divergence, 95 % (nats)")
        axes.legend()
        return figure

    caption = (
        "The next-token distribution after a replay from an empty state, beside the kept state's."
    )
    return Figure("windows", "What a replay brings back", caption, draw, data)


def timescales_figure(models: list[dict[str, Any]]) -> Figure:
    """Timescales of all channels, sorted, before and after training."""
    gated = [each for each in models if "after" in each]
    share = np.linspace(0, 1, 101)
    rows = {
        f"{each['name']} {when}": np.quantile(each[when]["timescales"], share)
        for each in gated
        for when in ("before", "after")
    }
    data = xr.Dataset({n: ("share", row) for n, row in rows.items()}, {"share": share})

    def draw():
        import matplotlib.pyplot as plt

        figure, axes = plt.subplots()
        for i, each in enumerate(gated):
            for when, line in (("before", ":"), ("after", "-")):
                name = f"{each['name']} {when}"
                axes.semilogy(100 * share, rows[name], line, color=f"C{i}", label=name)
        axes.set(xlabel="channels (%)", ylabel="timescale (tokens)")
        axes.legend()
        return figure

    caption = "Tokens in which a channel forgets by a factor e on held-out text, before and after training."
    return Figure("timescales", "What training does to timescales", caption, draw, data)


def losses_figure(models: list[dict[str, Any]]) -> Figure:
    """The loss within the trained length, and at the end of the text."""
    names = [each["name"] for each in models]
    near, far = ([each[key] for each in models] for key in ("loss_near", "loss_far"))
    spread = [each["loss_spread"] for each in models]
    columns = {"near": near, "far": far, "spread": spread}
    data = xr.Dataset({n: ("model", np.array(c)) for n, c in columns.items()}, {"model": names})

    def draw():
        import matplotlib.pyplot as plt

        figure, axes = plt.subplots()
        at = np.arange(len(names))
        axes.errorbar(
            at - 0.1, near, yerr=spread, fmt="o", capsize=2, label="within the trained length"
        )
        axes.errorbar(
            at + 0.1, far, yerr=spread, fmt="s", capsize=2, label="at the end of the text"
        )
        axes.set_xticks(at, names, rotation=20)
        axes.set(ylabel="nats a token")
        axes.legend()
        return figure

    caption = (
        "Held-out loss near the start and at the end of a text that is longer than any trained on."
    )
    return Figure("losses", "Beyond the trained length", caption, draw, data)
