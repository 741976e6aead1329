"""Cells put to work."""

from .batch import on_batch
from .cross_entropy import token_cross_entropy
from .generator import ClosedLoop, Generator
from .recurrent import Recurrent, unroll
from .truncated import truncate, Truncated, window_states
