"""ONNX files: every LSTM, GRU and RNN operator, also inside subgraphs, as a network.

Operators that follow each other directly are layers of one network; each direction of a
bidirectional one is a network of its own. What stands before and behind them in the graph
is their embedding and readout.
"""

import pathlib
from importlib import import_module

from ...nets import Recurrent
from ..reading import assemble, BOTH, Options, Reading, Taken
from ..recurrent_cell import GATES
from .ends import embedding_before, layer_above, readout_behind
from .graph import attributes, Scope
from .operators import cell_of, Operator


DIRECTIONS = ("forward", "reverse", "bidirectional")
QUANTISED = ("DynamicQuantizeLSTM", "QLSTM", "QLinearLSTM", "QAttention")


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
