r"""A stack of layers as one cell with its full state: the body of a recurrent language model.

Ordered layer by layer, the tangent map along a text is block lower-triangular, so the
Lyapunov spectrum of the stack is the union of those of its recurrences.
"""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from .._types import Input, State
from .base import AbstractCell
from .layers import LayerRun
from .parts import Norm


class Blocks(AbstractCell):
    """Layers, each hearing what the one below says in the same step, and a last norm.

    The state is that of every layer and, last, the output: a readout needs it, and no step
    hears it. `spare` columns travel beside the stream (RWKV-7's first values).
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
            run = layer.run(state, xs)
            xs = run.outputs
            runs.append(run)
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
