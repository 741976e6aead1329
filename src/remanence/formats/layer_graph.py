"""Recurrent layers in the graph of a model, as files of ONNX and Keras hold one.

Layers that follow each other directly are one network; each direction of a bidirectional
one is a network of its own. What stands before and behind them in the graph is their
embedding and readout. Whatever only rearranges vectors is passed over.

Nodes take values (`input`) and give others (`output`), by name. A graph offers `maker(value)`
and `users(value)`, nodes; `is_output(value)`; and of a node `is_free` (it only rearranges
vectors), `takes_last` (step), `table` (the name and rows where it looks tokens up), `affine`
(its readout and the value that it gives, or why it is none), and `score` (the function by
which it turns scores into probabilities, or "").
"""

import dataclasses
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from ..nets import Recurrent
from .reading import assemble, Options, Reading, Readout, refused_misfits, Taken


DEEPEST = 64
"""Nodes that are passed over, or graphs inside each other: a graph may be a circle."""


def node_below(graph: Any, value: str) -> tuple[Any, str, list[Any]]:
    """What makes a value, past what only rearranges it; how that calls it; what was passed."""
    passed: list[Any] = []
    for _ in range(DEEPEST):
        node = graph.maker(value)
        if node is None or not graph.is_free(node):
            return node, value, passed
        passed.append(node)
        value = node.input[0]
    return None, value, passed


def _users_behind(graph: Any, value: str) -> tuple[str, list[Any]]:
    """A value past what only rearranges it, and who uses it then."""
    for _ in range(DEEPEST):
        users = graph.users(value)
        if len(users) != 1 or not graph.is_free(users[0]):
            return value, users
        value = users[0].output[0]
    return value, graph.users(value)


def embedding_before(graph: Any, value: str) -> tuple[str, np.ndarray] | None:
    """The matrix whose rows a value consists of."""
    node, _, _ = node_below(graph, value)
    return None if node is None else graph.table(node)


def readout_behind(graph: Any, outputs: Iterable[tuple[str, str]]) -> Readout | str:
    """The readout of a layer's outputs, each with the positions it has, or why there is none."""
    found: Readout | str = "nothing reads its outputs"
    for value, positions in outputs:
        if value and graph.users(value) and isinstance(found, str):
            found = _readout_of(graph, value, positions)
    return found


def _readout_of(graph: Any, value: str, positions: str) -> Readout | str:
    value, users = _users_behind(graph, value)
    if len(users) == 1 and graph.takes_last(users[0]):
        positions = "last"
        value, users = _users_behind(graph, users[0].output[0])
    if len(users) != 1:
        return "its outputs go to several places" if users else "they are the outputs"
    found = graph.affine(users[0], value)
    if isinstance(found, str):
        return found
    (readout, value), left = found, found[0].remark
    for _ in range(2):
        value, users = _users_behind(graph, value)
        if graph.is_output(value):
            remark = f"its {left} left out" if left else ""
            return dataclasses.replace(readout, positions=positions, remark=remark)
        function = graph.score(users[0]) if len(users) == 1 and not left else ""
        if not function:
            break
        left, value = function, users[0].output[0]
    return f"more than {readout.name} stands between its outputs and the model's"


def chains(layers: list[Any], is_above: Callable[[Any, Any], bool]) -> list[list[Any]]:
    """Layers that feed each other directly, the lowest first; they come in that order."""
    found: list[list[Any]] = []
    for layer in layers:
        onto = next((chain for chain in found if is_above(layer, chain[-1])), None)
        if onto is None:
            found.append([layer])
        else:
            onto.append(layer)
    return found


def reading(
    name: str,
    way: str,
    cells: Callable[[Options, dict[str, str]], tuple[str, list[Any]]],
    ends: Callable[[], tuple[tuple[str, np.ndarray] | None, Readout | str]],
    positions: str = "every",
) -> Reading:
    """One network: `cells` gives its kind and layers, `ends` its embedding and readout.

    `way` is "forward" or "backward" where it is said at all.
    """

    @refused_misfits("the file's configuration is malformed")
    def read(options: Options) -> tuple[Recurrent, Taken]:
        remarks = {"direction": f"{way} direction"} if way else {}
        kind, layers = cells(options, remarks)
        embedding, readout = ends()
        which = positions if isinstance(readout, str) else readout.positions
        taken = Taken(kind, name, positions=which, remarks=remarks)
        return assemble(options, taken, layers, embedding, readout)

    return read
