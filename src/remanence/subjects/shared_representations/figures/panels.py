"""Panels side by side, and where a logarithmic axis ends."""

from typing import Any


FLOOR = 1e-12
"""Losses below are drawn here: rounding, not learning."""
LOSS = "test loss (½ MSE a word)"


def panels(columns: int) -> tuple[Any, Any]:
    """A figure with `columns` axes in a row."""
    import matplotlib.pyplot as plt

    return plt.subplots(1, columns, figsize=(4.6 * columns, 3.6), layout="constrained")


def legend_below(figure: Any, handles: Any, labels: Any, *, columns: int) -> None:
    """One legend under all panels."""
    style = {"loc": "outside lower center", "fontsize": 8, "frameon": False}
    figure.legend(handles, labels, ncols=columns, **style)
