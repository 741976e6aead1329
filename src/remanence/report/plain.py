"""One JSON document for one meaning: sorted keys, six digits, no surprise.

The same evidence always gives the same bytes, so two runs compare with `cmp`.
A number that is not finite is written as a word ("nan", "inf", "-inf"), since
JSON has none for it.
"""

import json
import math
from collections.abc import Mapping
from typing import Any

import numpy as np


DIGITS = 6


def rounded(number: float) -> float | str:
    """A float to six significant digits, or the word for what is not finite."""
    return float(f"{number:.{DIGITS}g}") if math.isfinite(number) else str(number)


def plain(value: Any) -> Any:
    """The same value as JSON knows it; refuses what has no plain form."""
    match value:
        case None | bool() | str():
            return value
        case np.bool_():
            return bool(value)
        case int() | np.integer():
            return int(value)
        case float() | np.floating():
            return rounded(float(value))
        case complex() | np.complexfloating():
            return [rounded(float(value.real)), rounded(float(value.imag))]
        case Mapping():
            return {str(key): plain(item) for key, item in value.items()}
        case list() | tuple():
            return [plain(item) for item in value]
        case set() | frozenset():
            return sorted((plain(item) for item in value), key=repr)
    if hasattr(value, "__array__"):
        return plain(np.asarray(value).tolist())
    raise TypeError(f"evidence holds a {type(value).__name__}, which JSON cannot say")


def json_bytes(value: Any) -> bytes:
    """The canonical JSON document of a value, ending in a newline."""
    document = json.dumps(
        plain(value), sort_keys=True, indent=2, ensure_ascii=False, allow_nan=False
    )
    return (document + "\n").encode("utf-8", "backslashreplace")
