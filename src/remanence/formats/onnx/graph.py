"""The graph of an ONNX file: who makes and who uses a value, which are constant, what ends it.

Weights stand in a graph as initialisers, or behind operators that only rearrange them.
Those few operators are computed here; nothing else of the graph is run, and no result
may be larger than what the file holds. (`onnx` is an extra, imported where it is used.)
"""

import dataclasses
import math
import pathlib
from collections.abc import Iterator
from typing import Any

import numpy as np

from ..layer_graph import DEEPEST
from ..reading import Readout


FREE = ("Squeeze", "Unsqueeze", "Identity", "Dropout", "Cast")
"""Operators that leave every vector as it is."""
SCORES = ("Softmax", "LogSoftmax", "Sigmoid")
"""What turns the scores of a readout into probabilities."""
FOLDED = (
    *("Identity", "Cast", "Transpose", "Squeeze", "Unsqueeze"),
    *("Concat", "Slice", "Reshape", "Split"),
)
"""Operators that only rearrange constants: ONNX's own reference computes them."""
PLAIN = {f"value_{k}": np.float32 for k in ("float", "floats")}
PLAIN |= {f"value_{k}": np.int64 for k in ("int", "ints")}
"""Attributes of a Constant that are no tensors."""
EXTERNAL = 1
"""`TensorProto.EXTERNAL`: the numbers stand in another file."""


@dataclasses.dataclass(frozen=True, eq=False)
class Graph:
    """One graph of a model with those round it; a subgraph sees the names outside."""

    graph: Any
    folder: pathlib.Path
    room: int
    """The most numbers that a folded constant may hold."""
    opset: int
    """The version of the operators."""
    parent: "Graph | None" = None
    made: dict[str, Any] = dataclasses.field(default_factory=dict)
    given: dict[str, Any] = dataclasses.field(default_factory=dict)
    used: dict[str, list[Any]] = dataclasses.field(default_factory=dict)
    folded: dict[str, np.ndarray | None] = dataclasses.field(default_factory=dict)

    def __post_init__(self):
        _refuse_no_text(self.graph)
        self.given.update({tensor.name: tensor for tensor in self.graph.initializer})
        for node in self.graph.node:
            self.made.update(dict.fromkeys(node.output, node))
            for name in node.input:
                self.used.setdefault(name, []).append(node)

    def everywhere(self, depth: int = 0) -> Iterator["Graph"]:
        """This scope and those of all subgraphs inside."""
        yield self
        if depth > DEEPEST:
            raise ValueError(f"its graphs are nested more than {DEEPEST} deep")
        for node in self.graph.node:
            for attribute in node.attribute:
                inner = [attribute.g] if attribute.HasField("g") else []
                for graph in [*inner, *attribute.graphs]:
                    inside = Graph(graph, self.folder, self.room, self.opset, self)
                    yield from inside.everywhere(depth + 1)

    def constant(self, name: str, depth: int = 0) -> np.ndarray | None:
        """The value of a name, or None where it depends on what the model is given."""
        if name not in self.folded:
            self.folded[name] = self._constant(name, depth)
        return self.folded[name]

    def _constant(self, name: str, depth: int) -> np.ndarray | None:
        if depth > DEEPEST:
            return None
        if name in self.given:
            return array(self.given[name], self.folder)
        if name not in self.made:
            return None if self.parent is None else self.parent.constant(name, depth + 1)
        node = self.made[name]
        settings = attributes(node)
        if node.op_type == "Constant":
            if "value" in settings:
                return array(settings["value"], self.folder)
            found = [np.asarray(settings[k], kind) for k, kind in PLAIN.items() if k in settings]
            return found[0] if found else None
        if node.op_type not in FOLDED or node.domain not in ("", "ai.onnx"):
            return None
        given = [name for name in node.input if name]
        feeds: dict[str, Any] = {name: self.constant(name, depth + 1) for name in given}
        if any(value is None for value in feeds.values()):
            return None
        size = sum(feeds[name].size for name in given)  # of each, however often it is given
        if size > self.room or settings.get("num_outputs", 0) > len(node.output):
            title = f"its {node.op_type} {node.name!a}"
            raise ValueError(f"{title} makes more numbers than the file holds")
        import onnx.reference

        values = lambda names: [onnx.ValueInfoProto(name=name) for name in names if name]
        try:
            graph = onnx.helper.make_graph([node], "one", values(node.input), values(node.output))
            reference = onnx.reference.ReferenceEvaluator(graph, opsets={"": self.opset})
            made: Any = reference.run(None, feeds)
        except Exception as error:  # whatever the reference raises
            why = str(error).partition("\n")[0]
            raise ValueError(f"its {node.op_type} {node.name!a} fails: {why}") from None
        return np.asarray(made[list(node.output).index(name)])

    def maker(self, value: str) -> Any:
        if self.parent is None or value in self.made or value in self.given:
            return self.made.get(value)
        return self.parent.maker(value)

    def users(self, value: str) -> list[Any]:
        return [user for user in self.used.get(value, []) if user.op_type != "Shape"]

    def is_free(self, node: Any) -> bool:
        if node.op_type == "Transpose":  # of batch and time
            return attributes(node).get("perm") == [1, 0, 2]
        return node.op_type in FREE and bool(node.output and node.input)

    def is_output(self, value: str) -> bool:
        outputs = self.graph.output if self.parent is None else ()
        return any(output.name == value for output in outputs)

    def takes_last(self, node: Any) -> bool:
        if node.op_type != "Gather" or len(node.input) < 2:
            return False
        index = self.constant(node.input[1])
        return index is not None and index.ndim == 0 and int(index) == -1

    def table(self, node: Any) -> tuple[str, np.ndarray] | None:
        if node.op_type != "Gather" or attributes(node).get("axis", 0):
            return None
        rows = self.constant(node.input[0])
        return (node.input[0], rows) if rows is not None and rows.ndim == 2 else None

    def affine(self, node: Any, value: str) -> tuple[Readout, str] | str:
        if node.op_type not in ("MatMul", "Gemm") or node.input[0] != value:
            return f"{node.op_type} reads its outputs"
        settings, (_, title, *bias) = attributes(node), node.input
        W, b, value = self.constant(title), None, node.output[0]
        scaled = settings.get("alpha", 1) != 1 or settings.get("beta", 1) != 1
        if W is None or W.ndim != 2 or scaled or settings.get("transA", 0):
            return f"the matrix of {node.op_type} is computed in the graph"
        W = W if settings.get("transB", 0) else W.T
        if bias:
            b = self.constant(bias[0])
        elif [each.op_type for each in self.users(value)] == ["Add"]:
            (add,) = self.users(value)
            (other,) = [each for each in add.input if each != value] or [""]
            b = self.constant(other)
            value = add.output[0] if b is not None else value
        if b is not None and b.size != len(W):
            return f"the bias behind {title} does not fit it"
        return Readout(title, W, None if b is None else np.ravel(b)), value

    def score(self, node: Any) -> str:
        return node.op_type if node.op_type in SCORES else ""


def _refuse_no_text(graph: Any) -> None:
    """Names that are no UTF-8 come out of protobuf as bytes."""
    names = [tensor.name for tensor in (*graph.initializer, *graph.output)]
    for node in graph.node:
        names += [node.name, node.op_type, node.domain, *node.input, *node.output]
        names += [attribute.name for attribute in node.attribute]
    for tensor in graph.initializer:
        names += [word for each in tensor.external_data for word in (each.key, each.value)]
    if any(isinstance(name, bytes) for name in names):
        raise ValueError("its names are no text; a whole ONNX file would do")


def attributes(node: Any) -> dict[str, Any]:
    """The attributes of a node by name; texts as text."""
    from onnx.helper import get_attribute_value

    found = {}
    for each in node.attribute:
        value = get_attribute_value(each)
        text = lambda word: word.decode(errors="replace") if isinstance(word, bytes) else word
        found[each.name] = [*map(text, value)] if isinstance(value, list) else text(value)
    return found


def array(tensor: Any, folder: pathlib.Path) -> np.ndarray:
    """The numbers of an initialiser, from the file or from the one beside it."""
    import onnx

    try:
        kind = np.dtype(onnx.helper.tensor_dtype_to_np_dtype(tensor.data_type))
    except (KeyError, TypeError):
        raise ValueError(f"{tensor.name!a} holds numbers of an unknown kind") from None
    count = math.prod(tensor.dims)
    if tensor.data_location == EXTERNAL:
        return _beside(tensor, folder, kind, count)
    if min(tensor.dims, default=0) < 0 or count > 8 * tensor.ByteSize():
        raise ValueError(f"{tensor.name!a} claims more numbers than the file holds")
    try:
        return np.asarray(onnx.numpy_helper.to_array(tensor))
    except (ValueError, TypeError) as error:
        raise ValueError(f"{tensor.name!a} is malformed: {error}") from None


def _beside(tensor: Any, folder: pathlib.Path, kind: np.dtype, count: int) -> np.ndarray:
    """Numbers in another file: one in the same folder, by a bare name, and no link."""
    entries = {entry.key: entry.value for entry in tensor.external_data}
    name = entries.get("location", "")
    path = folder / name
    bare = bool(name) and pathlib.PurePath(name).name == name and "\\" not in name
    if not bare or path.is_symlink() or not path.is_file():
        raise ValueError(f"its weights lie in {name!a}, which is no file beside it")
    written, length = entries.get("offset", "0"), count * kind.itemsize
    offset = int(written) if written.isdecimal() and len(written) < 20 else -1
    if offset < 0 or min(tensor.dims, default=0) < 0 or offset + length > path.stat().st_size:
        raise ValueError(f"{tensor.name!a} reaches beyond the file {name!a}")
    with path.open("rb") as file:
        file.seek(offset)
        return np.frombuffer(file.read(length), kind).reshape(tuple(tensor.dims))
