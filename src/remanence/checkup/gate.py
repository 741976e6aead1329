"""A gate: `window<=128` holds or it does not, and an unknown figure is no pass."""

import math
import operator
import re
from collections.abc import Callable, Mapping

from .figures import FIGURES


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

    >>> failure("window<=128", {"window": 120.0}) is None
    True
    >>> failure("window<=100", {"window": 120.0})
    'required window<=100, found 120'
    """
    name, sign, number = parse_requirement(requirement)
    value = figures[name]
    if value is None or math.isnan(value):
        return f"required {name}{sign}{number:g}, but {name} is not known"
    if COMPARISONS[sign](value, number):
        return None
    return f"required {name}{sign}{number:g}, found {value:.6g}"
