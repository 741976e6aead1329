"""The record of a panel of horizons: each value with its unit and its meaning."""

import dataclasses
import math

from ..._show import aligned, html_table
from ..capacity import MemoryCapacity
from ..contraction import Contraction
from ..gradients import GradientDecay
from ..lyapunov import Spectrum
from ..replay import ReplayWindow


MEANINGS = {
    "gradient": "Half of the positions have, from this lag on, less than 1/e of the gradient "
    "that the state has at once: 'remembers about n steps' means this.",
    "exponent": "1/|λ₁|: in this time the slowest direction of all fades by e, in the long run.",
    "half-life": "A random small perturbation of the state has fallen to half and stays below.",
    "window": "Started from its empty state and given this many of the last inputs, or more, the "
    "network's output is within the allowed error of the full run's, wherever it was measured.",
    "certified window": "The same with a proof, for every input in the bound.",
    "capacity": "Linear memory capacity: how many past inputs a linear readout could recall, "
    "summed over lags, corrected for chance.",
}


@dataclasses.dataclass(frozen=True)
class Measure:
    """One horizon: its name and its value in steps (capacity: in units)."""

    name: str
    value: float | None
    remark: str = ""

    @property
    def meaning(self) -> str:
        """What the horizon of this name is."""
        return MEANINGS[self.name]

    @property
    def text(self) -> str:
        """The value with its unit, or that it is not known."""
        if self.value is None:
            return shown(None)
        unit = "unit" if self.name == "capacity" else "step"
        return f"{shown(self.value)} {unit}{'' if self.value == 1 else 's'}"

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
        rows = [(each.name, str(each).removeprefix(f"{each.name}: ")) for each in self.measures]
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
