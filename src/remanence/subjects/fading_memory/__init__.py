"""Fading memory: weakly coupled residual networks and informed residuals."""

from .informed_residual import informed_residual, InformedResidual, power_spectrum
from .residual_spectrum import jordan_block, spectral, weak_coupling_bound
