r"""How far the outputs of a pre-normed layer move with its inputs and with its state.

A norm bounds what a layer reads, $\|\hat x\| \le \sqrt d$ before its weights, whatever the text; its gain is
largest at zero, $1/\sqrt\epsilon$.
"""

from collections.abc import Callable
from typing import Any

import jax
import numpy as np

from ...cells.layers import GatedLayer
from ...cells.parts import Activation, exact_gelu, GatedMLP, identity, Norm
from .gate_ranges import GateRange
from .ranged import affine, exactly, joined, normed, on_sphere, Ranged
from .rounding import above, norm_above, Values


ACTIVATIONS: dict[Activation, tuple[float, float]] = {
    jax.nn.silu: (0.2785, 1.1),
    jax.nn.gelu: (0.1701, 1.13),
    exact_gelu: (0.1701, 1.13),
    jax.nn.relu: (0.0, 1.0),
}
"""How far below zero each goes, and its steepest slope; none leaves the span from 0 to x upwards."""


class NoGain(ValueError):
    """Why no gain through a layer is derived."""


def normed_gain(norm: Norm) -> float:
    """How far a norm moves its input at most, its weights apart."""
    return above(max(norm.eps, 1e-100) ** -0.5, 2)


def _through_norm(norm: Norm, dense: Any) -> Ranged:
    """A linear map of what a norm lets through, whatever it reads."""
    W, g = np.asarray(dense.W, np.float64), np.asarray(norm.weight, np.float64)
    centre = np.zeros(len(W)) if dense.b is None else np.asarray(dense.b, np.float64)
    slope = np.array([normed_gain(norm), 0.0])
    found = on_sphere(W * g, centre, above(len(g) ** 0.5, 1), slope)
    return found if norm.bias is None else found + affine(W, exactly(norm.bias))


def _active(a: Ranged, function: Activation) -> Ranged:
    if function is identity:
        return a
    if function is jax.nn.sigmoid:
        return a.sigmoid()
    if function not in ACTIVATIONS:
        raise NoGain("its activation is not one whose slope is known")
    below, steep = ACTIVATIONS[function]
    low, high = np.maximum(np.minimum(a.low, 0.0), -below), np.maximum(a.high, 0.0)
    return Ranged(low, high, above(steep * a.slope, 1))


def gate_inputs(layer: GatedLayer) -> Ranged:
    """What the gates of a layer take."""
    u = _through_norm(layer.norm, layer.W_in)
    if layer.convolution is None:
        return u
    taps = np.asarray(layer.convolution.weight, np.float64)
    mixed, rest = u.split(len(taps))
    # A text begins with zeros in the convolution.
    mixed = Ranged(np.minimum(mixed.low, 0.0), np.maximum(mixed.high, 0.0), mixed.slope)
    up, down = np.maximum(taps, 0).sum(axis=1), -np.minimum(taps, 0).sum(axis=1)
    upto = lambda size: Ranged(0 * size, above(size, taps.shape[1]), np.zeros((1, len(size))))
    mixed = upto(up) * mixed + -(upto(down) * mixed)
    if layer.convolution.bias is not None:
        mixed = mixed + exactly(layer.convolution.bias)
    return joined(_active(mixed, layer.activation), rest)


def layer_gains(layer: GatedLayer, step: GateRange) -> dict[str, Any]:
    """The constants of a layer's comparison (`blocks.py`)."""
    assert step.write is not None and step.read is not None
    B = step.state_bound
    with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
        moved = above(step.decay_slope[0] * B + step.write.slope[0], 2)
        inflow = above(float(np.max(np.where(B > 0, moved / B, 0.0))), 1)
        y = step.read(Ranged(-B, B, np.stack([np.zeros_like(B), B])))
        y = y if layer.norm_last else _normed_outputs(y, layer.norm_out)
        if layer.W_gate is not None:
            y = y * _active(_through_norm(layer.norm, layer.W_gate), layer.gate)
        y = _normed_outputs(y, layer.norm_out) if layer.norm_last else y
        lengths = _lengths(layer.W_out)
        through, readout = (lengths(s) for s in y.slope)
        height = lengths(y.size)
    if layer.W_out.b is not None:
        height = above(height + float(np.linalg.norm(layer.W_out.b)), len(layer.W_out.b) + 2)
    slope, more = (0.0, 0.0) if layer.mlp is None else _perceptron(layer.mlp)
    gains = {"inflow": inflow, "through": through, "readout": readout}
    return gains | {"perceptron": slope, "height": above(height + more, 1)}


def _normed_outputs(y: Ranged, norm: Norm | None) -> Ranged:
    if norm is None:
        return y
    groups = y.reshape(norm.groups, -1)
    found = normed(groups, max(norm.eps, 1e-100), mean=True).reshape(-1) * exactly(norm.weight)
    return found if norm.bias is None else found + exactly(norm.bias)


def _lengths(dense: Any) -> Callable[[Values], float]:
    """An upper end of |W v| for entries of v up to given sizes."""
    W = np.asarray(dense.W, np.float64)
    norm, W, (rows, columns) = norm_above(W), np.abs(W), W.shape

    def length(size: Values) -> float:
        whole = above(norm * float(np.linalg.norm(size)), columns + 3)
        return min(whole, above(float(np.linalg.norm(W @ size)), rows + columns + 3))

    return length


def _perceptron(mlp: Any) -> tuple[float, float]:
    """The gain of a perceptron behind its norm, and the most that it adds."""
    if not isinstance(mlp, GatedMLP) or mlp.norm is None:
        raise NoGain("a mixture of experts switches between them, so that no gain follows")
    gate = _active(_through_norm(mlp.norm, mlp.gate), mlp.activation)
    inner = gate * _through_norm(mlp.norm, mlp.up)
    lengths = _lengths(mlp.down)
    bias = 0.0 if mlp.down.b is None else float(np.linalg.norm(mlp.down.b))
    return lengths(inner.slope[0]), above(lengths(inner.size) + bias, 2)
