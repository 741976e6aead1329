"""One training for stable and free models: the same program, a flag decides.

A stable model is projected onto the stable set after every step; a free one is not.
"""

import dataclasses
from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import optax
from jaxtyping import Array, Bool

from ..._fast_compile import FAST_COMPILE
from ...cells import LSTM
from ...nets import Recurrent
from ...train import trained
from ...train.projection import INPUT_BOUND, stable


def project(net: Recurrent, rate: float | None = None) -> Recurrent:
    """The network with its cell, and the tokens that it reads, in the stable set."""
    cell = stable(net.cell) if rate is None else stable(net.cell, rate=rate)
    net = eqx.tree_at(lambda net: net.cell, net, cell)
    if isinstance(cell, LSTM) and net.embedding is not None:
        bounded = jnp.clip(net.embedding, -INPUT_BOUND, INPUT_BOUND)
        net = eqx.tree_at(lambda net: net.embedding, net, bounded)
    return net


class StableOrFree(eqx.Module):
    """A model and whether it is free; one compiled program trains both kinds."""

    net: Recurrent
    free: Bool[Array, ""]
    rate: float | None = eqx.field(static=True, default=None)

    def projected(self) -> "StableOrFree":
        """After a step: in the stable set, unless it is free."""
        arrays, rest = eqx.partition(self.net, eqx.is_array)

        def inside(arrays):
            net = project(eqx.combine(arrays, rest), self.rate)
            return eqx.filter(net, eqx.is_array)

        chosen = jax.lax.cond(self.free, lambda arrays: arrays, inside, arrays)
        return StableOrFree(eqx.combine(chosen, rest), self.free, self.rate)


@dataclasses.dataclass(frozen=True)
class MemoryTask:
    """What small models are asked to remember, over a length that is traced."""

    network: Callable[[Any, Any, Any], Recurrent]
    """From keys of the cell and of the readout, and whether it is free."""
    loss: Callable[[Recurrent, Any, Any], Array]
    """Of a network at one length, on data drawn with a key."""
    learning_rate: float
    tests: int
    """Batches of the test loss."""


def train_stable_and_free(
    task: MemoryTask, lengths: Any, free: Any, *, steps: int, rate: float, seed: int
) -> tuple[Any, Array]:
    """Networks and test losses, a lane for each length and flag, in one program."""
    rest = []

    def lane(length, free):
        key_cell, key_net, key_run, key_test = jr.split(jr.key(seed), 4)
        net = task.network(key_cell, key_net, free)
        model = StableOrFree(net, free, rate).projected()
        loss = lambda model, _, key: task.loss(model.net, length, key)
        optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.adam(task.learning_rate))
        options = {"steps": steps, "key": key_run, "every": steps}
        model, _ = trained(model, loss, optimizer, project=StableOrFree.projected, **options)
        test = lambda key: task.loss(model.net, length, key)
        losses = jax.vmap(test)(jr.split(key_test, task.tests))
        arrays, static = eqx.partition(model.net, eqx.is_array)
        rest.append(static)
        return arrays, losses.mean()

    # The program runs no longer than it compiles.
    program = jax.jit(jax.vmap(lane), compiler_options=FAST_COMPILE)
    arrays, losses = program(jnp.asarray(lengths), jnp.asarray(free))
    return eqx.combine(arrays, rest[-1]), losses


def lane_of(stacked: Any, lane: int) -> Any:
    """One lane of stacked networks."""
    return jax.tree.map(lambda leaf: leaf[lane] if eqx.is_array(leaf) else leaf, stacked)
