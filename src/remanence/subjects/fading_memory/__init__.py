"""Fading memory: weakly coupled residual networks and informed residuals."""

from .informed_residual import (
    informed_residual as informed_residual,
    InformedResidual as InformedResidual,
    power_spectrum as power_spectrum,
)
from .residual_spectrum import (
    jordan_block as jordan_block,
    spectral as spectral,
    weak_coupling_bound as weak_coupling_bound,
)
