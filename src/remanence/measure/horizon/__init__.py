"""How long a network remembers: a panel of horizons, each with its meaning."""

from .panel import memory_horizon as memory_horizon
from .record import (
    MEANINGS as MEANINGS,
    Measure as Measure,
    MemoryHorizon as MemoryHorizon,
    shown as shown,
)
