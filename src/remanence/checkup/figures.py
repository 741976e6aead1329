"""Every figure of a checkup, once: the table, the gate, the comparison, the page and the lab read this list."""

import dataclasses
import math
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ..measure.horizon import MEANINGS, shown


Found = Any  # a `Checkup`: its record reads this file, which therefore does not import it


@dataclasses.dataclass(frozen=True)
class CheckupFigure:
    """One number of a checkup: its names, its unit, its meaning, and where it is found."""

    name: str  # as `--require` and the JSON document call it
    title: str
    unit: str
    meaning: str
    value: Callable[[Found], float | None]  # the number; None where it is not known
    remark: Callable[[Found], str] = lambda found: ""
    chief: bool = False  # whether it stands in the terminal's table and in that of many checkpoints

    def text(self, found: Found) -> str:
        """The value with its unit, steps by their own name, or that it is not known."""
        value, unit = self.value(found), self.unit.replace("steps", found.unit)
        if value is None:
            return shown(None)
        unit = unit.removesuffix("s") if value == 1 else unit
        return f"{shown(value)} {unit}".rstrip()


def _panel(name: str, title: str, measure: str, *, chief: bool = False) -> CheckupFigure:
    """A horizon of the panel, which says itself what it means."""
    value = lambda found: found.horizon[measure]
    remark = lambda found: next(m.remark for m in found.horizon.measures if m.name == measure)
    unit = "units" if measure == "capacity" else "steps"
    return CheckupFigure(name, title, unit, MEANINGS[measure], value, remark, chief)


FIGURES: dict[str, CheckupFigure] = {
    figure.name: figure
    for figure in (
        _panel("window", "replay window", "window", chief=True),
        CheckupFigure(
            "window_95",
            "at 95 % of positions",
            "steps",
            "The window that is enough there; the others would be off by more.",
            lambda found: found.horizon.replay.q95,
        ),
        CheckupFigure(
            "window_median",
            "at half of positions",
            "steps",
            "The window that is enough at every second position.",
            lambda found: found.horizon.replay.median,
        ),
        _panel("certified_window", "proved window", "certified window", chief=True),
        _panel("remembers", "gradient horizon", "gradient", chief=True),
        CheckupFigure(
            "plateau",
            "level that stays",
            "",
            "Where the median gradient stops falling, relative to lag 0: this much is not "
            "forgotten within the lags looked at.",
            lambda found: getattr(found.horizon.gradients.plateau, "level", None),
            lambda found: str(found.horizon.gradients.plateau or "none: it goes on falling"),
        ),
        CheckupFigure(
            "largest_exponent",
            "largest exponent",
            "nats a step",
            "The rate at which the slowest direction grows, or fades if it is negative.",
            lambda found: float(found.spectrum.exponents[0]),
            lambda found: found.spectrum.verdict,
            chief=True,
        ),
        CheckupFigure(
            "largest_exponent_stderr",
            "its standard error",
            "nats a step",
            "From the scatter between batches of steps.",
            lambda found: float(found.spectrum.stderr[0]),
        ),
        _panel("exponent_horizon", "horizon by the exponent", "exponent"),
        _panel("capacity", "linear memory capacity", "capacity", chief=True),
        CheckupFigure(
            "contraction_rate",
            "certified contraction rate",
            "a step",
            "Any two states come closer by this factor; 1 and above prove nothing.",
            lambda found: getattr(found.horizon.certificate, "rate", None),
        ),
        CheckupFigure(
            "spectral_radius",
            "spectral radius of the Jacobian",
            "",
            "The largest modulus of its eigenvalues at the mean state and mean input.",
            lambda found: float(np.abs(found.eigenvalues).max()),
        ),
        CheckupFigure(
            "fixed_points",
            "fixed points",
            "",
            "Found from states visited, at the mean input.",
            lambda found: (
                None if found.fixed_remark else float(sum(p.kind == "fixed" for p in found.fixed))
            ),
            lambda found: found.fixed_sentence,
            chief=True,
        ),
    )
}

COMPARISONS: dict[str, Callable[[float, float], bool]] = {
    "<=": operator.le,
    ">=": operator.ge,
    "<": operator.lt,
    ">": operator.gt,
    "==": operator.eq,
}
PATTERN = re.compile(
    r"\s*([a-z_0-9]+)\s*(<=|>=|==|<|>)\s*(-?(?:(?:\d+\.?\d*|\.\d+)(?:e-?\d+)?|inf))\s*"
)


def parse_requirement(requirement: str) -> tuple[str, str, float]:
    """The name, the comparison and the number of a requirement such as `window<=128`."""
    match = PATTERN.fullmatch(requirement)
    if match is None:
        raise ValueError(
            f"a requirement reads like 'window<=128' or 'largest_exponent<0', got {requirement!r}"
        )
    name, sign, number = match.groups()
    if name not in FIGURES:
        raise ValueError(f"no figure is called {name!r}; there are {', '.join(FIGURES)}")
    return name, sign, float(number)


def failure(requirement: str, figures: Mapping[str, float | None]) -> str | None:
    """The sentence that says why a requirement fails, or None if it holds.

    >>> failure("window<=100", {"window": 120.0})
    'required window<=100, found 120'
    """
    name, sign, number = parse_requirement(requirement)
    value = figures.get(name)  # a language model has fewer
    if value is None or math.isnan(value):
        return f"required {name}{sign}{number:g}, but {name} is not known"
    if COMPARISONS[sign](value, number):
        return None
    return f"required {name}{sign}{number:g}, found {value:.6g}"


WIDE = 4  # networks beyond which each has a row of its own, with fewer figures


def comparison_table(found: Sequence[Found]) -> list[list[str]]:
    """A row for each figure and a column for each network, heads first; of many a row each."""
    columns = [checkup.figures for checkup in found]
    if len(found) > WIDE:
        chief = [name for name, figure in FIGURES.items() if figure.chief]
        pairs = zip(found, columns, strict=True)
        rows = [[each.name, *(shown(column[name]) for name in chief)] for each, column in pairs]
        return [["network", *chief], *rows]
    two = len(found) == 2
    rows = [["figure", *(checkup.name for checkup in found), *(["change"] if two else [])]]
    for name in FIGURES:
        values = [column[name] for column in columns]
        rows.append([name, *map(shown, values), *([_change(*values)] if two else [])])
    return rows


def _change(first: float | None, second: float | None) -> str:
    if first is None or second is None or math.isnan(second - first):
        return "same" if first is not None and first == second else ""
    return "same" if first == second else f"{second - first:+.3g}"
