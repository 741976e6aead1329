"""Small helpers for plain numbers."""

from typing import Any

import numpy as np


def mean(values: Any) -> float:
    """The mean as a plain number."""
    return float(np.mean([float(v) for v in values]))


def finite(value: Any) -> float | None:
    """A plain number, or None for what is not finite."""
    return None if value is None or not np.isfinite(value) else float(value)


def overlap(one: tuple[int, ...], other: tuple[int, ...]) -> float:
    """Size of the intersection over that of the union."""
    return len({*one} & {*other}) / max(len({*one} | {*other}), 1)


def listed(values: Any) -> str:
    """Numbers in a row."""
    return ", ".join(f"{v:.3g}" for v in values)
