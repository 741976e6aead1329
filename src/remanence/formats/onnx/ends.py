"""What stands before and behind a recurrent operator in an ONNX graph."""

from typing import Any

import numpy as np

from ..reading import Readout
from .graph import array, attributes, DEEPEST, Scope


RECURRENT = ("LSTM", "GRU", "RNN")
FREE = ("Squeeze", "Unsqueeze", "Identity", "Dropout", "Cast")
"""Operators that leave every vector as it is."""
SWAPPED = [1, 0, 2]
"""The transpose of batch and time."""
SCORES = ("Softmax", "LogSoftmax", "Sigmoid")
"""What turns the scores of a readout into probabilities."""


def _users(scope: Scope, name: str) -> list[Any]:
    return [user for user in scope.used.get(name, []) if user.op_type != "Shape"]


def _free(scope: Scope, node: Any) -> bool:
    """Whether a node only changes how vectors are arranged."""
    if node.op_type == "Transpose":
        return attributes(scope.onnx, node).get("perm") == SWAPPED
    return node.op_type in FREE and bool(node.output)


def layer_above(scope: Scope, node: Any) -> Any:
    """The recurrent operator that takes this one's outputs directly, if there is one."""
    name, swaps = node.output[0], 0
    for _ in range(DEEPEST):
        users = _users(scope, name)
        above = [user for user in users if user.op_type in RECURRENT]
        if above:
            # Along another axis than time it would be no layer of the same network.
            fits = above[0].input[0] == name and swaps % 2 == 0
            return above[0] if fits else None
        if len(users) != 1 or not _free(scope, users[0]):
            return None
        swaps += users[0].op_type == "Transpose"
        name = users[0].output[0]
    return None


def _maker(scope: Scope, name: str) -> tuple[Scope, Any] | None:
    """The node that makes a value, and the graph that it stands in."""
    home: Scope | None = scope
    while home is not None and name not in home.made:
        home = home.parent
    return None if home is None else (home, home.made[name])


def zeros_of(scope: Scope, name: str) -> bool:
    """Whether a value is made of zeros, in a shape that depends on the model's inputs."""
    for _ in range(DEEPEST):
        if (found := _maker(scope, name)) is None:
            return False
        scope, node = found
        if node.op_type == "ConstantOfShape":
            value = attributes(scope.onnx, node).get("value")
            return value is None or not array(scope.onnx, value, scope.folder).any()
        if node.op_type not in (*FREE, "Slice", "Expand", "Transpose") or not node.input:
            return False
        name = node.input[0]
        value = scope.constant(name)
        if value is not None:
            return not value.any()
    return False


def embedding_before(scope: Scope, name: str) -> tuple[str, np.ndarray] | None:
    """The matrix whose rows a value consists of, with its name."""
    for _ in range(DEEPEST):
        home: Scope | None = scope
        while home is not None and name not in home.made:
            home = home.parent
        if home is None:
            return None
        node = home.made[name]
        if node.op_type == "Gather" and attributes(scope.onnx, node).get("axis", 0) == 0:
            rows = home.constant(node.input[0])
            return (node.input[0], rows) if rows is not None and rows.ndim == 2 else None
        if not _free(scope, node) or not node.input:
            return None
        name = node.input[0]
    return None


def readout_behind(scope: Scope, node: Any) -> Readout | str:
    """The readout behind an operator, or why there is none."""
    why = "nothing reads its outputs"
    for name, positions in zip(node.output, ("every", "last"), strict=False):
        if not name or not _users(scope, name):
            continue
        found = _affine(scope, name, positions)
        if isinstance(found, Readout):
            return found
        why = found
    return why


def _affine(scope: Scope, name: str, positions: str) -> Readout | str:
    for _ in range(DEEPEST):
        users = _users(scope, name)
        if len(users) != 1:
            return "its outputs go to several places" if users else "they are the outputs"
        user = users[0]
        if user.op_type == "Gather" and _last(scope, user):
            positions = "last"
        elif not _free(scope, user):
            break
        name = user.output[0]
    else:
        return "its outputs are rearranged without end"
    if user.op_type not in ("MatMul", "Gemm") or user.input[0] != name:
        return f"{user.op_type} reads its outputs"
    W, b = _matrix(scope, user), None
    if W is None:
        return f"the matrix of {user.op_type} is computed in the graph"
    title, name = user.input[1], user.output[0]
    if user.op_type == "Gemm":
        b = scope.constant(user.input[2]) if len(user.input) > 2 else None
    else:
        users = _users(scope, name)
        if len(users) == 1 and users[0].op_type == "Add":
            (other,) = [each for each in users[0].input if each != name] or [""]
            b = scope.constant(other)
            name = users[0].output[0] if b is not None else name
    if b is not None:
        b = np.ravel(b) if b.size == len(W) else None
        if b is None:
            return f"the bias behind {title} does not fit it"
    remark = _until_output(scope, name)
    if remark is None:
        return f"more than {title} stands between its outputs and the model's"
    return Readout(title, W, b, positions, remark)


def _last(scope: Scope, node: Any) -> bool:
    """Whether a Gather takes the last step."""
    index = scope.constant(node.input[1]) if len(node.input) > 1 else None
    return index is not None and index.ndim == 0 and int(index) == -1


def _matrix(scope: Scope, node: Any) -> np.ndarray | None:
    """The matrix of an affine map, outputs by inputs."""
    W = scope.constant(node.input[1])
    if W is None or W.ndim != 2:
        return None
    settings = attributes(scope.onnx, node)
    scaled = settings.get("alpha", 1) != 1 or settings.get("beta", 1) != 1
    if scaled or settings.get("transA", 0):
        return None
    return W if settings.get("transB", 0) else W.T


def _until_output(scope: Scope, name: str) -> str | None:
    """What is left out between here and an output of the model; None if it is too much."""
    outputs, left = {output.name for output in scope.graph.output}, ""
    for _ in range(DEEPEST):
        if name in outputs:
            return left if scope.parent is None else None
        users = _users(scope, name)
        if len(users) != 1:
            return None
        if users[0].op_type in SCORES and not left:
            left = f"its {users[0].op_type} left out"
        elif not _free(scope, users[0]):
            return None
        name = users[0].output[0]
    return None
