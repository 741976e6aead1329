"""Equations of the documentation as MathML, by the renderer of the results pages."""

import html
import re

from remanence.report.typeset import mathml


EQUATION = re.compile(r'<(?P<tag>span|div) class="arithmatex">(?P<body>.*?)</(?P=tag)>', re.DOTALL)


def _mathml(match: re.Match) -> str:
    body = html.unescape(match["body"]).strip()
    for opening, closing in ((r"\(", r"\)"), (r"\[", r"\]")):
        body = body.removeprefix(opening).removesuffix(closing)
    return mathml(body, "block" if match["tag"] == "div" else "inline")


def on_page_content(content: str, **_) -> str:
    """Called by mkdocs for every page."""
    return EQUATION.sub(_mathml, content)
