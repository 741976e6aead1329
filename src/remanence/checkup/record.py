"""What a checkup found: a verdict in one sentence, every figure, and the pictures."""

import dataclasses
import pathlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from .._show import html_table
from ..measure import FixedPoint, MemoryHorizon, Spectrum
from .figures import FIGURES
from .headline import headline
from .units import UnitTimescales


def pick(record: Any, names: str) -> dict[str, Any]:
    """Some attributes of a record by their names."""
    return {name: getattr(record, name) for name in names.split()}


@dataclasses.dataclass(frozen=True, kw_only=True, repr=False)
class Checkup:
    """One network on one sequence: how long it remembers, and how that is known."""

    name: str
    network: str  # what it is: kind, units, inputs, layers
    inputs: str  # what it was driven by, as it stands after "on"
    unit: str  # what one step is: steps, tokens, bytes or characters
    quick: bool
    horizon: MemoryHorizon
    fixed: tuple[FixedPoint, ...]
    fixed_remark: str  # why there are no fixed points, where they were not looked for
    eigenvalues: np.ndarray  # of the Jacobian at the mean state and the mean input
    orbit: np.ndarray  # states visited, for the picture of the fixed points
    units: tuple[UnitTimescales, ...] = ()  # how long each unit of each layer holds its own value
    weights: str = ""  # what of a file was taken for what, and what was not used
    remarks: tuple[str, ...] = ()  # what of the inputs is doubtful, or was left out

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
        for figure in (figure for figure in FIGURES.values() if figure.chief):
            text = f"{figure.title:<27}{figure.text(self):<21}{figure.remark(self)}"
            lines.append(text.rstrip())
        return "\n".join(lines)

    __str__ = summary.fget  # pyright: ignore[reportAssignmentType]

    def __repr__(self) -> str:
        return f"<Checkup of {self.name}: {self.verdict}>"

    def _repr_html_(self) -> str:
        remark = lambda row: f" ({row['remark']})" if row["remark"] else ""
        rows = [(row["title"], row["text"] + remark(row)) for row in self.table]
        return html_table(f"{self.name}: {self.verdict}", rows)

    @property
    def table(self) -> list[dict[str, str]]:
        """Every figure in words, for people: name, title, value with unit, meaning, remark."""
        words = lambda figure: {"text": figure.text(self), "remark": figure.remark(self)}
        return [pick(each, "name title meaning") | words(each) for each in FIGURES.values()]

    @property
    def fixed_sentence(self) -> str:
        """What is known about fixed points, in a few words."""
        if self.fixed_remark:
            return self.fixed_remark
        if not self.fixed:
            return "none found from the states tried, at the mean input"
        kinds = [p.stability if p.kind == "fixed" else "slow" for p in self.fixed]
        counts = ", ".join(f"{kinds.count(word)} {word}" for word in dict.fromkeys(kinds))
        return f"{counts}, at the mean input"

    @property
    def document(self) -> dict[str, Any]:
        """Everything as plain values, for JSON."""
        decay, replay = self.horizon.gradients, self.horizon.replay
        evidence = pick(replay, "error worst q95 median scale positions evidence")
        if replay.cost is not None:
            keys = "windows loss excess accuracy full_loss targets"
            evidence["cost"] = pick(replay.cost, keys)
        exponents = pick(self.spectrum, "exponents stderr converged verdict steps warmup")
        exponents["low_95"], exponents["high_95"] = self.spectrum.confidence()
        fading = {f"quantile_{q}": decay.quantile(q / 100) for q in (10, 50, 90)}
        level = None if decay.plateau is None else dataclasses.asdict(decay.plateau)
        point = "kind stability speed radius unstable"
        return {
            **pick(self, "name network weights inputs quick verdict figures table notes"),
            "replay": evidence,
            "spectrum": exponents,
            "gradient_decay": fading | {"plateau": level},
            "fixed_points": [pick(each, point) for each in self.fixed],
        }

    @property
    def json(self) -> str:
        """The document as JSON; what is not finite is written as a word."""
        from ..report import json_bytes  # and with it jinja2

        return json_bytes(self.document).decode()

    def page(self, found: Sequence["Checkup"]) -> str:
        """The page of this network, the last of several."""
        from .page import checkup_page  # and with it matplotlib

        return checkup_page(found)

    def save(self, path: str | pathlib.Path) -> pathlib.Path:
        """Write the page (`.html`) or the figures (`.json`), whole or not at all."""
        from .outputs import write_page

        return write_page((self,), path)


class Checkups(dict[str, Checkup]):
    """The checkup of each recurrent network inside a model, by its name."""

    def save(self, path: str | pathlib.Path) -> pathlib.Path:
        """Write one page (`.html`), or all figures (`.json`)."""
        from .outputs import write_page

        return write_page([*self.values()], path)

    def __str__(self) -> str:
        return "\n\n".join(map(str, self.values()))

    def __repr__(self) -> str:
        return "\n".join(map(repr, self.values()))

    def _repr_html_(self) -> str:
        return "".join(each._repr_html_() for each in self.values())
