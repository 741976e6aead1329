r"""A batch shared out, $\bar\ell = \frac1n \sum_{i=1}^n \ell(\theta; b_i)$: a part for each device.

The products of one recurrent step are too small for two cores to share, but half a
batch is not: each device follows its own part through time, and only the finished
gradients meet.
"""

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import numpy as np
from jax.sharding import Mesh, PartitionSpec
from jaxtyping import Array, Float


class Shared(eqx.Module):
    """A loss that is a mean over its batch, worked out in parts; see `over_devices`."""

    loss: Callable
    parts: int

    def __call__(self, model: Any, batch: Any, *rest: Any) -> Float[Array, ""]:
        params, fixed = eqx.partition(model, eqx.is_inexact_array)
        others, still = eqx.partition(fixed, eqx.is_array)
        sizes = {np.shape(leaf)[:1] for leaf in jax.tree.leaves(batch)}
        if len(sizes) != 1 or () in sizes or next(iter(sizes))[0] % self.parts:
            raise ValueError(
                f"the arrays of a batch must share a first axis that {self.parts} devices "
                f"divide evenly, got {sorted(size[0] if size else 0 for size in sizes)}"
            )

        def part_loss(params: Any, fixed: Any, batch: Any, *rest: Any) -> Any:
            return self.loss(eqx.combine(params, fixed, still), batch, *rest)

        return _mean(part_loss, self.parts, params, others, batch, *rest)


def _on_each(work: Callable, parts: int, *given: Any) -> Any:
    """`work` on every part of the batch, a device each, and the mean of what it gives."""
    whole, split = PartitionSpec(), PartitionSpec("part")
    return jax.shard_map(
        lambda *part: jax.tree.map(lambda a: jax.lax.pmean(a, "part"), work(*part)),
        mesh=Mesh(np.array(jax.devices()[:parts]), ("part",)),
        in_specs=(whole, whole, split, *[whole] * (len(given) - 3)),
        out_specs=whole,
        check_vma=False,
    )(*given)


def _mean(part_loss: Callable, parts: int, params: Any, *given: Any) -> Float[Array, ""]:
    @jax.custom_vjp
    def mean(params: Any, given: tuple) -> Float[Array, ""]:
        return _on_each(part_loss, parts, params, *given)

    # The gradient is made where the part is, so that one sum over devices is enough.
    def forward(params: Any, given: tuple) -> Any:
        return _on_each(jax.value_and_grad(part_loss), parts, params, *given)

    def backward(slopes: Any, cotangent: Array) -> Any:
        return jax.tree.map(lambda slope: cotangent * slope, slopes), None

    mean.defvjp(forward, backward)
    return mean(params, given)


def over_devices(loss: Callable) -> Shared:
    r"""The same mean loss, each of JAX's devices with an equal part of the batch.

    `loss(model, batch, ...)` must be a mean over the first axis of the arrays in
    `batch`; what comes after the batch (a key, say) is the same for every part. Only
    the gradient by the model exists. JAX has one device for a processor unless it
    was started with `XLA_FLAGS=--xla_force_host_platform_device_count=CORES`. The last
    bits depend on the number of parts, which therefore belongs to the identity of a
    training.

    >>> import jax.numpy as jnp
    >>> loss = lambda w, batch: jnp.mean((batch - w) ** 2)
    >>> whole, batch = jnp.ones(()), jnp.arange(4.0)
    >>> float(over_devices(loss)(whole, batch)), float(loss(whole, batch))
    (1.5, 1.5)
    """
    return Shared(loss, jax.device_count())
