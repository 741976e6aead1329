"""Cells put to work."""

from .recurrent import Recurrent as Recurrent
from .unroll import unroll as unroll
