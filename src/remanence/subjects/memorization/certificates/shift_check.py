r"""The shift map of a file in integers, in units of $1/(n^p - 1)$, and its certificate."""

import dataclasses
from fractions import Fraction
from typing import Any

import numpy as np

from ..words import Word
from ..written import Written
from .certificate import Certificate
from .integer_exactness import exact_certificate, shift_steps


def as_integers(array: Any) -> Any:
    """Python's integers, which do not wrap; fractions are refused."""
    if not isinstance(array, np.ndarray):
        return array
    exact = np.vectorize(Fraction, otypes=[object])(array)
    if any(x.denominator != 1 for x in exact.ravel()):
        raise ValueError("the weights are not whole numbers")
    return np.vectorize(int, otypes=[object])(exact) if exact.size else exact


def shift_in_integers(written: Written, word: Word, tensors: dict) -> Written:
    """The shift map in units of 1/(n^p - 1): its tensors, whole or refused.

    The state is a fraction; its numerator is kept as bytes, and the float beside it
    must be the same number, rounded.
    """
    base = int(as_integers(written.W_h)[0, 0])
    unit = base**word.period - 1
    outputs = len(word.alphabet)
    W_x = as_integers(written.W_x[:, :outputs]) * unit
    pairs = [(int.from_bytes(tensors.pop("h_0.numerator").tobytes(), "big"), written.h_0[0])]
    if written.inputs > outputs:
        start = int.from_bytes(tensors.pop("W_x.start.numerator").tobytes(), "big")
        pairs.append((start, written.W_x[0, -1]))
        W_x = np.concatenate([W_x, np.array([[start]], object)], axis=1)
    if any(float(Fraction(whole, unit)) != float(rounded) for whole, rounded in pairs):
        raise ValueError("the state in floating point is not the exact one, rounded")
    return Written(
        as_integers(written.W_h),
        as_integers(written.W_y),
        as_integers(written.b_y) * unit,
        np.array([pairs[0][0]], object),
        W_x=W_x,
        first=written.first,
        inputs=written.inputs,
    )


def shift_certificate(word: Word, exact: Written) -> Certificate:
    """One period in exact integers, and the steps that floating point survives."""
    base = int(exact.W_h[0, 0])
    unit = base**word.period - 1
    found = exact_certificate(exact, word.indices, unit=unit)
    states = exact.orbit(word.period)[:, 0]
    digits = {k: i for i, k in enumerate(word.used)}
    rooms = []
    for state, label in zip(states, word.indices, strict=True):
        digit = digits[label]
        below = base * int(state) - digit * unit if digit else unit
        above = (digit + 1) * unit - base * int(state) if digit < base - 1 else unit
        rooms.append(min(below, above) / (base * unit))
    return dataclasses.replace(found, steps=shift_steps(rooms, base))
