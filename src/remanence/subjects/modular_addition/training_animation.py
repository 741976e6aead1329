"""An SVG that moves: all frames are drawn, and each is visible in its turn.

The page shows an SVG as an image, in which scripts are dead but declared
animations live. So every frame is a group of its own with a discrete
`<animate>` of its visibility; a reader that does not animate shows the last.
"""

import io
import re
from typing import Any

import matplotlib.figure
import matplotlib.pyplot as plt
import numpy as np
import xarray as xr

from .weights_figures import name_of


SECONDS = 8


class Film(matplotlib.figure.Figure):
    """A figure whose artists named `frame-i` are shown one after the other in its SVG."""

    def savefig(self, fname: Any, **settings: Any) -> None:
        frames = [a for a in self.findobj() if str(a.get_gid()).startswith("frame-")]
        last = max(int(str(a.get_gid()).split("-")[1]) for a in frames)
        moving = settings.get("format") == "svg"
        for artist in frames:
            artist.set_visible(moving or str(artist.get_gid()).split("-")[1] == str(last))
        plain = io.BytesIO()
        matplotlib.figure.Figure.savefig(self, plain, **settings)
        data = plain.getvalue()
        fname.write(animated(data.decode(), last + 1).encode() if moving else data)


def animated(svg: str, frames: int) -> str:
    """The SVG with each group `frame-i…` visible in the i-th part of the loop only."""

    def group(found: re.Match) -> str:
        i = int(found[2])
        turns = [(0.0, i == 0), (i / frames, True), ((i + 1) / frames, False)]
        turns = [turns[0], *(turn for turn in turns[1:] if 0 < turn[0] < 1)]
        values = ";".join("visible" if on else "hidden" for _, on in turns)
        times = ";".join(f"{at:.5f}" for at, _ in turns)
        still = "visible" if i == frames - 1 else "hidden"
        return (
            f'<g id="{found[1]}" visibility="{still}"><animate attributeName="visibility" '
            f'calcMode="discrete" dur="{SECONDS}s" repeatCount="indefinite" '
            f'values="{values}" keyTimes="{times}"/>'
        )

    return re.sub(r'<g id="(frame-(\d+)-\w+)">', group, svg)


def animation_figure(one: xr.Dataset, *, most: int = 40) -> Any:
    """Spectra of embedding and unembedding, a frame each time training was looked at."""
    figure = plt.figure(FigureClass=Film, figsize=(8, 4.4), layout="constrained")
    axes = figure.subplots(2, 1, sharex=True)
    shown = np.unique(np.linspace(0, one.sizes["step"] - 1, most).round().astype(int))
    for axis, tensor, colour in zip(axes, ("W_E", "W_fc"), ("C0", "C1"), strict=True):
        energy = one.energy.sel(tensor=tensor).values[:, 1:]
        share = energy / energy.sum(1, keepdims=True)
        edges = np.arange(share.shape[1] + 1) + 0.5
        for frame, i in enumerate(shown):
            axis.stairs(share[i], edges, fill=True, color=colour, gid=f"frame-{frame}-{tensor}")
        axis.set(ylim=(0, 1.08 * share.max()), ylabel=f"share of {name_of(tensor)}")
    for frame, i in enumerate(shown):
        axes[0].text(
            0.99,
            0.93,
            f"step {int(one.step[i])}: held-out accuracy {100 * float(one.held_out[i]):.0f} %",
            transform=axes[0].transAxes,
            ha="right",
            va="top",
            gid=f"frame-{frame}-text",
        )
    axes[1].set_xlabel("frequency k")
    return figure
