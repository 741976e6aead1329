"""Cells put to work."""

from .batch import on_batch as on_batch
from .closed_loop import ClosedLoop as ClosedLoop
from .gated_linear import GatedLinear as GatedLinear, relabelled as relabelled
from .generator import Generator as Generator
from .recurrent import Recurrent as Recurrent
from .truncated import truncate as truncate, Truncated as Truncated
from .unroll import unroll as unroll
