"""Equations as MathML, so that the pages need no network."""

import html
import re

from latex2mathml.converter import convert


EQUATION = re.compile(
    r'<(?P<tag>span|div) class="arithmatex">(?P<body>.*?)</(?P=tag)>', re.DOTALL
)


def _mathml(match: re.Match) -> str:
    body = html.unescape(match["body"]).strip()
    display = "block" if match["tag"] == "div" else "inline"
    for opening, closing in ((r"\(", r"\)"), (r"\[", r"\]")):
        body = body.removeprefix(opening).removesuffix(closing)
    return convert(body, display=display)


def on_page_content(content: str, **_) -> str:
    """Called by mkdocs for every page."""
    return EQUATION.sub(_mathml, content)
