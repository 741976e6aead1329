"""The frame that every page shares: head, colours, brand, foot. All text is escaped."""

import functools
import html
import pathlib

from .style import MARKS, PALETTES


ASSETS = pathlib.Path(__file__).parent / "assets"

LOGO = (
    '<svg viewBox="0 0 32 32" aria-hidden="true" fill="none" stroke-width="2.4" '
    'stroke-linecap="round"><path d="M3 16h26M16 4v24" stroke="var(--line)" '
    'stroke-width="1.4"/><path d="M4 26C15 26 13 6 28 6" stroke="var(--c0)"/>'
    '<path d="M4 26C19 26 17 6 28 6" stroke="var(--c1)"/></svg>'
)
"""A hysteresis loop: what stays when the field is gone."""


def plotly_script() -> pathlib.Path:
    """Plotly's script, from its Python package."""
    import plotly

    return pathlib.Path(plotly.__file__).parent / "package_data" / "plotly.min.js"


def escape(text: object) -> str:
    """Text as text, whatever is in it."""
    return html.escape(str(text), quote=True)


@functools.cache
def stylesheet() -> str:
    """The page's CSS with the colours of both themes in it."""

    def variables(theme) -> str:
        palette = PALETTES[theme]
        names = ("ink", "soft", "line", "paper", "raised", *MARKS)
        colours = {name: getattr(palette, name) for name in names}
        colours |= {f"c{n}": colour for n, colour in enumerate(palette.cycle)}
        return ";".join(f"--{name}:{colour}" for name, colour in colours.items())

    css = (ASSETS / "page.css").read_text(encoding="utf-8")
    night = (
        f"@media screen and (prefers-color-scheme:dark){{:root{{{variables('dark')}}}}}"
    )
    return f":root{{{variables('light')}}}{night}\n{css}"


def badge(verdict: str, profile: str = "full", count: int | None = None) -> str:
    """A verdict with its mark, never by colour alone."""
    text = f"{count} {verdict}" if count is not None else verdict
    quick = "" if profile == "full" else f" <small>({escape(profile)})</small>"
    return (
        f'<span class="verdict {escape(verdict)}"><span aria-hidden="true">'
        f"{MARKS[verdict]}</span> {escape(text)}{quick}</span>"
    )


JUDGED = "Every verdict on this page was computed by a rule from what was measured."


def page(
    *,
    title: str,
    lead: str,
    body: str,
    home: str,
    scripts: str = "",
    foot: str = "",
) -> str:
    """A whole HTML document; `lead` and `body` are HTML, `title` and `foot` are text."""
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>{escape(title)}</title>
<link rel="icon" href="data:,">
<style>{stylesheet()}</style>
</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
<header><div>
<div class="brand"><a href="{escape(home)}">{LOGO}<span>remanence</span></a></div>
<div class="lead">{lead}</div>
</div></header>
<main id="main">
{body}
</main>
<footer>remanence: a laboratory for memory in recurrent networks. {escape(foot)}</footer>
{scripts}
</body>
</html>
"""
