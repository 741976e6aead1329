"""The linear cell, $h' = W_h h + W_x x$."""

from jaxtyping import Array, Float

from .._types import Input, Key, Vector
from .affine import AbstractAffine, gaussian_weights
from .base import log_determinant, LogVolume, LoopForm


class Linear(AbstractAffine):
    """The simplest memory: no bias and no non-linearity.

    >>> import jax.numpy as jnp
    >>> cell = Linear(W_h=0.5 * jnp.eye(2), W_x=jnp.ones((2, 1)))
    >>> cell(jnp.ones(2), jnp.ones(1)).tolist()
    [1.5, 1.5]
    """

    W_h: Float[Array, "units units"]
    W_x: Float[Array, "units inputs"]

    @classmethod
    def init(cls, inputs: int, units: int, *, key: Key, gain: float = 1.0) -> "Linear":
        """Gaussian weights; the spectral radius of `W_h` is about `gain`."""
        return cls(*gaussian_weights(inputs, units, key=key, gain=gain))

    def __call__(self, h: Vector, x: Input) -> Vector:
        drive = self.W_h @ h
        return drive if x is None else drive + self.W_x @ x

    def log_volume(self) -> LogVolume:
        r"""$\log|\det W_h|$, everywhere."""
        whole = log_determinant(self.W_h)
        return lambda h, x: whole

    def contraction_form(self) -> LoopForm:
        return LoopForm(self.W_h, self.W_x)
