"""The graph of an ONNX file: who makes and who uses a value, and which are constant.

Weights stand in a graph as initialisers, or behind operators that only rearrange them.
Those few operators are computed here; nothing else of the graph is run, and no result
may be larger than what the file holds.
"""

import dataclasses
import math
import pathlib
from collections.abc import Iterator
from typing import Any

import numpy as np

from ..layer_graph import DEEPEST


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
class Scope:
    """One graph of a model with those round it; a subgraph sees the names outside."""

    graph: Any
    folder: pathlib.Path
    onnx: Any
    room: int
    """The most numbers that a folded constant may hold."""
    opset: int
    """The version of the operators."""
    parent: "Scope | None" = None
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

    def everywhere(self, depth: int = 0) -> Iterator["Scope"]:
        """This scope and those of all subgraphs inside."""
        yield self
        if depth > DEEPEST:
            raise ValueError(f"its graphs are nested more than {DEEPEST} deep")
        for node in self.graph.node:
            for attribute in node.attribute:
                inner = [attribute.g] if attribute.HasField("g") else []
                for graph in [*inner, *attribute.graphs]:
                    scope = Scope(graph, self.folder, self.onnx, self.room, self.opset, self)
                    yield from scope.everywhere(depth + 1)

    def constant(self, name: str, depth: int = 0) -> np.ndarray | None:
        """The value of a name, or None where it depends on what the model is given."""
        if name not in self.folded:
            self.folded[name] = self._constant(name, depth)
        return self.folded[name]

    def _constant(self, name: str, depth: int) -> np.ndarray | None:
        if depth > DEEPEST:
            return None
        if name in self.given:
            return array(self.onnx, self.given[name], self.folder)
        if name not in self.made:
            return None if self.parent is None else self.parent.constant(name, depth + 1)
        node = self.made[name]
        settings = attributes(self.onnx, node)
        if node.op_type == "Constant":
            if "value" in settings:
                return array(self.onnx, settings["value"], self.folder)
            found = [np.asarray(settings[k], kind) for k, kind in PLAIN.items() if k in settings]
            return found[0] if found else None
        if node.op_type not in FOLDED or node.domain not in ("", "ai.onnx"):
            return None
        inputs = [self.constant(each, depth + 1) if each else None for each in node.input]
        if any(v is None and n for v, n in zip(inputs, node.input, strict=True)):
            return None
        sizes = [value.size for value in inputs if value is not None]
        if sum(sizes) > self.room or settings.get("num_outputs", 0) > len(node.output):
            title = f"its {node.op_type} {node.name!a}"
            raise ValueError(f"{title} makes more numbers than the file holds")
        feeds = {n: v for n, v in zip(node.input, inputs, strict=True) if n}
        values = lambda names: [self.onnx.ValueInfoProto(name=name) for name in names if name]
        try:
            ends = values(node.input), values(node.output)
            graph = self.onnx.helper.make_graph([node], "one", *ends)
            reference = self.onnx.reference.ReferenceEvaluator(graph, opsets={"": self.opset})
            made = reference.run(None, feeds)
        except Exception as error:  # whatever the reference raises
            why = str(error).partition("\n")[0]
            raise ValueError(f"its {node.op_type} {node.name!a} fails: {why}") from None
        return np.asarray(made[list(node.output).index(name)])


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


def attributes(onnx: Any, node: Any) -> dict[str, Any]:
    """The attributes of a node by name; texts as text."""
    found = {}
    for each in node.attribute:
        value = onnx.helper.get_attribute_value(each)
        text = lambda word: word.decode(errors="replace") if isinstance(word, bytes) else word
        found[each.name] = [*map(text, value)] if isinstance(value, list) else text(value)
    return found


def array(onnx: Any, tensor: Any, folder: pathlib.Path) -> np.ndarray:
    """The numbers of an initialiser, from the file or from the one beside it."""
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
    if not name or pathlib.PurePath(name).name != name or "\\" in name:
        raise ValueError(f"its weights lie in {name!a}; a file beside it would do")
    if path.is_symlink() or not path.is_file():
        raise ValueError(f"its weights lie in {name!a}, which is no file beside it")
    written, length = entries.get("offset", "0"), count * kind.itemsize
    offset = int(written) if written.isdecimal() and len(written) < 20 else -1
    if offset < 0 or min(tensor.dims, default=0) < 0 or offset + length > path.stat().st_size:
        raise ValueError(f"{tensor.name!a} reaches beyond the file {name!a}")
    with path.open("rb") as file:
        file.seek(offset)
        return np.frombuffer(file.read(length), kind).reshape(tuple(tensor.dims))
