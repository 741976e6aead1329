"""Certificates that a cell forgets its past."""

from .ladder import contraction as contraction
from .record import Contraction as Contraction
from .twins import twin_rate as twin_rate
