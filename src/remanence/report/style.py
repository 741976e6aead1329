"""Colours and drawing style: eight colours that every reader can distinguish, light and dark.

The cycle starts from Okabe and Ito's palette, darkened or lightened until each colour stands
out from the page by 3:1 or more, also for protanopes and deuteranopes. `C7` is the grey of
references. What does not depend on the theme stands in `assets/figures.mplstyle`.
"""

import collections
import contextlib
import pathlib
import re
from collections.abc import Iterator
from typing import Any, Literal


Theme = Literal["light", "dark"]
STYLE = pathlib.Path(__file__).parent / "assets" / "figures.mplstyle"


Palette = collections.namedtuple(
    "Palette", "cycle ink soft line paper raised holds differs refuted open"
)
"""The colours of one theme; `cycle` is C0 … C7."""
LIGHT = ("#1a64b5", "#de5f0c", "#0a9a7f", "#8a2a72", "#6e5008", "#3f9bd6", "#2c2f66", "#777777")
DARK = ("#5db1ee", "#ff8b52", "#3cc79f", "#ea9dca", "#efbb45", "#a9dbfa", "#b9b8f5", "#9a9a9a")
ON_LIGHT = ("#1c2024", "#596069", "#d9d6cf", "#fbfaf7", "#ffffff")
ON_DARK = ("#e8e6e1", "#a4a9b0", "#33383f", "#14171b", "#1b1f24")
PALETTES: dict[Theme, Palette] = {
    "light": Palette(LIGHT, *ON_LIGHT, "#00745b", "#8a5a00", "#b3370a", "#596069"),
    "dark": Palette(DARK, *ON_DARK, "#4fd1aa", "#f0bc4d", "#ff9466", "#a4a9b0"),
}

# The colour on dark pages for every colour on light ones.
DARK_OF = dict(zip(*[(*each.cycle, *each[1:]) for each in PALETTES.values()], strict=True))
COLOUR = re.compile(r"#[0-9a-f]{6}\b")

MARKS = {"holds": "✓", "differs": "≠", "refuted": "✗", "open": "?"}
"""A verdict is never shown by colour alone."""


def settings(theme: Theme) -> dict[Any, Any]:
    """The matplotlib settings that depend on the theme."""
    from cycler import cycler

    palette = PALETTES[theme]
    grounds = ("figure.facecolor", "savefig.facecolor", "axes.facecolor")
    words = ("text.color", "axes.labelcolor", "axes.titlecolor", "xtick.labelcolor")
    lines = ("axes.edgecolor", "xtick.color", "ytick.color", "patch.edgecolor")
    panes = [f"axes3d.{axis}axis.panecolor" for axis in "xyz"]
    return {
        "axes.prop_cycle": cycler(color=palette.cycle),
        **dict.fromkeys([*grounds, "legend.facecolor"], palette.raised),
        **dict.fromkeys([*words, "ytick.labelcolor", "legend.labelcolor"], palette.ink),
        **dict.fromkeys([*lines, "hatch.color"], palette.soft),
        **dict.fromkeys(["grid.color", "legend.edgecolor"], palette.line),
        **dict.fromkeys(panes, palette.paper),
    }


@contextlib.contextmanager
def style(theme: Theme) -> Iterator[None]:
    """A scope in which matplotlib draws in that theme."""
    import matplotlib

    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(matplotlib.rc_params_from_file(STYLE, False))
        matplotlib.rcParams.update(settings(theme))
        yield


def recolour_for_dark(svg: str) -> str | None:
    """A light drawing in the colours of dark pages; None if it has pixels, or colours of its own."""
    if "<image" in svg or not DARK_OF.keys() >= set(COLOUR.findall(svg)):
        return None
    return COLOUR.sub(lambda found: DARK_OF[found[0]], svg)
