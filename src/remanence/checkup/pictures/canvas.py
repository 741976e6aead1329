"""The size of every picture."""

from typing import Any


SIZE = (6.4, 3.8)  # inches


def blank(**options: Any) -> tuple[Any, Any]:
    """A new figure and its axes, `plt.subplots(**options)` in the size of the page."""
    import matplotlib.pyplot as plt

    return plt.subplots(figsize=SIZE, **options)
