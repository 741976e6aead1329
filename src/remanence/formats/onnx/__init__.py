"""ONNX files: every LSTM, GRU and RNN operator, also inside subgraphs, as a network.

Operators that follow each other directly are layers of one network; each direction of a
bidirectional one is a network of its own. What stands before and behind them in the graph
is their embedding and readout.
"""

import pathlib
from importlib import import_module
from typing import Any

import numpy as np

from ...nets import Recurrent
from ..reading import assemble, BOTH, Options, Reading, Readout, Taken
from ..recurrent_cell import GATES
from .graph import attributes, DEEPEST, Scope
from .operators import cell_of, Operator


FREE = ("Squeeze", "Unsqueeze", "Identity", "Dropout", "Cast")
"""Operators that leave every vector as it is."""
DIRECTIONS = ("forward", "reverse", "bidirectional")
QUANTISED = ("DynamicQuantizeLSTM", "QLSTM", "QLinearLSTM", "QAttention")
SCORES = ("Softmax", "LogSoftmax", "Sigmoid")
"""What turns the scores of a readout into probabilities."""


def _free(scope: Scope, node: Any) -> bool:
    """Whether a node only changes how vectors are arranged."""
    if node.op_type == "Transpose":
        return attributes(scope.onnx, node).get("perm") == [1, 0, 2]  # batch and time
    return node.op_type in FREE and bool(node.output and node.input)


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


def layer_above(scope: Scope, node: Any) -> Any:
    """The recurrent operator that takes this one's outputs directly, if there is one."""
    name, users, swaps = _behind(scope, node.output[0])
    above = [user for user in users if user.op_type in GATES and user.input[0] == name]
    # Along another axis than time it would be no layer of the same network.
    return above[0] if above and swaps % 2 == 0 else None


def embedding_before(scope: Scope, name: str) -> tuple[str, np.ndarray] | None:
    """The matrix whose rows a value consists of, past what only rearranges them."""
    node = None
    for _ in range(DEEPEST):
        while scope.parent is not None and name not in scope.made and name not in scope.given:
            scope = scope.parent
        node = scope.made.get(name)
        if node is None or not _free(scope, node):
            break
        name = node.input[0]
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


def networks(path: pathlib.Path) -> dict[str, Reading]:
    """Every network of a file by the name of its (first) operator."""
    try:
        onnx = import_module("onnx")
        import_module("onnx.reference")
    except ImportError:
        raise ValueError(
            f"{path.name} needs onnx to be read; `pip install '.[onnx]'` would do"
        ) from None
    try:
        model = onnx.load(str(path), load_external_data=False)
    except Exception as error:  # protobuf's own, whose class is not ours to import
        why = str(error).partition("\n")[0]
        raise ValueError(f"{path.name} is not a whole ONNX file: {why}") from None
    room = 2**20 + sum(t.ByteSize() for t in model.graph.initializer)
    try:
        opset = max((each.version for each in model.opset_import if not each.domain), default=1)
        return _networks(Scope(model.graph, path.parent, onnx, 2 * room, opset))
    except RecursionError:
        raise ValueError(f"{path.name} is nested too deep") from None


def _networks(whole: Scope) -> dict[str, Reading]:
    found: list[Operator] = []
    others: set[str] = set()
    for scope in whole.everywhere():
        for node in scope.graph.node:
            if node.op_type in QUANTISED:
                raise ValueError(f"its {node.op_type} is quantised; the float model would do")
            if node.op_type not in GATES or node.domain not in ("", "ai.onnx"):
                others.add(node.op_type)
                continue
            name = (node.name or next(iter(node.output), "")).strip("/")
            number = sum(name == other.name.partition("#")[0] for other in found)
            name = f"{name}#{number + 1}" if number else name
            settings = attributes(whole.onnx, node)
            found.append(Operator(scope, node, name, settings))
            if found[-1].direction not in DIRECTIONS:
                words = f"forward, reverse or bidirectional, not {found[-1].direction!a}"
                raise ValueError(f"{name!a} must be {words}")
    if not found:
        loops = sorted(others & {"Loop", "Scan"})
        why = f"; its {loops[0]} may be one" if loops else ""
        raise ValueError(
            f"no LSTM, GRU or RNN operator is in the graph{why} (a loop of cells is "
            "unrolled when it is exported); the file before its export would do"
        )
    readings: dict[str, Reading] = {}
    for chain in _chains(found):
        name = chain[0].name
        if chain[0].direction == "bidirectional":
            readings[f"{name}.forward"] = _reading(chain, 0)
            readings[f"{name}.backward"] = _reading(chain, 1)
        else:
            readings[name] = _reading(chain, 0)
    return readings


def _chains(found: list[Operator]) -> list[list[Operator]]:
    """Operators that feed each other directly, the lowest first; a graph is in that order."""
    forward = [op for op in found if op.direction == "forward" and op.node.output]
    above = {op.name: id(layer_above(op.scope, op.node)) for op in forward}
    chains: list[list[Operator]] = []
    for op in found:
        onto = [chain for chain in chains if above.get(chain[-1].name) == id(op.node)]
        if onto and op.direction == "forward":
            onto[0].append(op)
        else:
            chains.append([op])
    return chains


def _reading(chain: list[Operator], side: int) -> Reading:
    first, last = chain[0], chain[-1]
    both = first.direction == "bidirectional"
    backward = first.direction == "reverse" or side == 1

    def read(options: Options) -> tuple[Recurrent, Taken]:
        remarks: dict[str, str] = {}
        if both or backward:
            remarks["direction"] = f"{'backward' if backward else 'forward'} direction"
        readout = BOTH if both else readout_behind(last.scope, last.node)
        cells = [cell_of(operator, side, remarks) for operator in chain]
        embedding = embedding_before(first.scope, first.input("X"))
        positions = "every" if isinstance(readout, str) else readout.positions
        taken = Taken(first.kind, first.name, positions=positions, remarks=remarks)
        return assemble(options, taken, cells, embedding, readout)

    return read
