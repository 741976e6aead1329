"""Operators that only rearrange constants, computed in NumPy."""

from collections.abc import Callable
from typing import Any

import numpy as np


DTYPES = {1: np.float32, 6: np.int32, 7: np.int64, 10: np.float16, 11: np.float64}
"""What `Cast` may turn numbers into, by ONNX's numbers for kinds."""
Inputs = list[Any]


def _axes(inputs: Inputs, settings: dict[str, Any]) -> tuple[int, ...] | None:
    given = inputs[1] if len(inputs) > 1 else settings.get("axes")
    return None if given is None else tuple(int(axis) for axis in given)


def _slice(inputs: Inputs, settings: dict[str, Any], room: int) -> list[np.ndarray]:
    value = inputs[0]
    lists = [[] if v is None else list(map(int, v)) for v in inputs[1:]]
    if len(inputs) == 1:  # before opset 10
        lists = [settings["starts"], settings["ends"], settings.get("axes", [])]
    starts, ends, axes, steps = (*lists, [], [])[:4]
    cut: list[slice] = [slice(None)] * value.ndim
    for i, axis in enumerate(axes or range(len(starts))):
        step = steps[i] if steps else 1
        end = ends[i]
        # A backward slice to before the first entry is written as a very small end.
        stop = None if step < 0 and end < -value.shape[axis] else end
        cut[axis] = slice(starts[i], stop, step)
    return [value[tuple(cut)]]


def _concat(inputs: Inputs, settings: dict[str, Any], room: int) -> list[np.ndarray]:
    if sum(each.size for each in inputs) > room:
        raise ValueError("it makes more numbers than the file holds")
    return [np.concatenate(inputs, settings["axis"])]


def _reshape(inputs: Inputs, settings: dict[str, Any], room: int) -> list[np.ndarray]:
    keep = not settings.get("allowzero", 0)
    sizes = [inputs[0].shape[i] if keep and n == 0 else int(n) for i, n in enumerate(inputs[1])]
    return [inputs[0].reshape(sizes)]


def _split(inputs: Inputs, settings: dict[str, Any], room: int) -> list[np.ndarray]:
    axis, sizes = settings.get("axis", 0), settings.get("split")
    if len(inputs) > 1 and inputs[1] is not None:
        sizes = inputs[1]
    if sizes is None:
        return np.split(inputs[0], settings["num_outputs"], axis)
    return np.split(inputs[0], np.cumsum(sizes)[:-1], axis)


def _unsqueeze(inputs: Inputs, settings: dict[str, Any], room: int) -> list[np.ndarray]:
    axes = _axes(inputs, settings) or ()
    if inputs[0].ndim + len(axes) > 32:
        raise ValueError("it makes more than 32 dimensions")
    return [np.expand_dims(inputs[0], axes)]


FOLDED: dict[str, Callable[[Inputs, dict[str, Any], int], list[np.ndarray]]] = {
    "Identity": lambda inputs, settings, room: [inputs[0]],
    "Cast": lambda inputs, settings, room: [inputs[0].astype(DTYPES[settings["to"]])],
    "Transpose": lambda inputs, settings, room: [np.transpose(inputs[0], settings.get("perm"))],
    "Squeeze": lambda inputs, settings, room: [np.squeeze(inputs[0], _axes(inputs, settings))],
    "Unsqueeze": _unsqueeze,
    "Concat": _concat,
    "Slice": _slice,
    "Reshape": _reshape,
    "Split": _split,
}
