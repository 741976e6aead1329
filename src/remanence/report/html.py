"""Pages from templates: one frame (head, colours, brand, foot), all text escaped."""

import functools
import pathlib
from typing import Any

import jinja2
from markupsafe import Markup

from .style import MARKS, PALETTES, Theme
from .typeset import paragraphs, typeset


TEMPLATES = pathlib.Path(__file__).parent / "templates"


@functools.cache
def stylesheet() -> str:
    """The page's CSS with the colours of both themes in it."""

    def variables(theme: Theme) -> str:
        colours = PALETTES[theme]._asdict()
        colours |= {f"c{n}": colour for n, colour in enumerate(colours.pop("cycle"))}
        return ";".join(f"--{name}:{colour}" for name, colour in colours.items())

    css = (TEMPLATES.parent / "assets" / "page.css").read_text(encoding="utf-8")
    dark = f"@media screen and (prefers-color-scheme:dark){{:root{{{variables('dark')}}}}}"
    return f":root{{{variables('light')}}}{dark}\n{css}"


@functools.cache
def environment(folder: pathlib.Path) -> jinja2.Environment:
    """The templates of a folder and ours, with the filters that they use."""
    found = jinja2.Environment(
        loader=jinja2.FileSystemLoader([folder, TEMPLATES]),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    found.filters |= {"typeset": typeset, "paragraphs": paragraphs}
    found.globals |= {"MARKS": MARKS, "stylesheet": Markup(stylesheet())}
    return found


def render(template: str, *, folder: pathlib.Path = TEMPLATES, **values: Any) -> str:
    """A whole HTML document from a template of `folder`, or of ours."""
    return environment(folder).get_template(template).render(values)
