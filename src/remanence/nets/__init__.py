"""Cells put to work."""

from .batch import on_batch as on_batch
from .closed_loop import ClosedLoop as ClosedLoop
from .cross_entropy import token_cross_entropy as token_cross_entropy
from .generator import Generator as Generator
from .recurrent import Recurrent as Recurrent
from .truncated import truncate as truncate, Truncated as Truncated, window_states as window_states
from .unroll import unroll as unroll
