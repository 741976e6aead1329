"""One visual language: eight colours told apart by every reader, by day and by night.

The cycle starts from Okabe and Ito's palette, darkened for paper and lightened
for night until each colour stands out from the background by 3:1 or more and
neighbours differ also for protanopes, deuteranopes and in print. `C7` is the grey
of references.
"""

import contextlib
import dataclasses
from collections.abc import Iterator
from typing import Any, Literal


Theme = Literal["light", "dark"]


@dataclasses.dataclass(frozen=True)
class Palette:
    """The colours of one theme; `cycle` is C0 … C7."""

    cycle: tuple[str, ...]
    ink: str
    soft: str
    line: str
    paper: str
    raised: str
    holds: str
    differs: str
    refuted: str
    open: str


PALETTES: dict[Theme, Palette] = {
    "light": Palette(
        cycle=(
            "#1a64b5",
            "#de5f0c",
            "#0a9a7f",
            "#8a2a72",
            "#6e5008",
            "#3f9bd6",
            "#2c2f66",
            "#777777",
        ),
        ink="#1c2024",
        soft="#596069",
        line="#d9d6cf",
        paper="#fbfaf7",
        raised="#ffffff",
        holds="#00745b",
        differs="#8a5a00",
        refuted="#b3370a",
        open="#596069",
    ),
    "dark": Palette(
        cycle=(
            "#5db1ee",
            "#ff8b52",
            "#3cc79f",
            "#ea9dca",
            "#efbb45",
            "#a9dbfa",
            "#b9b8f5",
            "#9a9a9a",
        ),
        ink="#e8e6e1",
        soft="#a4a9b0",
        line="#33383f",
        paper="#14171b",
        raised="#1b1f24",
        holds="#4fd1aa",
        differs="#f0bc4d",
        refuted="#ff9466",
        open="#a4a9b0",
    ),
}

MARKS = {"holds": "✓", "differs": "≠", "refuted": "✗", "open": "?"}
"""A verdict is never told by colour alone."""


def settings(theme: Theme) -> dict[Any, Any]:
    """The matplotlib settings of a theme."""
    from cycler import cycler

    palette = PALETTES[theme]
    return {
        "axes.prop_cycle": cycler(color=palette.cycle),
        "figure.facecolor": palette.raised,
        "savefig.facecolor": palette.raised,
        "axes.facecolor": palette.raised,
        "text.color": palette.ink,
        "axes.labelcolor": palette.ink,
        "axes.titlecolor": palette.ink,
        "axes.edgecolor": palette.soft,
        "xtick.color": palette.soft,
        "ytick.color": palette.soft,
        "xtick.labelcolor": palette.ink,
        "ytick.labelcolor": palette.ink,
        "grid.color": palette.line,
        "legend.facecolor": palette.raised,
        "legend.edgecolor": palette.line,
        "legend.labelcolor": palette.ink,
        "patch.edgecolor": palette.soft,
        "hatch.color": palette.soft,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.titlesize": "medium",
        "axes.titlelocation": "left",
        "axes.titleweight": "bold",
        "axes.labelsize": "medium",
        "lines.linewidth": 1.8,
        "legend.frameon": False,
        "legend.fontsize": "small",
        "font.size": 10.0,
        "figure.constrained_layout.use": True,
        "image.cmap": "viridis",
        "savefig.dpi": 144,
        "axes3d.xaxis.panecolor": palette.paper,
        "axes3d.yaxis.panecolor": palette.paper,
        "axes3d.zaxis.panecolor": palette.paper,
        "svg.hashsalt": "remanence",
        "svg.fonttype": "path",
    }


@contextlib.contextmanager
def style(theme: Theme) -> Iterator[None]:
    """A scope in which matplotlib draws in that theme."""
    import matplotlib

    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(settings(theme))
        yield
