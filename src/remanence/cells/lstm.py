r"""The long short-term memory cell, in torch's equations and gate order (i, f, g, o).

$$c' = f \odot c + i \odot g, \qquad h' = o \odot \tanh c'$$
"""

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
from jaxtyping import Array, Float

from .._types import Frame, Input, InputFrame, Key, Scalar, Vector
from .affine import AbstractAffine, require_blocks, sigmoid_and_slope, tanh_and_slope, uniform
from .base import Dual, inverse_transposed, log_determinant, LogVolume, LSTMForm, Pushed


Pair = tuple[Vector, Vector]
ProjectedPair = tuple[Float[Array, " outputs"], Float[Array, " units"]]


class AbstractPair(AbstractAffine):
    """A cell whose state is the pair `(h, c)`, and whose output is `h`."""

    def output(self, h: ProjectedPair) -> Float[Array, " outputs"]:
        return h[0]

    def initial_state(self: Any) -> ProjectedPair:
        gates, outputs = self.W_h.shape
        zeros = lambda size: jnp.zeros(size, self.W_h.dtype)
        return zeros(outputs), zeros(gates // 4)


class LSTM(AbstractPair):
    """The state is the pair `(h, c)`: a cell of N units has 2N exponents.

    The four blocks of `W_h`, `W_x` and `b` are the input gate, the forget gate, the candidate and
    the output gate. torch keeps two biases; only their sum acts, and `b` is that sum.
    """

    W_h: Float[Array, "gates units"]
    W_x: Float[Array, "gates inputs"]
    b: Float[Array, " gates"] | None = None

    @classmethod
    def init(cls, inputs: int, units: int, *, key: Key) -> "LSTM":
        """torch's default: uniform between plus and minus the inverse root of `units`."""
        key_h, key_x, key_b = jr.split(key, 3)
        draw = uniform(units**-0.5)
        b = draw(key_b, 4 * units)
        return cls(draw(key_h, 4 * units, units), draw(key_x, 4 * units, inputs), b)

    def __check_init__(self):
        require_blocks(self.W_h, 4, "an LSTM")

    def __call__(self, h: Pair, x: Input) -> Pair:
        return self.from_drive(self.drive(h[0], x), h)

    def from_drive(self, z: Array, h: tuple[Array, Array]) -> tuple[Array, Array]:
        i, f, g, o = jnp.split(z, 4)
        sigmoid = jax.nn.sigmoid
        c = sigmoid(f) * h[1] + sigmoid(i) * jnp.tanh(g)
        return sigmoid(o) * jnp.tanh(c), c

    def pushforward(self, h: Pair, x: Input, Q: Frame, X: InputFrame | None = None) -> Pushed:
        following, f, by_gate, by_cell = self._slopes(h, x)
        Q_h, Q_c = jnp.split(Q, 2)
        # One product serves all four gates; the slopes scale its blocks.
        Z = self.W_h @ Q_h if X is None else self.W_h @ Q_h + self.W_x @ X
        Z_i, Z_f, Z_g, Z_o = jnp.split(Z, 4)
        by_i, by_f, by_g, by_o = jnp.split(by_gate[:, None], 4)
        D_c = f[:, None] * Q_c + by_f * Z_f + by_i * Z_i + by_g * Z_g
        D_h = by_o * Z_o + by_cell[:, None] * D_c
        return following, jnp.concatenate([D_h, D_c])

    def _slopes(self, h: Pair, x: Input) -> tuple[Pair, Vector, Array, Vector]:
        """The next state, and how $c'$ moves with $c$, it or $h'$ with each gate, $h'$ with $c'$."""
        hidden, c = h
        z_i, z_f, z_g, z_o = jnp.split(self.drive(hidden, x), 4)
        (i, d_i), (f, d_f) = sigmoid_and_slope(z_i), sigmoid_and_slope(z_f)
        (g, d_g), (o, d_o) = tanh_and_slope(z_g), sigmoid_and_slope(z_o)
        following = f * c + i * g
        t, d_t = tanh_and_slope(following)
        by_gate = jnp.concatenate([g * d_i, c * d_f, i * d_g, t * d_o])
        return (o * t, following), f, by_gate, o * d_t

    def dual_pushforward(self) -> Dual:
        r"""$J^{-\top} Q$ by elimination of $c'$, with $W_o^{-1}$ once for all steps."""
        units = self.W_h.shape[1]
        inverse = inverse_transposed(self.W_h[3 * units :])
        inner = self.W_h[: 3 * units].T

        def at(h: Pair, x: Input, Q: Frame):
            following, f, by_gate, by_cell = self._slopes(h, x)
            Q_h, Q_c = jnp.split(Q, 2)
            P_c = Q_c / f[:, None]
            moved = by_gate[: 3 * units, None] * jnp.tile(P_c, (3, 1))
            solved = inverse @ (Q_h - inner @ moved)
            P_h = solved / by_gate[3 * units :, None]
            P = jnp.concatenate([P_h, P_c - by_cell[:, None] * P_h])
            return following, P, self.W_x.T @ jnp.concatenate([moved, solved])

        return at

    def log_volume(self) -> LogVolume:
        r"""$\log|\det J| = \sum \log f + \log|\tanh c'| + \log o(1 - o)$, and $\log|\det W_o|$."""
        whole = log_determinant(self.W_h[3 * self.W_h.shape[1] :])

        def at(h: Pair, x: Input) -> Scalar:
            z = self.drive(h[0], x)
            _, z_f, _, z_o = jnp.split(z, 4)
            t = jnp.tanh(self.from_drive(z, h)[1])
            logs = sum(map(jax.nn.log_sigmoid, (z_f, z_o, -z_o)), jnp.log(jnp.abs(t)))
            return whole + jnp.sum(logs)

        return at

    def contraction_form(self) -> LSTMForm:
        return LSTMForm(self.W_h, self.W_x, self.b)


class GeneralLSTM(AbstractPair):
    r"""An LSTM with every option that files of other libraries know; blocks are as in `LSTM`.

    $$i = \sigma(z_i + p_i \odot c), \quad f = \sigma(z_f + p_f \odot c), \quad
      o = \sigma(z_o + p_o \odot c'), \quad h' = P\,(o \odot \psi(c'))$$

    `peepholes` are those of the gates i, f and o (Gers and Schmidhuber 2000), `P` is a
    projection (Sak, Senior and Beaufays 2014). `activations` are of the gates, of the candidate
    and of the cell state. `coupled` gates forget what they do not write, $f = 1 - i$.
    """

    W_h: Float[Array, "gates outputs"]
    W_x: Float[Array, "gates inputs"]
    b: Float[Array, " gates"] | None = None
    P: Float[Array, "outputs units"] | None = None
    peepholes: Float[Array, "3 units"] | None = None
    activations: tuple[Callable, Callable, Callable] = eqx.field(
        static=True, default=(jax.nn.sigmoid, jnp.tanh, jnp.tanh)
    )
    coupled: bool = eqx.field(static=True, default=False)

    def __check_init__(self):
        gates, outputs = self.W_h.shape
        units = outputs if self.P is None else self.P.shape[1]
        if gates != 4 * units:
            raise ValueError(f"W_h must have 4N rows for N units, got {gates} for {units}")
        if self.P is not None and self.P.shape[0] != outputs:
            raise ValueError(f"P must have {outputs} rows, as W_h has columns")

    def __call__(self, h: ProjectedPair, x: Input) -> ProjectedPair:
        gate, candidate, outer = self.activations
        hidden, c = h
        p_i, p_f, p_o = (0.0, 0.0, 0.0) if self.peepholes is None else self.peepholes
        i, f, g, o = jnp.split(self.drive(hidden, x), 4)
        i, f = gate(i + p_i * c), gate(f + p_f * c)
        c = (1 - i if self.coupled else f) * c + i * candidate(g)
        hidden = gate(o + p_o * c) * outer(c)
        return (hidden if self.P is None else self.P @ hidden), c
