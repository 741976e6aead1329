"""The size of every picture, and names as axes and legends show them."""

from typing import Any

from ..._escape import printable


SIZE = (6.4, 3.8)  # inches


def blank(**options: Any) -> tuple[Any, Any]:
    """A new figure and its axes, `plt.subplots(**options)` in the size of the page."""
    import matplotlib.pyplot as plt

    return plt.subplots(figsize=SIZE, **options)


def short(name: str) -> str:
    """The end of a long name, where checkpoints differ; no formula of matplotlib's."""
    name = printable(name)
    return (name if len(name) <= 16 else f"…{name[-15:]}").replace("$", r"\$")
