"""The record of a panel of horizons: each value with its unit and its meaning."""

import dataclasses
import math

from ..._show import aligned, html_table
from ..capacity import MemoryCapacity
from ..contraction import Contraction
from ..gradients import GradientDecay
from ..lyapunov import Spectrum
from ..replay import ReplayWindow


@dataclasses.dataclass(frozen=True)
class Measure:
    """One horizon: its name, its value in steps (or units), and what it means."""

    name: str
    value: float | None
    unit: str
    meaning: str
    remark: str = ""

    @property
    def text(self) -> str:
        """The value with its unit, or that it is not known."""
        if self.value is None:
            return shown(None)
        unit = self.unit.removesuffix("s") if self.value == 1 else self.unit
        return f"{shown(self.value)} {unit}"

    def __str__(self) -> str:
        return f"{self.name}: {self.text}" + (f" ({self.remark})" if self.remark else "")


@dataclasses.dataclass(frozen=True, kw_only=True)
class MemoryHorizon:
    """Every horizon of one network on its inputs, and why they may disagree."""

    measures: tuple[Measure, ...]
    notes: tuple[str, ...]
    error: float
    spectrum: Spectrum
    gradients: GradientDecay
    replay: ReplayWindow
    capacity: MemoryCapacity | None
    certificate: Contraction | None

    @property
    def remembers(self) -> float:
        """Steps, by the definition that opens `panel.py`."""
        return self.gradients.remembers

    def __getitem__(self, name: str) -> float | None:
        for measure in self.measures:
            if measure.name == name:
                return measure.value
        names = ", ".join(measure.name for measure in self.measures)
        raise KeyError(f"no horizon is called {name!r}; there are {names}")

    @property
    def _rows(self) -> list[tuple[str, str]]:
        remark = lambda measure: f" ({measure.remark})" if measure.remark else ""
        rows = [(each.name, f"{each.text}{remark(each)}") for each in self.measures]
        return rows + [("note", note) for note in self.notes]

    def __str__(self) -> str:
        return aligned(f"remembers about {shown(self.remembers)} steps", self._rows)

    def _repr_html_(self) -> str:
        return html_table(f"remembers about {shown(self.remembers)} steps", self._rows)


def shown(value: float | None) -> str:
    """A figure in words where it is none."""
    if value is None:
        return "not known"
    if math.isinf(value):
        return "unbounded" if value > 0 else "-inf"
    return f"{value:.4g}"
