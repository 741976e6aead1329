"""The pictures of a checkup."""

from ...report import Figure
from ..record import Checkup
from . import memory, states, weights


def pictures(found: Checkup) -> tuple[Figure, ...]:
    """Every picture that the checkup has something for."""
    makers = (
        memory.spectrum,
        memory.gradients,
        memory.windows,
        states.eigenvalues,
        weights.singular,
        weights.fourier,
        states.fixed_points,
    )
    return tuple(figure for make in makers if (figure := make(found)) is not None)
