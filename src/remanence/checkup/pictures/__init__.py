"""The pictures of a checkup."""

from collections.abc import Sequence

from ...report import Figure
from ..figures import Found
from . import memory, network


def memory_pictures(found: Sequence[Found]) -> tuple[Figure, ...]:
    """How memory fades, all networks in the same axes."""
    makers = (memory.windows, memory.gradients, memory.spectrum)
    return tuple(figure for make in makers if (figure := make(found)) is not None)


def network_pictures(found: Found) -> tuple[Figure, ...]:
    """What one network looks like: its units, weights and states."""
    makers = (network.units, network.eigenvalues, network.fixed_points)
    return tuple(figure for make in makers if (figure := make(found)) is not None)
