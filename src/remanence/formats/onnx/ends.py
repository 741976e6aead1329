"""What stands before and behind a recurrent operator in an ONNX graph."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..reading import Readout
from ..recurrent_cell import GATES
from .graph import array, attributes, DEEPEST, Scope


FREE = ("Squeeze", "Unsqueeze", "Identity", "Dropout", "Cast")
"""Operators that leave every vector as it is."""
SWAPPED = [1, 0, 2]
"""The transpose of batch and time."""
SCORES = ("Softmax", "LogSoftmax", "Sigmoid")
"""What turns the scores of a readout into probabilities."""


def _free(scope: Scope, node: Any, more: Sequence[str] = ()) -> bool:
    """Whether a node only changes how vectors are arranged."""
    if node.op_type == "Transpose" and not more:
        return attributes(scope.onnx, node).get("perm") == SWAPPED
    return node.op_type in (*FREE, *more) and bool(node.output and node.input)


def _behind(scope: Scope, name: str) -> tuple[str, list[Any], int]:
    """A value past what only rearranges it, who uses it then, and how often axes were swapped."""
    users, swaps = [], 0
    for _ in range(DEEPEST):
        users = [user for user in scope.used.get(name, []) if user.op_type != "Shape"]
        if len(users) != 1 or not _free(scope, users[0]):
            break
        swaps += users[0].op_type == "Transpose"
        name = users[0].output[0]
    return name, users, swaps


def _before(scope: Scope, name: str, more: Sequence[str] = ()) -> tuple[Scope, str]:
    """Where a value comes from, past what only rearranges it."""
    for _ in range(DEEPEST):
        while scope.parent is not None and name not in scope.made and name not in scope.given:
            scope = scope.parent
        node = scope.made.get(name)
        if node is None or not _free(scope, node, more):
            break
        name = node.input[0]
    return scope, name


def layer_above(scope: Scope, node: Any) -> Any:
    """The recurrent operator that takes this one's outputs directly, if there is one."""
    name, users, swaps = _behind(scope, node.output[0])
    above = [user for user in users if user.op_type in GATES and user.input[0] == name]
    # Along another axis than time it would be no layer of the same network.
    return above[0] if above and swaps % 2 == 0 else None


def zeros_of(scope: Scope, name: str) -> bool:
    """Whether a value is made of zeros, in a shape that depends on the model's inputs."""
    scope, name = _before(scope, name, ("Slice", "Expand", "Transpose"))
    node, value = scope.made.get(name), scope.constant(name)
    if node is not None and node.op_type == "ConstantOfShape":
        filled = attributes(scope.onnx, node).get("value")
        return filled is None or not array(scope.onnx, filled, scope.folder).any()
    return value is not None and not value.any()


def embedding_before(scope: Scope, name: str) -> tuple[str, np.ndarray] | None:
    """The matrix whose rows a value consists of, with its name."""
    scope, name = _before(scope, name)
    node = scope.made.get(name)
    if node is None or node.op_type != "Gather" or attributes(scope.onnx, node).get("axis", 0):
        return None
    rows = scope.constant(node.input[0])
    return (node.input[0], rows) if rows is not None and rows.ndim == 2 else None


def readout_behind(scope: Scope, node: Any) -> Readout | str:
    """The readout behind an operator, or why there is none."""
    why = "nothing reads its outputs"
    for name, positions in zip(node.output, ("every", "last"), strict=False):
        if name and name in scope.used:
            found = _affine(scope, name, positions)
            if isinstance(found, Readout):
                return found
            why = found
    return why


def _affine(scope: Scope, name: str, positions: str) -> Readout | str:
    name, users, _ = _behind(scope, name)
    if len(users) == 1 and users[0].op_type == "Gather" and _last(scope, users[0]):
        positions = "last"
        name, users, _ = _behind(scope, users[0].output[0])
    if len(users) != 1:
        return "its outputs go to several places" if users else "they are the outputs"
    (user,) = users
    if user.op_type not in ("MatMul", "Gemm") or user.input[0] != name:
        return f"{user.op_type} reads its outputs"
    W, b = _matrix(scope, user), None
    if W is None:
        return f"the matrix of {user.op_type} is computed in the graph"
    title, name = user.input[1], user.output[0]
    if user.op_type == "Gemm":
        b = scope.constant(user.input[2]) if len(user.input) > 2 else None
    elif [each.op_type for each in scope.used.get(name, [])] == ["Add"]:
        (add,) = scope.used[name]
        (other,) = [each for each in add.input if each != name] or [""]
        b = scope.constant(other)
        name = add.output[0] if b is not None else name
    if b is not None and b.size != len(W):
        return f"the bias behind {title} does not fit it"
    remark = _until_output(scope, name)
    if remark is None:
        return f"more than {title} stands between its outputs and the model's"
    return Readout(title, W, None if b is None else np.ravel(b), positions, remark)


def _last(scope: Scope, node: Any) -> bool:
    """Whether a Gather takes the last step."""
    index = scope.constant(node.input[1]) if len(node.input) > 1 else None
    return index is not None and index.ndim == 0 and int(index) == -1


def _matrix(scope: Scope, node: Any) -> np.ndarray | None:
    """The matrix of an affine map, outputs by inputs."""
    W, settings = scope.constant(node.input[1]), attributes(scope.onnx, node)
    scaled = settings.get("alpha", 1) != 1 or settings.get("beta", 1) != 1
    if W is None or W.ndim != 2 or scaled or settings.get("transA", 0):
        return None
    return W if settings.get("transB", 0) else W.T


def _until_output(scope: Scope, name: str) -> str | None:
    """What is left out between here and an output of the model; None if it is too much."""
    outputs, left = {output.name for output in scope.graph.output}, ""
    while scope.parent is None:
        name, users, _ = _behind(scope, name)
        if name in outputs:
            return left
        if left or len(users) != 1 or users[0].op_type not in SCORES:
            break
        left, name = f"its {users[0].op_type} left out", users[0].output[0]
    return None
