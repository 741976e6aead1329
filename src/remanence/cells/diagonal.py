r"""Diagonal linear recurrences (LRU-like), $h' = a \odot h + B x$, real or complex.

Orvieto et al. 2023; S4D and S5 are this with their own spectra. A complex state is the pair of its
real and imaginary parts: $N$ complex units have $2N$ exponents, each $\log|a_i|$ twice.
"""

from typing import Any

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
from jaxtyping import Array, Float, Inexact

from .._types import Input, Key, State
from .base import AbstractCell, DiagonalForm, LogVolume


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
        gain = jnp.sqrt((1 - r**2) / (2 * max(inputs, 1)))[:, None]
        parts = (gain * jr.normal(key, (units, inputs)) for key in (key_re, key_im))
        return cls(jax.lax.complex(r * jnp.cos(angle), r * jnp.sin(angle)), jax.lax.complex(*parts))

    @classmethod
    def discretised(cls, Lambda: Any, B: Any, step: Any) -> "Diagonal":
        r"""$\dot h = \Lambda h + B x$ held over a step: $a = e^{\Lambda\Delta}$, $(a - 1) / \Lambda \cdot B$."""
        Lambda, B = jnp.asarray(Lambda), jnp.asarray(B)
        a = jnp.exp(Lambda * step.astype(Lambda.dtype))
        return cls(a, ((a - 1) / Lambda)[:, None] * B)

    @classmethod
    def s4d(cls, inputs: int, modes: int, *, key: Key) -> "Diagonal":
        r"""S4D-Lin (Gu et al. 2022): each input drives modes $-1/2 + i\pi n$ at a step of its own."""
        Lambda = np.tile(-0.5 + 1j * np.pi * np.arange(modes), inputs)
        B = np.repeat(np.eye(inputs, dtype=complex), modes, axis=0)
        return cls.discretised(Lambda, B, jnp.repeat(_steps(key, inputs), modes))

    @classmethod
    def s5(cls, inputs: int, units: int, *, key: Key) -> "Diagonal":
        """S5 (Smith et al. 2023): the normal part of HiPPO-LegS, all modes hearing all inputs."""
        key_step, key_b = jr.split(key)
        root = np.sqrt(2 * np.arange(2 * units) + 1)
        skew = -0.5 * np.outer(root, root) * np.sign(np.subtract.outer(root, root))
        frequency, V = np.linalg.eigh(-1j * skew)
        B = V.conj().T @ np.asarray(inputs**-0.5 * jr.normal(key_b, (2 * units, inputs)))
        kept = slice(units, None)  # the others are their conjugates
        return cls.discretised(-0.5 + 1j * frequency[kept], B[kept], _steps(key_step, units))

    def __check_init__(self):
        if jnp.iscomplexobj(self.a) != jnp.iscomplexobj(self.B):
            kinds = f"{self.a.dtype} and {self.B.dtype}"
            raise ValueError(f"a and B must both be real or both complex, got {kinds}")

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

    def log_volume(self) -> LogVolume:
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


def _steps(key: Key, count: int) -> Float[Array, " count"]:
    """Log-uniform between 0.001 and 0.1."""
    return jnp.exp(jr.uniform(key, (count,), minval=jnp.log(0.001), maxval=jnp.log(0.1)))
