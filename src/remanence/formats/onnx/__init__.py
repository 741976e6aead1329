"""ONNX files: every LSTM, GRU and RNN operator, also inside subgraphs, as a network."""

import pathlib
from importlib import import_module
from typing import Any

import numpy as np

from ..layer_graph import chains, embedding_before, node_below, reading, readout_behind
from ..reading import BOTH, extra_library, Options, Reading, Readout, refused_misfits
from ..recurrent_cell import GATES
from .graph import attributes, Scope
from .operators import cell_of, Operator


FREE = ("Squeeze", "Unsqueeze", "Identity", "Dropout", "Cast")
"""Operators that leave every vector as it is."""
DIRECTIONS = ("forward", "reverse", "bidirectional")
QUANTISED = ("DynamicQuantizeLSTM", "QLSTM", "QLinearLSTM", "QAttention")
SCORES = ("Softmax", "LogSoftmax", "Sigmoid")
"""What turns the scores of a readout into probabilities."""


class Graph:
    """The operators round one of a scope."""

    def __init__(self, scope: Scope):
        self.scope = scope

    def maker(self, value: str) -> Any:
        scope = self.scope
        while scope.parent is not None and value not in scope.made and value not in scope.given:
            scope = scope.parent
        return scope.made.get(value)

    def users(self, value: str) -> list[Any]:
        return [user for user in self.scope.used.get(value, []) if user.op_type != "Shape"]

    def is_free(self, node: Any) -> bool:
        if node.op_type == "Transpose":  # of batch and time
            return attributes(self.scope.onnx, node).get("perm") == [1, 0, 2]
        return node.op_type in FREE and bool(node.output and node.input)

    def is_output(self, value: str) -> bool:
        outputs = self.scope.graph.output if self.scope.parent is None else ()
        return any(output.name == value for output in outputs)

    def takes_last(self, node: Any) -> bool:
        if node.op_type != "Gather" or len(node.input) < 2:
            return False
        index = self.scope.constant(node.input[1])
        return index is not None and index.ndim == 0 and int(index) == -1

    def table(self, node: Any) -> tuple[str, np.ndarray] | None:
        if node.op_type != "Gather" or attributes(self.scope.onnx, node).get("axis", 0):
            return None
        rows = self.scope.constant(node.input[0])
        return (node.input[0], rows) if rows is not None and rows.ndim == 2 else None

    def affine(self, node: Any, value: str) -> tuple[Readout, str] | str:
        if node.op_type not in ("MatMul", "Gemm") or node.input[0] != value:
            return f"{node.op_type} reads its outputs"
        settings, (_, title, *bias) = attributes(self.scope.onnx, node), node.input
        W, b, value = self.scope.constant(title), None, node.output[0]
        scaled = settings.get("alpha", 1) != 1 or settings.get("beta", 1) != 1
        if W is None or W.ndim != 2 or scaled or settings.get("transA", 0):
            return f"the matrix of {node.op_type} is computed in the graph"
        W = W if settings.get("transB", 0) else W.T
        if bias:
            b = self.scope.constant(bias[0])
        elif [each.op_type for each in self.users(value)] == ["Add"]:
            (add,) = self.users(value)
            (other,) = [each for each in add.input if each != value] or [""]
            b = self.scope.constant(other)
            value = add.output[0] if b is not None else value
        if b is not None and b.size != len(W):
            return f"the bias behind {title} does not fit it"
        return Readout(title, W, None if b is None else np.ravel(b)), value

    def score(self, node: Any) -> str:
        return node.op_type if node.op_type in SCORES else ""


@refused_misfits("its graph is malformed")
def networks(path: pathlib.Path) -> dict[str, Reading]:
    """Every network of a file by the name of its (first) operator."""
    onnx = extra_library("onnx", "onnx")
    import_module("onnx.reference")
    try:
        model = onnx.load(str(path), load_external_data=False)
    except Exception as error:  # protobuf's own, whose class is not ours to import
        why = str(error).partition("\n")[0]
        raise ValueError(f"{path.name} is not a whole ONNX file: {why}") from None
    room = 2**20 + sum(t.ByteSize() for t in model.graph.initializer)
    opset = max((each.version for each in model.opset_import if not each.domain), default=1)
    whole = Scope(model.graph, path.parent, onnx, 2 * room, opset)
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
            found.append(Operator(scope, node, name, attributes(onnx, node)))
            if found[-1].direction not in DIRECTIONS:
                words = f"{', '.join(DIRECTIONS)}, not {found[-1].direction!a}"
                raise ValueError(f"{name!a} must be one of {words}")
    if not found:
        loops = sorted(others & {"Loop", "Scan"})
        why = f"; its {loops[0]} may be one" if loops else ""
        raise ValueError(
            f"no LSTM, GRU or RNN operator is in the graph{why} (a loop of cells is unrolled "
            "when it is exported); the file before its export would do"
        )
    readings: dict[str, Reading] = {}
    for chain in chains(found, _is_above):
        name, direction = chain[0].name, chain[0].direction
        if direction == "bidirectional":
            for side, way in enumerate(("forward", "backward")):
                readings[f"{name}.{way}"] = _reading(chain, side, way)
        else:
            readings[name] = _reading(chain, 0, "backward" if direction == "reverse" else "")
    return readings


def _is_above(upper: Operator, lower: Operator) -> bool:
    """Whether an operator takes another one's outputs directly, along the same axis of time."""
    if not upper.direction == lower.direction == "forward" or not lower.node.output:
        return False
    node, value, passed = node_below(Graph(upper.scope), upper.input("X"))
    turned = sum(each.op_type == "Transpose" for each in passed) % 2
    return node is lower.node and value == lower.node.output[0] and not turned


def _reading(chain: list[Operator], side: int, way: str) -> Reading:
    first, last = chain[0], chain[-1]

    def cells(options: Options, remarks: dict[str, str]) -> tuple[str, list[Any]]:
        return first.kind, [cell_of(operator, side, remarks) for operator in chain]

    def ends() -> tuple[Any, Readout | str]:
        outputs = zip(last.node.output, ("every", "last"), strict=False)
        both = first.direction == "bidirectional"
        readout = BOTH if both else readout_behind(Graph(last.scope), outputs)
        return embedding_before(Graph(first.scope), first.input("X")), readout

    return reading(first.name, way, cells, ends)
