"""ONNX files: every LSTM, GRU and RNN operator, also inside subgraphs, as a network.

Operators that follow each other directly are layers of one network; each direction of a
bidirectional one is a network of its own. What stands before and behind them in the graph
is their embedding and readout.
"""

import pathlib
from importlib import import_module

from ...nets import Recurrent
from ..reading import assemble, Options, Parts, Reading, Readout, Taken
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
            if settings.get("direction", "forward") not in DIRECTIONS:
                raise ValueError(
                    f"{name!a} must be forward, reverse or bidirectional, "
                    f"not {settings['direction']!a}"
                )
            found.append(Operator(scope, node, name, settings))
    if not found:
        loops = sorted(others & {"Loop", "Scan"})
        why = f"; its {loops[0]} may be one" if loops else ""
        raise ValueError(
            f"no LSTM, GRU or RNN operator is in the graph{why} (a loop of cells is "
            "unrolled when it is exported); the file before its export would do"
        )
    readings: dict[str, Reading] = {}
    for chain in _chains(found):
        first = chain[0]
        if first.direction == "bidirectional":
            readings[f"{first.name}.forward"] = _reading(chain, 0)
            readings[f"{first.name}.backward"] = _reading(chain, 1)
        else:
            readings[first.name] = _reading(chain, 0)
    return readings


def _chains(found: list[Operator]) -> list[list[Operator]]:
    """Operators that feed each other directly, the lowest first."""
    by_node = {id(operator.node): operator for operator in found}
    above = {
        id(op.node): id(layer_above(op.scope, op.node))
        for op in found
        if op.direction == "forward" and op.node.output
    }
    above = {
        low: high
        for low, high in above.items()
        if high in by_node and by_node[high].direction == "forward" and high != low
    }
    chains, seen = [], set()
    for operator in found:
        if id(operator.node) in above.values():
            continue
        chain, at = [], id(operator.node)
        while at in by_node and at not in seen:
            seen.add(at)
            chain.append(by_node[at])
            at = above.get(at, 0)
        chains.append(chain)
    return chains


def _reading(chain: list[Operator], side: int) -> Reading:
    first, last = chain[0], chain[-1]
    both = first.direction == "bidirectional"
    backward = first.direction == "reverse" or side == 1

    def read(options: Options) -> tuple[Recurrent, Taken]:
        remarks: dict[str, str] = {}
        readout: Readout | str = "a readout takes both directions"
        if both or backward:
            remarks["direction"] = f"{'backward' if backward else 'forward'} direction"
        if not both:
            readout = readout_behind(last.scope, last.node)
        parts = Parts(
            kind=first.kind,
            name=first.name,
            cells=[cell_of(operator, side, remarks) for operator in chain],
            embedding=embedding_before(first.scope, first.input("X")),
            readout=readout,
            positions="every" if isinstance(readout, str) else readout.positions,
            remarks=remarks,
        )
        return assemble(parts, options)

    return read
