"""Weights learned: one loop for every study, and files written whole."""

from .._whole import written_whole as written_whole
from .fit import Fit as Fit, fit as fit
from .loop import trained as trained
from .projection import stable as stable
from .shared import over_devices as over_devices
