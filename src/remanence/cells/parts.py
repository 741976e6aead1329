"""The parts of a language model's layer: norms, maps, short convolution, local attention."""

from collections.abc import Callable

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float


Activation = Callable[[Array], Array]


def identity(x: Array) -> Array:
    """x itself."""
    return x


def exact_gelu(x: Array) -> Array:
    """x times the normal distribution function, not its approximation by tanh."""
    return jax.nn.gelu(x, approximate=False)


class Norm(eqx.Module):
    """Root mean square or, with `centred`, layer normalisation; of each of some groups."""

    weight: Float[Array, " width"]
    bias: Float[Array, " width"] | None = None
    eps: float = eqx.field(static=True, default=1e-5)
    centred: bool = eqx.field(static=True, default=False)
    groups: int = eqx.field(static=True, default=1)

    def __call__(self, x: Float[Array, "... width"]) -> Float[Array, "... width"]:
        rows = x.reshape(*x.shape[:-1], self.groups, -1)
        if self.centred:
            rows = rows - jnp.mean(rows, axis=-1, keepdims=True)
        square = jnp.mean(rows * rows, axis=-1, keepdims=True)
        y = (rows * jax.lax.rsqrt(square + self.eps)).reshape(x.shape) * self.weight
        return y if self.bias is None else y + self.bias


class Dense(eqx.Module):
    """An affine map, along the last axis."""

    W: Float[Array, "outputs inputs"]
    b: Float[Array, " outputs"] | None = None

    def __call__(self, x: Float[Array, "... inputs"]) -> Float[Array, "... outputs"]:
        y = x @ self.W.T
        return y if self.b is None else y + self.b


class GatedMLP(eqx.Module):
    """`down(act(gate x) * up x)` of the input, normalised if there is a norm."""

    norm: Norm | None
    gate: Dense
    up: Dense
    down: Dense
    activation: Activation = eqx.field(static=True, default=jax.nn.silu)

    def __call__(self, x: Float[Array, "time width"]) -> Float[Array, "time width"]:
        x = x if self.norm is None else self.norm(x)
        return self.down(self.activation(self.gate(x)) * self.up(x))


class Experts(eqx.Module):
    """A mixture: the best few of many perceptrons, and one that all share."""

    norm: Norm
    router: Float[Array, "experts width"]
    gate_up: Float[Array, "experts both width"]
    down: Float[Array, "experts width inner"]
    shared: GatedMLP
    shared_gate: Dense
    best: int = eqx.field(static=True)
    normalised: bool = eqx.field(static=True, default=True)
    activation: Activation = eqx.field(static=True, default=jax.nn.silu)

    def __call__(self, x: Float[Array, "time width"]) -> Float[Array, "time width"]:
        x = self.norm(x)
        share = jax.nn.softmax(x @ self.router.T, axis=-1)
        least = jax.lax.top_k(share, self.best)[0][:, -1:]
        share = jnp.where(share >= least, share, 0.0)
        if self.normalised:
            share = share / jnp.sum(share, axis=-1, keepdims=True)
        gate, up = jnp.split(jnp.einsum("td,ebd->teb", x, self.gate_up), 2, axis=-1)
        each = jnp.einsum("teb,edb->ted", self.activation(gate) * up, self.down)
        shared = jax.nn.sigmoid(self.shared_gate(x)) * self.shared(x)
        return jnp.einsum("te,ted->td", share, each) + shared


class Convolution(eqx.Module):
    """A causal convolution over the last few inputs of each channel: exact memory K - 1.

    The state holds the last K - 1 inputs, the oldest first.
    """

    weight: Float[Array, "channels taps"]
    bias: Float[Array, " channels"] | None = None

    def initial_state(self) -> Float[Array, "past channels"]:
        channels, taps = self.weight.shape
        return jnp.zeros((taps - 1, channels), self.weight.dtype)

    def along(
        self, past: Float[Array, "past channels"], xs: Float[Array, "time channels"]
    ) -> tuple[Array, Array]:
        """The past after the last input, and the outputs."""
        recent = jnp.concatenate([past, xs])
        taps = self.weight.shape[1]
        ys = sum(recent[k : k + len(xs)] * self.weight[:, k] for k in range(taps))
        ys = jnp.asarray(ys) if self.bias is None else ys + self.bias
        return recent[len(recent) - len(past) :], ys


class LocalAttention(eqx.Module):
    """Attention to the last `window` inputs with rotary positions: exact memory window - 1.

    Angles depend on distances only, so the state holds keys that are not rotated yet, with
    their values and a 1 for every place that is filled.
    """

    query: Dense
    key: Dense
    value: Dense
    out: Dense
    heads: int = eqx.field(static=True)
    window: int = eqx.field(static=True)
    rotated: int = eqx.field(static=True)
    """How many numbers of a head are rotated."""
    base: float = eqx.field(static=True, default=10000.0)

    def initial_state(self) -> tuple[Array, Array, Array]:
        empty = lambda width: jnp.zeros((self.window - 1, width), self.key.W.dtype)
        return empty(len(self.key.W)), empty(len(self.value.W)), empty(1)

    def along(
        self, past: tuple[Array, Array, Array], xs: Float[Array, "time width"]
    ) -> tuple[tuple[Array, Array, Array], Array]:
        """The past after the last input, and the outputs."""
        T, W = len(xs), self.window
        here = (self.key(xs), self.value(xs), jnp.ones((T, 1), xs.dtype))
        recent = [jnp.concatenate(pair) for pair in zip(past, here, strict=True)]
        size = len(self.query.W) // self.heads
        split = lambda a: a.reshape(len(a), -1, size)
        q, k, v = split(self.query(xs)), split(recent[0]), split(recent[1])
        k, v = (jnp.repeat(a, self.heads // a.shape[1], axis=1) for a in (k, v))
        # Place j of the recent inputs is at time j - (W - 1), the queries at 0 ... T - 1.
        now, then = jnp.arange(T), jnp.arange(T + W - 1) - W + 1
        q, k = self._rotate(q, now), self._rotate(k, then)
        age = now[:, None] - then
        seen = (age >= 0) & (age < W) & (recent[2][:, 0] > 0.5)
        scores = jnp.einsum("thd,shd->hts", q, k) * size**-0.5
        weights = jax.nn.softmax(jnp.where(seen, scores, -jnp.inf), axis=-1)
        y = self.out(jnp.einsum("hts,shd->thd", weights, v).reshape(T, -1))
        return tuple(part[len(part) - W + 1 :] for part in recent), y  # pyright: ignore[reportReturnType]

    def _rotate(self, x: Array, at: Array) -> Array:
        frequency = self.base ** (-jnp.arange(0, self.rotated, 2, dtype=x.dtype) / self.rotated)
        half = len(frequency)
        angle = (at.astype(x.dtype)[:, None] * frequency)[:, None, :]
        one, two, rest = x[..., :half], x[..., half : 2 * half], x[..., 2 * half :]
        cos, sin = jnp.cos(angle), jnp.sin(angle)
        return jnp.concatenate([one * cos - two * sin, two * cos + one * sin, rest], -1)
