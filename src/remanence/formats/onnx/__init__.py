"""ONNX files: every LSTM, GRU and RNN operator, also inside subgraphs, as a network.

Gates are i, o, f, c (LSTM) and z, r, h (GRU); `B` is the bias of the input's side and
then of the state's; peepholes are i, o, f. The equations are those of the operators'
definitions, https://onnx.ai/onnx/operators.
"""

import dataclasses
import pathlib
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ...cells import Started
from ..layer_graph import chains, embedding_before, node_below, reading, readout_behind
from ..reading import BOTH, extra_library, finite_array, Reading, Readout, refused_misfits
from ..recurrent_cell import Clipped, GATES, kind_of, PLAIN, recurrent_cell, SHAPED, Shaped
from ..safetensors import plain, real
from .graph import attributes, Graph


DIRECTIONS = ("forward", "reverse", "bidirectional")
QUANTISED = ("DynamicQuantizeLSTM", "QLSTM", "QLinearLSTM", "QAttention")
DEFAULTS = {"LSTM": ("Sigmoid", "Tanh", "Tanh"), "GRU": ("Sigmoid", "Tanh"), "RNN": ("Tanh",)}
INPUTS = ("X", "W", "R", "B", "sequence_lens", "initial_h", "initial_c", "P")


@dataclasses.dataclass(frozen=True, eq=False)
class Operator:
    """One LSTM, GRU or RNN of a graph."""

    graph: Graph
    node: Any
    name: str
    settings: dict[str, Any]

    @property
    def direction(self) -> str:
        return self.settings.get("direction", "forward")

    @property
    def sides(self) -> int:
        return 2 if self.direction == "bidirectional" else 1

    def input(self, name: str) -> str:
        """The value that an input is given, "" if none."""
        given: dict[str, str] = dict(zip(INPUTS, self.node.input, strict=False))
        return given.get(name, "")


@refused_misfits("its graph is malformed")
def networks(path: pathlib.Path) -> dict[str, Reading]:
    """Every network of a file by the name of its (first) operator."""
    onnx = extra_library("onnx", "onnx")
    try:
        model = onnx.load(str(path), load_external_data=False)
    except Exception as error:  # protobuf's own, whose class is not ours to import
        why = str(error).partition("\n")[0]
        raise ValueError(f"{path.name} is not a whole ONNX file: {why}") from None
    room = 2**20 + sum(t.ByteSize() for t in model.graph.initializer)
    opset = max((each.version for each in model.opset_import if not each.domain), default=1)
    whole = Graph(model.graph, path.parent, 2 * room, opset)
    nodes = [(graph, node) for graph in whole.everywhere() for node in graph.graph.node]
    found: list[Operator] = []
    for graph, node in nodes:
        if node.op_type in QUANTISED:
            raise ValueError(f"its {node.op_type} is quantised; the float model would do")
        if node.op_type not in GATES or node.domain not in ("", "ai.onnx"):
            continue
        name = (node.name or next(iter(node.output), "")).strip("/")
        number = sum(name == other.name.partition("#")[0] for other in found)
        name = f"{name}#{number + 1}" if number else name
        found.append(Operator(graph, node, name, attributes(node)))
        if found[-1].direction not in DIRECTIONS:
            words = f"{', '.join(DIRECTIONS)}, not {found[-1].direction!a}"
            raise ValueError(f"{name!a} must be one of {words}")
    if not found:
        loops = sorted({node.op_type for _, node in nodes} & {"Loop", "Scan"})
        why = f"; its {loops[0]} may be one" if loops else ""
        raise ValueError(
            f"no LSTM, GRU or RNN operator is in the graph{why} (a loop of cells is unrolled "
            "when it is exported); the file before its export would do"
        )
    readings: dict[str, Reading] = {}
    for chain in chains(found, _is_above):
        name, direction = chain[0].name, chain[0].direction
        if direction != "bidirectional":
            readings[name] = _reading(chain, 0, "backward" if direction == "reverse" else "")
            continue
        for side, way in enumerate(("forward", "backward")):
            readings[f"{name}.{way}"] = _reading(chain, side, way)
    return readings


def _is_above(upper: Operator, lower: Operator) -> bool:
    """Whether an operator takes another one's outputs directly, along the same axis of time."""
    if not upper.direction == lower.direction == "forward" or not lower.node.output:
        return False
    node, value, passed = node_below(upper.graph, upper.input("X"))
    turned = sum(each.op_type == "Transpose" for each in passed) % 2
    return node is lower.node and value == lower.node.output[0] and not turned


def _reading(chain: list[Operator], side: int, way: str) -> Reading:
    first, last = chain[0], chain[-1]

    kind = first.node.op_type
    cells = lambda options, remarks: (kind, [cell_of(each, side, remarks) for each in chain])

    def ends() -> tuple[Any, Readout | str]:
        outputs = zip(last.node.output, ("every", "last"), strict=False)
        readout = BOTH if first.sides == 2 else readout_behind(last.graph, outputs)
        return embedding_before(first.graph, first.input("X")), readout

    return reading(first.name, way, cells, ends)


def cell_of(operator: Operator, side: int, remarks: dict[str, str]) -> Any:
    """One direction of an operator as a cell, every shape checked."""
    settings, title = operator.settings, ascii(operator.name)
    W, R, B, P = (_weights(operator, name, side) for name in ("W", "R", "B", "P"))
    kind = kind_of(title, W, R)
    assert W is not None and R is not None
    gates, units = R.shape
    stated = (operator.node.op_type, settings.get("hidden_size", units))
    if stated != (kind, units):
        raise ValueError(f"{title} is said to be {stated}, and its R is that of {(kind, units)}")
    if P is not None and P.shape != (3 * units,):
        raise ValueError(f"P of {title} is {P.shape}; ({3 * units},) would do")
    biases = (None, None) if B is None else (B[:gates], B[gates:])
    options = {
        "order": "onnx",
        "reset_after": bool(settings.get("linear_before_reset", 0)),
        "peepholes": None if P is None else P.reshape(3, units)[[0, 2, 1]],
        "coupled": bool(settings.get("input_forget", 0)),
    }
    cell = recurrent_cell(title, kind, W, R, *biases, _functions(operator, side), **options)
    return _with_first_state(cell, operator, side, remarks)


def _weights(operator: Operator, name: str, side: int) -> np.ndarray | None:
    """One direction's part of an input, as real numbers."""
    given = operator.input(name)
    if not given:
        return None
    value = operator.graph.constant(given)
    if value is None:
        made = "is computed from what the model is given; constant weights would do"
        raise ValueError(f"{name} of {operator.name!a} {made}")
    if value.ndim < 2 or len(value) != operator.sides:
        would = f"{operator.sides} direction(s) would do"
        raise ValueError(f"{name} of {operator.name!a} is {value.shape}; {would}")
    return finite_array(f"{name} of {operator.name}", value[side])


def _functions(operator: Operator, side: int) -> Any:
    """The activations of one direction, clipped where the operator has a clip."""
    settings, usual = operator.settings, DEFAULTS[operator.node.op_type]
    names = [*settings.get("activations", ())] or [*usual] * operator.sides
    if len(names) != operator.sides * len(usual):
        wanted = operator.sides * len(usual)
        raise ValueError(f"{operator.name!a} has {len(names)} activations, not {wanted}")
    alphas, betas = ([*settings.get(f"activation_{n}", ())] for n in ("alpha", "beta"))
    found: list[Callable] = []
    for name in names:
        word = name.lower()
        if word not in {*PLAIN, *SHAPED}:
            raise ValueError(f"{operator.name!a} has an unknown activation, {name!a}")
        if word in PLAIN:
            found.append(PLAIN[word])
        else:
            _, alpha, beta = SHAPED[word]
            alpha = float(alphas.pop(0)) if alphas else alpha
            beta = float(betas.pop(0)) if betas and beta is not None else beta
            found.append(Shaped(word, alpha, beta))
    if (bound := float(settings.get("clip", 0))) > 0:
        found = [Clipped(function, bound) for function in found]
    return tuple(found[side * len(usual) :][: len(usual)])


def _with_first_state(cell: Any, operator: Operator, side: int, remarks: dict[str, str]) -> Any:
    """The cell in the first state that the graph fixes, if it fixes one that is not zero."""
    names = ("initial_h", "initial_c") if operator.node.op_type == "LSTM" else ("initial_h",)
    given = [operator.input(name) for name in names]
    values = [operator.graph.constant(name) if name else None for name in given]
    if any(name and value is None for name, value in zip(given, values, strict=True)):
        remarks["start"] = "started from zero, whatever state the graph computes"
        return cell
    if not any(value is not None and value.any() for value in values):
        return cell
    leaves, rebuild = jax.tree.flatten(cell.initial_state())
    batch = 0 if operator.settings.get("layout", 0) else 1
    for i, value in ((i, value) for i, value in enumerate(values) if value is not None):
        if value.ndim != 3 or value.shape[batch] != 1 or value.shape[2:] != leaves[i].shape:
            raise ValueError(f"the first state of {operator.name!a} is {value.shape}")
        leaves[i] = jnp.asarray(real("initial state", plain(np.moveaxis(value, batch, 1)[side, 0])))
    return Started(cell, jax.tree.unflatten(rebuild, leaves))
