r"""Layers of recurrent language models: what stands around a recurrence, with its full state.

A layer runs over any number of inputs at once; one input is a step. Its state has two parts: the
recurrence's own, and what convolutions, shifts and local attention keep of the last few inputs. The
second part is nilpotent: its exponents are $-\infty$ and its memory is exact and finite. Layer by
layer the tangent map of `Blocks` is block lower-triangular, so the Lyapunov spectrum of a stack is
the union of those of its recurrences.
"""

import abc
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from .._types import Input, State
from .base import AbstractCell
from .delta_rule import DeltaRule
from .linear_recurrence import LinearRecurrence
from .parts import Activation, Convolution, Dense, GatedMLP, identity, LocalAttention, Norm


class LayerState(NamedTuple):
    """The recurrence's own state, and the last few inputs that the rest keeps."""

    recurrent: Any
    recent: Any


class LayerRun(NamedTuple):
    """What some inputs did to a layer."""

    state: LayerState
    """After the last input."""
    outputs: Float[Array, "time width"]
    inputs: Any
    """What the gates of the recurrence took, `time x numbers`; None without one."""
    states: Any
    """The recurrence's own state after every input; None without one."""


class AbstractLayer(eqx.Module):
    """One layer of a language model; its `recurrence` may be None."""

    @property
    @abc.abstractmethod
    def memory(self) -> int:
        """How many inputs before the present one its convolutions, shifts and attention see."""

    @abc.abstractmethod
    def initial_state(self) -> LayerState:
        """The empty state."""

    @abc.abstractmethod
    def run(self, state: LayerState, xs: Float[Array, "time width"]) -> LayerRun:
        """All inputs at once."""


class GatedLayer(AbstractLayer):
    r"""$x + W_{out}\,[\,\mathrm{read}(S, u) \odot g(W_g \hat x)\,]$ with $\hat x$ the normalised input.

    $u = W_{in} \hat x$, its first channels behind a short convolution and `activation`. `norm_out`
    acts before the gate, or behind it with `norm_last`. Mamba, Mamba-2, Griffin, xLSTM, gated
    DeltaNet and the minimal cells are layers of this form; a perceptron may follow.
    """

    norm: Norm
    W_in: Dense
    recurrence: LinearRecurrence | DeltaRule
    W_out: Dense
    convolution: Convolution | None = None
    W_gate: Dense | None = None
    norm_out: Norm | None = None
    mlp: Any = None
    activation: Activation = eqx.field(static=True, default=jax.nn.silu)
    gate: Activation = eqx.field(static=True, default=jax.nn.silu)
    norm_last: bool = eqx.field(static=True, default=False)

    @property
    def memory(self) -> int:
        return 0 if self.convolution is None else self.convolution.weight.shape[1] - 1

    def initial_state(self) -> LayerState:
        recent = None if self.convolution is None else self.convolution.initial_state()
        return LayerState(self.recurrence.initial_state(), recent)

    def run(self, state: LayerState, xs: Float[Array, "time width"]) -> LayerRun:
        x = self.norm(xs)
        us, recent = self.W_in(x), None
        if self.convolution is not None:
            channels = len(self.convolution.weight)
            recent, mixed = self.convolution.along(state.recent, us[:, :channels])
            us = jnp.concatenate([self.activation(mixed), us[:, channels:]], axis=1)
        states, ys = self.recurrence.along(state.recurrent, us)
        norm = identity if self.norm_out is None else self.norm_out
        gate = 1.0 if self.W_gate is None else self.gate(self.W_gate(x))
        ys = norm(ys * gate) if self.norm_last else norm(ys) * gate
        ys = xs + self.W_out(ys)
        ys = ys if self.mlp is None else ys + self.mlp(ys)
        return LayerRun(LayerState(states[-1], recent), ys, us, states)


class AttentionLayer(AbstractLayer):
    """Local attention and a perceptron: no recurrence, a finite memory."""

    norm: Norm
    attention: LocalAttention
    mlp: GatedMLP
    recurrence: None = None

    @property
    def memory(self) -> int:
        return self.attention.window - 1

    def initial_state(self) -> LayerState:
        return LayerState(None, self.attention.initial_state())

    def run(self, state: LayerState, xs: Float[Array, "time width"]) -> LayerRun:
        recent, ys = self.attention.along(state.recent, self.norm(xs))
        ys = xs + ys
        return LayerRun(LayerState(None, recent), ys + self.mlp(ys), None, None)


class Blocks(AbstractCell):
    """Layers, each hearing what the one below says in the same step, and a last norm.

    The state is that of every layer and, last, the output: a readout needs it, and no step
    reads it. `spare` columns travel beside the stream (RWKV-7's first values).
    """

    layers: tuple[Any, ...]
    norm: Norm | None = None
    width: int = eqx.field(static=True, default=0)
    spare: int = eqx.field(static=True, default=0)

    def __check_init__(self):
        if not self.layers:
            raise ValueError("a stack needs at least one layer, got none")

    def along(
        self, h: State, xs: Float[Array, "time inputs"]
    ) -> tuple[State, Float[Array, "time outputs"], list[LayerRun]]:
        """The state after the last input, the outputs, and what happened in every layer."""
        runs: list[Any] = []
        xs = jnp.pad(xs, ((0, 0), (0, self.spare)))
        for layer, state in zip(self.layers, h[0], strict=True):
            runs.append(layer.run(state, xs))
            xs = runs[-1].outputs
        ys = xs[:, : self.width]
        ys = ys if self.norm is None else self.norm(ys)
        return (tuple(run.state for run in runs), ys[-1]), ys, runs

    def outputs(self, xs: Float[Array, "time inputs"]) -> Float[Array, "time outputs"]:
        """The outputs of a whole text from the empty state, all at once."""
        return self.along(self.initial_state(), xs)[1]

    def __call__(self, h: State, x: Input) -> State:
        if x is None:
            raise ValueError("a language model is driven by its inputs, and none came")
        return self.along(h, x[None])[0]

    def output(self, h: State) -> Float[Array, " outputs"]:
        return h[1]

    def initial_state(self) -> State:
        states = tuple(layer.initial_state() for layer in self.layers)
        dtype = jnp.result_type(*jax.tree.leaves(states))
        return states, jnp.zeros(self.width, dtype)

    @property
    def input_size(self) -> int:
        return self.width
