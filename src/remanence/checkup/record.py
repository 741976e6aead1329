"""What a checkup found: a verdict in one sentence, every figure, and the pictures."""

import dataclasses
import pathlib
from collections.abc import Mapping
from typing import Any

import numpy as np
from markupsafe import escape

from ..measure import FixedPoint, MemoryHorizon, Spectrum
from ..report import json_bytes
from .figures import FIGURES
from .headline import headline
from .units import UnitTimescales


@dataclasses.dataclass(frozen=True, kw_only=True, repr=False)
class Checkup:
    """One network on one sequence: how long it remembers, and how that is known."""

    name: str
    network: str
    """What it is: kind, units, inputs, layers."""
    inputs: str
    """What it was driven by, as it stands after "on"."""
    unit: str
    """What one step is: steps, tokens, bytes or characters."""
    quick: bool
    horizon: MemoryHorizon
    fixed: tuple[FixedPoint, ...]
    fixed_remark: str
    """Why there are no fixed points, where they were not looked for."""
    eigenvalues: np.ndarray
    """Of the Jacobian at the mean state and the mean input."""
    singular: Mapping[str, np.ndarray]
    """Singular values of every weight matrix, by name."""
    orbit: np.ndarray
    """States visited, for the picture of the fixed points."""
    units: tuple[UnitTimescales, ...] = ()
    """How long each unit of each layer holds its own value."""
    weights: str = ""
    """What of a file was taken for what, and what was not used."""
    remarks: tuple[str, ...] = ()
    """What of the inputs is doubtful, or was left out."""

    @property
    def spectrum(self) -> Spectrum:
        """The exponents with their errors."""
        return self.horizon.spectrum

    @property
    def figures(self) -> dict[str, float | None]:
        """Every figure by name; None where it is not known. `FIGURES` says what each means."""
        return {name: figure.value(self) for name, figure in FIGURES.items()}

    @property
    def verdict(self) -> str:
        """The finding in one sentence."""
        return "; ".join(headline(self))

    @property
    def notes(self) -> tuple[str, ...]:
        """Why the horizons disagree, where they do, and what of the inputs is doubtful."""
        return (*self.remarks, *self.horizon.notes)

    @property
    def summary(self) -> str:
        """The finding in about ten lines of plain text, the verdict first."""
        lines = [f"{self.name}: {self.verdict}.", "", f"network  {self.network}"]
        lines += [f"weights  {self.weights}"] if self.weights else []
        lines += [f"inputs   {self.inputs}", ""]
        lines += [
            f"{figure.title:<27}{figure.text(self):<21}{figure.remark(self)}".rstrip()
            for figure in FIGURES.values()
            if figure.chief
        ]
        return "\n".join(lines)

    __str__ = summary.fget  # pyright: ignore[reportAssignmentType]

    def __repr__(self) -> str:
        return f"<Checkup of {self.name}: {self.verdict}>"

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><th>{escape(row['title'])}</th><td>{escape(row['text'])}</td>"
            f"<td>{escape(row['remark'])}</td></tr>"
            for row in self.table
        )
        return f"<p><b>{escape(self.name)}</b>: {escape(self.verdict)}.</p><table>{rows}</table>"

    @property
    def table(self) -> list[dict[str, str]]:
        """Every figure in words, for people: name, title, value with unit, meaning, remark."""
        return [
            {
                "name": figure.name,
                "title": figure.title,
                "text": figure.text(self),
                "meaning": figure.meaning,
                "remark": figure.remark(self),
            }
            for figure in FIGURES.values()
        ]

    @property
    def fixed_sentence(self) -> str:
        """What is known about fixed points, in a few words."""
        if self.fixed_remark:
            return self.fixed_remark
        if not self.fixed:
            return "none found from the states tried, at the mean input"
        kinds: dict[str, int] = {}
        for point in self.fixed:
            word = point.stability if point.kind == "fixed" else "slow"
            kinds[word] = kinds.get(word, 0) + 1
        counts = ", ".join(f"{count} {word}" for word, count in kinds.items())
        return f"{counts}, at the mean input"

    @property
    def document(self) -> dict[str, Any]:
        """Everything as plain values, for JSON."""
        low, high = self.spectrum.confidence()
        level = self.horizon.gradients.plateau
        return {
            "name": self.name,
            "network": self.network,
            "weights": self.weights,
            "inputs": self.inputs,
            "quick": self.quick,
            "verdict": self.verdict,
            "figures": self.figures,
            "table": self.table,
            "notes": list(self.notes),
            "replay": self._replay,
            "spectrum": {
                "exponents": self.spectrum.exponents,
                "stderr": self.spectrum.stderr,
                "low_95": low,
                "high_95": high,
                "converged": self.spectrum.converged,
                "verdict": self.spectrum.verdict,
                "steps": self.spectrum.steps,
                "warmup": self.spectrum.warmup,
            },
            "gradient_decay": {
                f"quantile_{q}": self.horizon.gradients.quantile(q / 100) for q in (10, 50, 90)
            }
            | {"plateau": None if level is None else dataclasses.asdict(level)},
            "fixed_points": [
                {
                    "kind": p.kind,
                    "stability": p.stability,
                    "speed": p.speed,
                    "radius": p.radius,
                    "unstable": p.unstable,
                }
                for p in self.fixed
            ],
        }

    @property
    def _replay(self) -> dict[str, Any]:
        """The measured window with its evidence, and what shorter ones cost."""
        replay = self.horizon.replay
        keys = ("error", "worst", "q95", "median", "scale", "positions", "evidence")
        found = {key: getattr(replay, key) for key in keys}
        if (cost := replay.cost) is not None:
            keys = ("windows", "loss", "excess", "accuracy", "full_loss", "targets")
            found["cost"] = {key: getattr(cost, key) for key in keys}
        return found

    @property
    def json(self) -> str:
        """The document as JSON; what is not finite is written as a word."""
        return json_bytes(self.document).decode()

    def save(self, path: str | pathlib.Path) -> pathlib.Path:
        """Write the page (`.html`) or the figures (`.json`), whole or not at all."""
        from .outputs import save_checkups

        return save_checkups((self,), path)
