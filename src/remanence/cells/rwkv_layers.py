"""Layers of RWKV-4 (Peng et al. 2023) and RWKV-7 (Peng et al. 2025), with their token shifts."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from .delta_rule import DeltaRule
from .layers import AbstractLayer, LayerRun, LayerState
from .linear_recurrence import LinearRecurrence
from .parts import Activation, Dense, Norm


def shift(last: Array, xs: Array) -> Array:
    """The input before each one; `last` stands before the first."""
    return jnp.concatenate([last[None], xs[:-1]])


def blend(x: Array, before: Array, share: Array) -> Array:
    """The present input and the one before, by the share of the present one."""
    return before + (x - before) * share


class AbstractRWKVLayer(AbstractLayer):
    """Time mixing by a recurrence and channel mixing, each hearing a blend with the input before.

    `time` and `channel` are their linear maps by the names that files have for them, the `mixes`
    the shares of the present input in what each map reads.
    """

    norms: tuple[Norm, Norm]
    recurrence: LinearRecurrence | DeltaRule
    time: dict[str, Dense]
    time_mixes: Float[Array, "mixes width"]
    channel: dict[str, Dense]
    channel_mixes: Float[Array, "less width"]

    @property
    def memory(self) -> int:
        return 1

    def initial_state(self) -> LayerState:
        zeros = jnp.zeros_like(self.norms[0].weight)
        return LayerState(self.recurrence.initial_state(), (zeros, zeros))

    def mix_channels(self, last: Array, xs: Array) -> tuple[Array, Array]:
        """The last input of the channel mixing, and the stream with what it adds."""
        x = self.norms[1](xs)
        before = shift(last, x)
        key, *receptance = (blend(x, before, share) for share in self.channel_mixes)
        ys = self.channel["value"](jnp.square(jax.nn.relu(self.channel["key"](key))))
        if receptance:
            ys = jax.nn.sigmoid(self.channel["receptance"](receptance[0])) * ys
        return x[-1], xs + ys


class RWKV4Layer(AbstractRWKVLayer):
    """RWKV-4; its mixes are those of k, v and r, and of k and r of the channel mixing."""

    def run(self, state: LayerState, xs: Float[Array, "time width"]) -> LayerRun:
        x = self.norms[0](xs)
        before = shift(state.recent[0], x)
        k, v, r = (blend(x, before, share) for share in self.time_mixes)
        us = jnp.concatenate([self.time["key"](k), self.time["value"](v)], axis=1)
        states, ys = self.recurrence.along(state.recurrent, us)
        gate = jax.nn.sigmoid(self.time["receptance"](r))
        last, ys = self.mix_channels(state.recent[1], xs + self.time["output"](gate * ys))
        return LayerRun(LayerState(states[-1], (x[-1], last)), ys, us, states)


class LowRankMap(eqx.Module):
    """b + act(x A) B."""

    A: Float[Array, "width rank"]
    B: Float[Array, "rank outputs"]
    b: Float[Array, " outputs"] | None = None

    def __call__(self, x: Array, activation: Activation = lambda x: x) -> Array:
        y = activation(x @ self.A) @ self.B
        return y if self.b is None else y + self.b


class RWKV7Layer(AbstractRWKVLayer):
    """RWKV-7; its mixes are those of r, w, k, v, a and g, and that of the channel mixing.

    `low_rank` are the maps of the decay w, the rate a, the gate g and, after the first layer,
    the share v of the first layer's values, which travel in the columns behind the residual
    stream's own: the first layer writes them there.
    """

    low_rank: dict[str, LowRankMap]
    k_k: Float[Array, " width"]
    k_a: Float[Array, " width"]
    bonus: Float[Array, "heads size"]
    norm_out: Norm

    def run(self, state: LayerState, xs: Float[Array, "time both"]) -> LayerRun:
        width, low = len(self.k_k), self.low_rank
        stream, first = xs[:, :width], xs[:, width:]
        x = self.norms[0](stream)
        before = shift(state.recent[0], x)
        r, w, k, v, a, g = (blend(x, before, share) for share in self.time_mixes)
        w = jnp.exp(-0.606531 * jax.nn.sigmoid(low["w"](w, jnp.tanh)))
        a, g = jax.nn.sigmoid(low["a"](a)), low["g"](g, jax.nn.sigmoid)
        r, k, own = self.time["receptance"](r), self.time["key"](k), self.time["value"](v)
        if "v" in low:
            v = own + (first - own) * jax.nn.sigmoid(low["v"](v))
        else:
            v = first = own
        kappa, k = k * self.k_k, k * (1 + (a - 1) * self.k_a)
        us = jnp.concatenate([r, k, v, w, kappa, a], axis=1)
        states, ys = self.recurrence.along(state.recurrent, us)
        heads = lambda part: part.reshape(len(part), *self.bonus.shape)
        same = jnp.sum(heads(r) * heads(k) * self.bonus, axis=-1, keepdims=True)
        ys = self.norm_out(ys) + (same * heads(v)).reshape(ys.shape)
        stream = stream + self.time["output"](ys * g)
        last, stream = self.mix_channels(state.recent[1], stream)
        ys = jnp.concatenate([stream, first], axis=1)
        return LayerRun(LayerState(states[-1], (x[-1], last)), ys, us, states)
