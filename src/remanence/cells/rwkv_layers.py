"""Layers of RWKV-4 (Peng et al. 2023) and RWKV-7 (Peng et al. 2025), with their token shifts."""

from typing import Any

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
    """A layer that keeps the last input of its time mixing and of its channel mixing."""

    norms: eqx.AbstractVar[tuple[Norm, Norm]]
    recurrence: eqx.AbstractVar[Any]

    @property
    def memory(self) -> int:
        return 1

    def initial_state(self) -> LayerState:
        zeros = jnp.zeros_like(self.norms[0].weight)
        return LayerState(self.recurrence.initial_state(), (zeros, zeros))


class RWKV4Layer(AbstractRWKVLayer):
    """Time mixing by RWKV-4 and channel mixing, each hearing a blend with the input before."""

    norms: tuple[Norm, Norm]
    mixes: Float[Array, "5 width"]
    """The share of the present input in k, v, r, and in k and r of the channel mixing."""
    key: Dense
    value: Dense
    receptance: Dense
    recurrence: LinearRecurrence
    W_out: Dense
    channel_key: Dense
    channel_value: Dense
    channel_receptance: Dense

    def run(self, state: LayerState, xs: Float[Array, "time width"]) -> LayerRun:
        x = self.norms[0](xs)
        k, v, r, ck, cr = self.mixes
        before = shift(state.recent[0], x)
        keys, values = (self.key(blend(x, before, k)), self.value(blend(x, before, v)))
        us = jnp.concatenate([keys, values], axis=1)
        states, ys = self.recurrence.along(state.recurrent, us)
        gate = jax.nn.sigmoid(self.receptance(blend(x, before, r)))
        xs = xs + self.W_out(gate * ys)
        last, x = x[-1], self.norms[1](xs)
        before = shift(state.recent[1], x)
        inner = jnp.square(jax.nn.relu(self.channel_key(blend(x, before, ck))))
        gate = jax.nn.sigmoid(self.channel_receptance(blend(x, before, cr)))
        ys = xs + gate * self.channel_value(inner)
        return LayerRun(LayerState(states[-1], (last, x[-1])), ys, us, states)


class LowRankMap(eqx.Module):
    """b + act(x A) B."""

    A: Float[Array, "width rank"]
    B: Float[Array, "rank outputs"]
    b: Float[Array, " outputs"] | None = None

    def __call__(self, x: Array, activation: Activation = lambda x: x) -> Array:
        y = activation(x @ self.A) @ self.B
        return y if self.b is None else y + self.b


class RWKV7Layer(AbstractRWKVLayer):
    """Time mixing by RWKV-7 (Peng et al. 2025) and channel mixing.

    Layers after the first blend their values with the first layer's, which travel in the
    columns behind the residual stream's own: `first` writes them there.
    """

    norms: tuple[Norm, Norm]
    mixes: Float[Array, "7 width"]
    """The share of the present input in r, w, k, v, a, g, and in the channel mixing."""
    receptance: Dense
    key: Dense
    value: Dense
    decay: LowRankMap
    rate: LowRankMap
    value_share: LowRankMap | None
    gate: LowRankMap
    k_k: Float[Array, " width"]
    k_a: Float[Array, " width"]
    bonus: Float[Array, "heads size"]
    norm_out: Norm
    recurrence: DeltaRule
    W_out: Dense
    channel_key: Dense
    channel_value: Dense

    def run(self, state: LayerState, xs: Float[Array, "time both"]) -> LayerRun:
        width = len(self.k_k)
        stream, first = xs[:, :width], xs[:, width:]
        x = self.norms[0](stream)
        before = shift(state.recent[0], x)
        r, w, k, v, a, g = (blend(x, before, share) for share in self.mixes[:6])
        w = jnp.exp(-0.606531 * jax.nn.sigmoid(self.decay(w, jnp.tanh)))
        a, g = jax.nn.sigmoid(self.rate(a)), self.gate(g, jax.nn.sigmoid)
        r, k, own = self.receptance(r), self.key(k), self.value(v)
        if self.value_share is None:
            v = first = own
        else:
            v = own + (first - own) * jax.nn.sigmoid(self.value_share(v))
        kappa, k = k * self.k_k, k * (1 + (a - 1) * self.k_a)
        us = jnp.concatenate([r, k, v, w, kappa, a], axis=1)
        states, ys = self.recurrence.along(state.recurrent, us)
        heads = lambda part: part.reshape(len(part), *self.bonus.shape)
        same = jnp.sum(heads(r) * heads(k) * self.bonus, axis=-1, keepdims=True)
        ys = self.norm_out(ys) + (same * heads(v)).reshape(ys.shape)
        stream, last = stream + self.W_out(ys * g), x[-1]
        x = self.norms[1](stream)
        before = shift(state.recent[1], x)
        inner = jnp.square(jax.nn.relu(self.channel_key(blend(x, before, self.mixes[6]))))
        stream = stream + self.channel_value(inner)
        ys = jnp.concatenate([stream, first], axis=1)
        return LayerRun(LayerState(states[-1], (last, x[-1])), ys, us, states)
