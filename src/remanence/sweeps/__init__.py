"""Many runs as one: grids of lanes, computed in chunks, stored as they end."""

from ..train.store import opened_store as opened_store, Store as Store
from .sweep import sweep as sweep
from .worker import Unfinished as Unfinished
