"""Weights written down."""

from .adder import (
    Adder as Adder,
    adder as adder,
    spread_frequencies as spread_frequencies,
)
from .certificate import Certificate as Certificate
from .checked import check as check, Checked as Checked
from .informed_residual import (
    informed_residual as informed_residual,
    InformedResidual as InformedResidual,
)
from .mean_power import power_spectrum as power_spectrum
from .memorize import memorize as memorize
from .memory import Memory as Memory
from .minimal_dimension import (
    minimal_dimension as minimal_dimension,
    MinimalDimension as MinimalDimension,
)
from .refutation import Refutation as Refutation
from .residual_spectrum import (
    elman_with_spectrum as elman_with_spectrum,
    heterogeneous as heterogeneous,
    jordan_block as jordan_block,
    orthogonal as orthogonal,
    rotational as rotational,
    spectral as spectral,
    weak_coupling_bound as weak_coupling_bound,
)
from .written import Written as Written
