"""How long a network remembers: a panel of horizons, each with its meaning."""

from .panel import memory_horizon as memory_horizon
from .record import Measure as Measure, MemoryHorizon as MemoryHorizon, shown as shown
