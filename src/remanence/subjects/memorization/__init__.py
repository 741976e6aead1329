"""Memorization: strings written straight into weights, and how small they can be."""

from .certificates.certificate import Certificate as Certificate
from .certificates.file_check import check as check, Checked as Checked
from .memorize import memorize as memorize
from .memory import Memory as Memory
from .minimal.cheapest_harmonics import MinimalDimension as MinimalDimension
from .minimal.minimal_dimension import minimal_dimension as minimal_dimension
from .minimal.refutation import Refutation as Refutation
from .words import END as END, necklaces as necklaces, START as START, Word as Word, word as word
from .written import Written as Written
