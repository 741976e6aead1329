"""Cells put to work."""

from .batch import on_batch as on_batch
from .cross_entropy import token_cross_entropy as token_cross_entropy
from .generator import ClosedLoop as ClosedLoop, Generator as Generator
from .recurrent import Recurrent as Recurrent, unroll as unroll
from .truncated import truncate as truncate, Truncated as Truncated, window_states as window_states
