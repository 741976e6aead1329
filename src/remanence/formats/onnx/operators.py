"""An LSTM, GRU or RNN operator of ONNX as a cell.

Gates are i, o, f, c (LSTM) and z, r, h (GRU); `B` is the bias of the input's side and
then of the state's; peepholes are i, o, f. The equations are those of the operators'
definitions, https://onnx.ai/onnx/operators.
"""

import dataclasses
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ...cells import Started
from ..reading import finite_array
from ..recurrent_cell import Clipped, kind_of, PLAIN, recurrent_cell, SHAPED, Shaped, TAKES_BETA
from ..safetensors import plain, real
from .graph import Scope


DEFAULTS = {"LSTM": ("Sigmoid", "Tanh", "Tanh"), "GRU": ("Sigmoid", "Tanh"), "RNN": ("Tanh",)}
INPUTS = ("X", "W", "R", "B", "sequence_lens", "initial_h", "initial_c", "P")


@dataclasses.dataclass(frozen=True, eq=False)
class Operator:
    """One LSTM, GRU or RNN of a graph."""

    scope: Scope
    node: Any
    name: str
    settings: dict[str, Any]

    @property
    def kind(self) -> str:
        return self.node.op_type

    @property
    def direction(self) -> str:
        return self.settings.get("direction", "forward")

    def input(self, name: str) -> str:
        """The value that an input is given, "" if none."""
        at = INPUTS.index(name)
        return self.node.input[at] if at < len(self.node.input) else ""


def cell_of(operator: Operator, side: int, remarks: dict[str, str]) -> Any:
    """One direction of an operator as a cell, every shape checked."""
    settings, title = operator.settings, ascii(operator.name)
    W, R, B, P = (_weights(operator, name, side) for name in ("W", "R", "B", "P"))
    kind = kind_of(title, W, R)
    assert W is not None and R is not None
    gates, units = R.shape
    stated = (operator.kind, settings.get("hidden_size", units))
    if stated != (kind, units):
        raise ValueError(f"{title} is said to be {stated}, and its R is that of {(kind, units)}")
    if P is not None and P.shape != (3 * units,):
        raise ValueError(f"P of {title} is {P.shape}; ({3 * units},) would do")
    cell = recurrent_cell(
        title,
        kind,
        W,
        R,
        None if B is None else B[:gates],
        None if B is None else B[gates:],
        _functions(operator, side),
        order="onnx",
        reset_after=bool(settings.get("linear_before_reset", 0)),
        peepholes=None if P is None else P.reshape(3, units)[[0, 2, 1]],
        coupled=bool(settings.get("input_forget", 0)),
    )
    return _with_first_state(cell, operator, side, remarks)


def _weights(operator: Operator, name: str, side: int) -> np.ndarray | None:
    """One direction's part of an input, as real numbers."""
    given = operator.input(name)
    if not given:
        return None
    value = operator.scope.constant(given)
    if value is None:
        made = "is computed from what the model is given; constant weights would do"
        raise ValueError(f"{name} of {operator.name!a} {made}")
    sides = 2 if operator.direction == "bidirectional" else 1
    if value.ndim < 2 or len(value) != sides:
        would = f"{sides} direction(s) would do"
        raise ValueError(f"{name} of {operator.name!a} is {value.shape}; {would}")
    return finite_array(f"{name} of {operator.name}", value[side])


def _functions(operator: Operator, side: int) -> Any:
    """The activations of one direction, clipped where the operator has a clip."""
    kind, settings = operator.kind, operator.settings
    count = len(DEFAULTS[kind])
    sides = 2 if operator.direction == "bidirectional" else 1
    names = [*settings.get("activations", ())] or [*DEFAULTS[kind]] * sides
    if len(names) != sides * count:
        raise ValueError(f"{operator.name!a} has {len(names)} activations, not {sides * count}")
    alphas, betas = ([*settings.get(f"activation_{n}", ())] for n in ("alpha", "beta"))
    found: list[Callable] = []
    for name in names:
        word = name.lower()
        if word not in {*PLAIN, *SHAPED}:
            raise ValueError(f"{operator.name!a} has an unknown activation, {name!a}")
        if word in PLAIN:
            found.append(PLAIN[word])
            continue
        _, alpha, beta = SHAPED[word]
        alpha = alphas.pop(0) if alphas else alpha
        beta = betas.pop(0) if betas and word in TAKES_BETA else beta
        found.append(Shaped(word, float(alpha), float(beta)))
    bound = float(settings.get("clip", 0))
    if bound > 0:
        found = [Clipped(function, bound) for function in found]
    return tuple(found[side * count : (side + 1) * count])


def _with_first_state(cell: Any, operator: Operator, side: int, remarks: dict[str, str]) -> Any:
    """The cell in the first state that the graph fixes, if it fixes one that is not zero."""
    names = ("initial_h", "initial_c") if operator.kind == "LSTM" else ("initial_h",)
    given = [operator.input(name) for name in names]
    values = [operator.scope.constant(name) if name else None for name in given]
    if any(name and value is None for name, value in zip(given, values, strict=True)):
        remarks["start"] = "started from zero, whatever state the graph computes"
        return cell
    if not any(value is not None and value.any() for value in values):
        return cell
    own = cell.initial_state()
    leaves, rebuild = jax.tree.flatten(own)
    batch = 0 if operator.settings.get("layout", 0) else 1
    for i, value in enumerate(values):
        if value is None:
            continue
        if value.ndim != 3 or value.shape[batch] != 1 or value.shape[2:] != leaves[i].shape:
            raise ValueError(f"the first state of {operator.name!a} is {value.shape}")
        leaves[i] = jnp.asarray(real("initial state", plain(np.moveaxis(value, batch, 1)[side, 0])))
    return Started(cell, jax.tree.unflatten(rebuild, leaves))
