r"""Weakly coupled residual cells, $h' = R(h) + \gamma\,\phi(h, x)$, round one activation or any cell."""

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from .._types import Frame, Input, InputFrame, Key, Scalar, State, Vector
from .affine import AbstractAffine, gaussian_weights, value_and_slope
from .base import AbstractWrapper, LoopForm, Pushed


class Residual(AbstractAffine):
    r"""$h' = R(h) + \gamma\,\rho(W_h h + W_x x + b)$; `coupling` is the paper's $\gamma$.

    `R` is a matrix, a scalar (that multiple of the identity) or a map of the state.

    >>> import jax.numpy as jnp
    >>> cell = Residual(0.5, jnp.eye(2), jnp.ones((2, 1)), coupling=0.0)
    >>> cell(jnp.ones(2), jnp.ones(1)).tolist()
    [0.5, 0.5]
    """

    R: Float[Array, "units units"] | Scalar | Callable
    W_h: Float[Array, "units units"]
    W_x: Float[Array, "units inputs"]
    b: Float[Array, " units"] | None = None
    coupling: Scalar = 1.0
    activation: Callable = eqx.field(static=True, default=jnp.tanh)

    @classmethod
    def init(
        cls,
        inputs: int,
        units: int,
        *,
        key: Key,
        residual: Float[Array, "units units"] | Scalar | Callable = 1.0,
        coupling: Scalar = 0.1,
        activation: Callable = jnp.tanh,
    ) -> "Residual":
        """Gaussian weights of unit gain behind a given residual."""
        W_h, W_x = gaussian_weights(inputs, units, key=key)
        return cls(residual, W_h, W_x, jnp.zeros(units), coupling, activation)

    def __check_init__(self):
        if isinstance(self.coupling, float | int) and not self.coupling >= 0:
            raise ValueError(f"coupling must not be negative, got {self.coupling}")
        if not callable(self.R) and jnp.ndim(self.R) not in (0, 2):
            raise ValueError(f"R must be a number or a matrix, got shape {jnp.shape(self.R)}")

    def residual(self, h: Array) -> Array:
        """What the residual alone makes of the state, $R(h)$, or of columns of states."""
        if callable(self.R):
            return self.R(h) if h.ndim == 1 else jax.vmap(self.R, in_axes=1, out_axes=1)(h)
        return self.R * h if jnp.ndim(self.R) == 0 else self.R @ h

    def __call__(self, h: Vector, x: Input) -> Vector:
        return self.from_drive(self.drive(h, x), h)

    def from_drive(self, z: Array, h: Array) -> Array:
        return self.residual(h) + self.coupling * self.activation(z)

    def pushforward(self, h: Vector, x: Input, Q: Frame, X: InputFrame | None = None) -> Pushed:
        value, slope = value_and_slope(self.activation, self.drive(h, x))
        gain = (self.coupling * slope)[:, None]
        carried, linear = jax.linearize(self.residual, h)
        if not callable(self.R) and jnp.ndim(self.R) == 2 and Q.shape[1] > 1:
            # For a wide frame one product with the whole Jacobian beats two.
            JQ = (self.R + gain * self.W_h) @ Q
        else:
            JQ = jax.vmap(linear, in_axes=1, out_axes=1)(Q) + gain * (self.W_h @ Q)
        if X is not None:
            JQ = JQ + gain * (self.W_x @ X)
        return carried + self.coupling * value, JQ

    def contraction_form(self) -> LoopForm:
        return LoopForm(self.W_h, self.W_x, self.b, self.activation, self.R, self.coupling)


class WeaklyCoupled(AbstractWrapper):
    r"""`cell` behind the residual `R`, which acts on every part of the state alike.

    The exponents tend to $\log|\mathrm{eig}\,R|$ as the coupling goes to 0, whatever gates the
    cell has. An LSTM carries two vectors, `(h, c)`: each goes through the same `R`, so each
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
        sizes = {h.shape[-1] for h in jax.tree.leaves(jax.eval_shape(self.cell.initial_state))}
        if jnp.ndim(self.R) == 2 and sizes != {(units := jnp.shape(self.R)[0])}:
            raise ValueError(f"R is {units} x {units}, but the state has parts of {sorted(sizes)}")

    def __call__(self, h: State, x: Input) -> State:
        keep = lambda h: self.R * h if jnp.ndim(self.R) == 0 else self.R @ h
        return jax.tree.map(lambda h, new: keep(h) + self.coupling * new, h, self.cell(h, x))
