"""Certificates that a cell forgets its past."""

from .blocks import StackProof as StackProof
from .certificate import contraction as contraction
from .metric import Domain as Domain
from .record import Contraction as Contraction
from .worst_pair import worst_pair_rate as worst_pair_rate
