"""What a figure draws, read off the drawing itself, beside the verdict of the claim it shows."""

import matplotlib.pyplot as plt

from remanence.report import judge
from remanence.subjects import STUDIES, study


CLAIMS = {claim.id: claim for name in STUDIES for claim in study(name).claims}
DRAWS = 20
"""Tables of made-up numbers, some with an effect of the claimed size and some without."""


def verdict_and_evidence(id, results):
    claim = CLAIMS[id]
    row = judge(claim, claim.evidence(results), document="", command="", profile="full")
    return row.verdict, row.evidence


def drawn_axes(draw, *given):
    """The axes of a drawing that is closed at once."""
    figure = draw(*given)
    plt.close(figure)
    return figure.axes


def lines_of(axes):
    """The lines of a drawing by their labels."""
    return {line.get_label(): line.get_ydata() for line in axes.lines}
