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
from ..recurrent_cell import Clipped, GATES, PLAIN, recurrent_cell, SHAPED, Shaped, TAKES_BETA
from ..safetensors import plain, real
from .graph import Scope


ORDER = {"LSTM": (0, 2, 3, 1), "GRU": (1, 0, 2), "RNN": (0,)}
"""Where our blocks stand among ONNX's: i, f, g, o and r, z, n."""
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
    kind = operator.kind
    W, R, B, P = (_weights(operator, name, side) for name in ("W", "R", "B", "P"))
    if W is None or R is None or W.ndim != 2 or R.ndim != 2:
        raise ValueError(f"{operator.name!a} lacks a matrix W or R")
    units = R.shape[1]
    gates = GATES[kind] * units
    shapes = ((gates, W.shape[1]), (gates, units), (2 * gates,), (3 * units,))
    for name, value, shape in zip("WRBP", (W, R, B, P), shapes, strict=True):
        if value is not None and (value.shape != shape or not units):
            raise ValueError(
                f"{name} of {operator.name!a} is {value.shape}; {shape} would do "
                f"beside {units} units"
            )
    stated = operator.settings.get("hidden_size", units)
    if stated != units:
        raise ValueError(f"{operator.name!a} has hidden_size {stated}, and R has {units}")
    order = np.concatenate([np.arange(units) + i * units for i in ORDER[kind]])
    b_x, b_h = (None, None) if B is None else (B[:gates][order], B[gates:][order])
    cell = recurrent_cell(
        kind,
        W[order],
        R[order],
        b_x,
        b_h,
        _functions(operator, side),
        reset_after=bool(operator.settings.get("linear_before_reset", 0)),
        peepholes=None if P is None else P.reshape(3, units)[[0, 2, 1]],
        coupled=bool(operator.settings.get("input_forget", 0)),
    )
    return _with_first_state(cell, operator, side, remarks)


def _weights(operator: Operator, name: str, side: int) -> np.ndarray | None:
    """One direction's part of an input, as real numbers."""
    given = operator.input(name)
    if not given:
        return None
    value = operator.scope.constant(given)
    if value is None:
        raise ValueError(
            f"{name} of {operator.name!a} is computed from what the model is given; "
            "constant weights would do"
        )
    sides = 2 if operator.direction == "bidirectional" else 1
    if value.ndim < 2 or len(value) != sides:
        raise ValueError(
            f"{name} of {operator.name!a} is {value.shape}; {sides} direction(s) would do"
        )
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
