"""Results on a screen: a heading and aligned rows in a terminal, a table in a notebook."""

from collections.abc import Sequence

from markupsafe import escape


Rows = Sequence[tuple[str, str]]


def aligned(heading: str, rows: Rows) -> str:
    """A heading, and below it names and values in two columns."""
    width = max((len(name) for name, _ in rows), default=0)
    return "\n".join([heading, *(f"  {name:<{width}}  {value}".rstrip() for name, value in rows)])


def html_table(heading: str, rows: Rows) -> str:
    """The same for a notebook, everything escaped."""
    cells = "".join(f"<tr><th>{escape(k)}</th><td>{escape(v)}</td></tr>" for k, v in rows)
    return f"<p><b>{escape(heading)}</b></p><table>{cells}</table>"
