"""What Markdown does not set by itself: equations as MathML, and doctests as code."""

import html
import re

from markdown import Extension
from markdown.preprocessors import Preprocessor

from remanence.report.typeset import mathml


EQUATION = re.compile(r'<(?P<tag>span|div) class="arithmatex">(?P<body>.*?)</(?P=tag)>', re.DOTALL)
LONG = 40  # characters of TeX above which an equation in a line scrolls where a page is narrow
SCROLLS = "display:inline-block;max-width:100%;overflow-x:auto;vertical-align:bottom"


def _mathml(match: re.Match) -> str:
    body = html.unescape(match["body"]).strip()
    for opening, closing in ((r"\(", r"\)"), (r"\[", r"\]")):
        body = body.removeprefix(opening).removesuffix(closing)
    if match["tag"] == "div":
        return mathml(body, "block")
    return f'<span style="{SCROLLS}">{mathml(body)}</span>' if len(body) > LONG else mathml(body)


class _Doctests(Preprocessor):
    """Fences round the doctests of docstrings, which Markdown would take for quotations."""

    def run(self, lines: list[str]) -> list[str]:
        found, inside, fenced = [], False, False
        for line in [*lines, ""]:
            fenced ^= line.lstrip().startswith("```")
            begins = not (inside or fenced) and line.startswith(">>> ")
            ends = inside and not line.strip()
            found += ["```pycon"] * begins + ["```"] * ends + [line]
            inside = (inside or begins) and not ends
        return found


class Doctests(Extension):
    """Registers it before fences are read."""

    def extendMarkdown(self, md) -> None:
        md.preprocessors.register(_Doctests(md), "doctests", 200)


def on_config(config):
    """Called by mkdocs once; docstrings are set with the same extensions."""
    config.markdown_extensions.append(Doctests())
    return config


def on_page_content(content: str, **_) -> str:
    """Called by mkdocs for every page."""
    return EQUATION.sub(_mathml, content)
