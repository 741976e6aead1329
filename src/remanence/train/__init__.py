"""Weights learned: one loop for every study, and files written whole."""

from .._atomic_write import write_atomically as write_atomically
from .fit import Fit as Fit, fit as fit
from .loop import trained as trained
from .projection import stable as stable
