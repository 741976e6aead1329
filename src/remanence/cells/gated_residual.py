r"""Any cell behind a residual, $h' = R(h) + \gamma\,\phi(h, x)$: document 001's idea for LSTM and GRU.

The inner cell $\phi$ is smooth, so the Jacobian is $J = R + \gamma\,\phi'$ and the
exponents tend to $\log|\mathrm{eig}\,R|$ as $\gamma \to 0$, whatever gates it has.
"""

from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from .._types import Frame, Input, Scalar, State
from .base import AbstractCell, input_size, output, pushforward


class WeaklyCoupled(AbstractCell):
    """`cell` behind the residual `R`, which acts on every part of the state alike.

    An LSTM carries two vectors, `(h, c)`: each goes through the same `R`, so each
    eigenvalue of `R` counts twice. Round an `Elman` this is `Residual`.

    >>> import jax.numpy as jnp
    >>> from remanence.cells import GRU
    >>> inner = GRU(jnp.zeros((6, 2)), jnp.zeros((6, 1)))
    >>> cell = WeaklyCoupled(inner, R=0.5, coupling=1.0)
    >>> cell(jnp.ones(2), jnp.zeros(1)).tolist()  # half kept, half through the gate
    [1.0, 1.0]
    """

    cell: Any
    R: Float[Array, "units units"] | Scalar
    coupling: Scalar = 0.1

    def __check_init__(self):
        if isinstance(self.coupling, float | int) and not self.coupling >= 0:
            raise ValueError(f"coupling must not be negative, got {self.coupling}")
        if jnp.ndim(self.R) == 2:
            units, sizes = jnp.shape(self.R)[0], set()
            for leaf in jax.tree.leaves(jax.eval_shape(self.cell.initial_state)):
                sizes.add(leaf.shape[-1])
            if sizes != {units}:
                raise ValueError(
                    f"R is {units} x {units}, but the cell's state has parts of {sorted(sizes)}"
                )

    def residual(self, h: State) -> State:
        """What the residual alone makes of the state."""
        keep = lambda leaf: self.R * leaf if jnp.ndim(self.R) == 0 else self.R @ leaf
        return jax.tree.map(keep, h)

    def __call__(self, h: State, x: Input) -> State:
        add = lambda kept, new: kept + self.coupling * new
        return jax.tree.map(add, self.residual(h), self.cell(h, x))

    def pushforward(self, h: State, x: Input, Q: Frame) -> tuple[State, Frame]:
        inner, JQ = pushforward(self.cell, h, x, Q)
        add = lambda kept, new: kept + self.coupling * new
        following = jax.tree.map(add, self.residual(h), inner)
        if jnp.ndim(self.R) == 0:
            return following, self.R * Q + self.coupling * JQ
        parts = jnp.split(Q, len(jax.tree.leaves(h)))
        RQ = jnp.concatenate([self.R @ part for part in parts])
        return following, RQ + self.coupling * JQ

    def output(self, h: State) -> Float[Array, " outputs"]:
        return output(self.cell, h)

    def initial_state(self) -> State:
        return self.cell.initial_state()

    @property
    def input_size(self) -> int | None:
        return input_size(self.cell)
