"""Canonical JSON: sorted keys, six significant digits, one document for one value.

The same evidence always gives the same bytes, so two runs compare with `cmp`. A number
that is not finite is written as a word ("nan", "inf", "-inf"), and read back as the number.
"""

import json
import math
from collections.abc import Mapping
from typing import Any

import numpy as np


DIGITS = 6


def plain(value: Any) -> Any:
    """The same value as JSON knows it; refuses what has no plain form."""
    if hasattr(value, "__array__"):
        value = np.asarray(value).tolist()
    match value:
        case None | str() | int():
            return value
        case float():
            return float(f"{value:.{DIGITS}g}") if math.isfinite(value) else str(value)
        case complex():
            return plain([value.real, value.imag])
        case Mapping():
            return {str(key): plain(item) for key, item in value.items()}
        case list() | tuple():
            return [plain(item) for item in value]
        case set() | frozenset():
            return sorted(map(plain, value), key=repr)
    raise TypeError(f"evidence holds a {type(value).__name__}, which JSON cannot say")


def numbers_of_words(value: Any) -> Any:
    """A value read from JSON, with the words for what is not finite as numbers again."""
    match value:
        case "nan" | "inf" | "-inf":
            return float(value)
        case dict():
            return {key: numbers_of_words(item) for key, item in value.items()}
        case list():
            return [numbers_of_words(item) for item in value]
    return value


def as_read_back(value: Any) -> Any:
    """What a reader of the stored document gets for the value."""
    return numbers_of_words(json.loads(json_bytes(value)))


def json_bytes(value: Any) -> bytes:
    """The canonical JSON document of a value, ending in a newline."""
    style = {"sort_keys": True, "indent": 2, "ensure_ascii": False, "allow_nan": False}
    return (json.dumps(plain(value), **style) + "\n").encode("utf-8", "backslashreplace")
