r"""Diagonal linear recurrences (LRU-like), $h' = a \odot h + B x$, real or complex.

Orvieto et al. 2023; S4D and S5 are this with their own spectra. A complex state is carried as the pair of its real and
imaginary parts, so that every measurement sees real numbers: $N$ complex units
have $2N$ exponents, each $\log|a_i|$ twice.
"""

from collections.abc import Callable

import jax
import jax.numpy as jnp
import jax.random as jr
from jaxtyping import Array, Float, Inexact

from .._types import Input, Key, Scalar, State
from .base import AbstractCell, DiagonalForm


class Diagonal(AbstractCell):
    """Units that do not talk to each other: the exact case of every measurement.

    >>> import jax.numpy as jnp
    >>> cell = Diagonal(a=jnp.array([0.5, -0.25]), B=jnp.ones((2, 1)))
    >>> cell(jnp.ones(2), jnp.zeros(1)).tolist()
    [0.5, -0.25]
    """

    a: Inexact[Array, " units"]
    B: Inexact[Array, "units inputs"]

    @classmethod
    def init(
        cls, inputs: int, units: int, *, key: Key, radius: tuple[float, float] = (0.9, 0.999)
    ) -> "Diagonal":
        """Complex units on the ring between two radii, inputs scaled to keep variance."""
        key_r, key_angle, key_re, key_im = jr.split(key, 4)
        inner, outer = radius
        r = jnp.sqrt(jr.uniform(key_r, (units,), minval=inner**2, maxval=outer**2))
        angle = jr.uniform(key_angle, (units,), maxval=2 * jnp.pi)
        B_re = jr.normal(key_re, (units, inputs))
        B_im = jr.normal(key_im, (units, inputs))
        gain = jnp.sqrt((1 - r**2) / (2 * max(inputs, 1)))[:, None]
        B = jax.lax.complex(gain * B_re, gain * B_im)
        return cls(jax.lax.complex(r * jnp.cos(angle), r * jnp.sin(angle)), B)

    def __check_init__(self):
        if jnp.iscomplexobj(self.a) != jnp.iscomplexobj(self.B):
            raise ValueError(
                f"a and B must both be real or both complex, got {self.a.dtype} and {self.B.dtype}"
            )

    def __call__(self, h: State, x: Input) -> State:
        if not jnp.iscomplexobj(self.a):
            drive = self.a * h
            return drive if x is None else drive + self.B @ x
        re, im = h
        a_re, a_im = self.a.real, self.a.imag
        following = a_re * re - a_im * im, a_re * im + a_im * re
        if x is None:
            return following
        return following[0] + self.B.real @ x, following[1] + self.B.imag @ x

    def log_volume(self) -> Callable[[State, Input], Scalar]:
        """The sum of the logarithms of the moduli; each complex unit counts twice."""
        whole = jnp.sum(jnp.log(jnp.abs(self.a)))
        twice = 2 * whole if jnp.iscomplexobj(self.a) else whole
        return lambda h, x: twice

    def log_decays(self, h: State, x: Input) -> State:
        """The logarithms of the moduli: constants, the same for both parts of a complex unit."""
        log_a = jnp.log(jnp.abs(self.a))
        return (log_a, log_a) if jnp.iscomplexobj(self.a) else log_a

    def contraction_form(self) -> DiagonalForm:
        return DiagonalForm(self.a, self.B)

    def initial_state(self) -> State:
        zeros: Float[Array, " units"] = jnp.zeros(self.a.shape, self.a.real.dtype)
        return (zeros, zeros) if jnp.iscomplexobj(self.a) else zeros

    @property
    def input_size(self) -> int:
        return self.B.shape[1]
