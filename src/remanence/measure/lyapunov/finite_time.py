r"""The bare core of the exponents, $\lambda_i = T^{-1} \sum_t \log u_{ii}(t)$, without error bars.

One orbit as a pure function, for `jit` and `vmap`; and many networks at once. A
small network and its frame fit into the nearest cache: followed one after the
other they run faster than side by side, and each keeps its own interval.
"""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Float

from ..._precision import as_double, double
from ..._types import Key, State
from ..drive import driven, refuse_bad_weights
from .frame import start_frame
from .segment import Count, segment


def exponents_along(
    cell: Any, h0: State, xs: Float[Array, "time inputs"] | None, **options: Any
) -> Float[Array, " k"]:
    r"""The finite-time exponents of one orbit, largest first: pure, for `jit` and `vmap`.

    This is the bare core, without error bars; `options` are those of `growth_along`.
    Call it inside `jax.enable_x64(True)` with float64 weights when figures matter.

    >>> import jax.numpy as jnp
    >>> from remanence.cells import Diagonal
    >>> cell = Diagonal(jnp.array([0.5, 0.25]), jnp.ones((2, 1)))
    >>> found = exponents_along(cell, jnp.zeros(2), jnp.ones((60, 1)), warmup=20)
    >>> [round(value, 3) for value in found.tolist()]
    [-0.693, -1.386]
    """
    return growth_along(cell, h0, xs, **options)[0]


def growth_along(
    cell: Any,
    h0: State,
    xs: Float[Array, "time inputs"] | None,
    *,
    k: int | None = None,
    interval: Count | None = None,
    warmup: int = 0,
    steps: int | None = None,
    key: Key | None = None,
) -> tuple[Float[Array, " k"], Float[Array, " k"]]:
    """`exponents_along`, and about what rounding cost each, both in nats a step.

    A given `interval` is kept and believed, which is quickest under `vmap`; without one it
    is found and watched. An infinite cost says that the exponent is below the number given.
    """
    time = steps if xs is None else xs.shape[0]
    if time is None or not 0 <= warmup < time:
        raise ValueError(f"the warm-up must be shorter than {time} steps, got {warmup}")
    size = ravel_pytree(h0)[0].size
    Q = start_frame(h0, k or size, key=jr.key(0) if key is None else key)
    adaptive = interval is None
    how = {"interval": 1 if interval is None else interval, "adaptive": adaptive}
    if warmup:
        early = segment(cell, h0, Q, xs, start=0, stop=warmup, **how)
        h0, Q = early.h, early.Q
        how |= {"interval": early.interval, "scale": early.scale}
    late = segment(cell, h0, Q, xs, start=warmup, stop=time, **how)
    mean = late.growth / (time - warmup)
    order = jnp.argsort(-mean)
    return mean[order], late.rounding[order] / (time - warmup)


def _each(varied, fixed, xs, k, warmup):
    """One network after the other; with several devices, each takes its share.

    Inputs of two axes are those of all.
    """

    def lane(varied, xs):
        cell = eqx.combine(varied, fixed)
        return growth_along(cell, cell.initial_state(), xs, k=k, warmup=warmup)

    def share(varied, xs):
        if xs.ndim == 2:
            return jax.lax.map(lambda one: lane(one, xs), varied)
        return jax.lax.map(lambda both: lane(*both), (varied, xs))

    spec = jax.sharding.PartitionSpec("networks")
    own = jax.sharding.PartitionSpec() if xs.ndim == 2 else spec
    mesh = jax.sharding.Mesh(np.array(jax.devices()), ("networks",))
    return jax.shard_map(share, mesh=mesh, in_specs=(spec, own), out_specs=spec, check_vma=False)(
        varied, xs
    )


_compiled = eqx.filter_jit(_each)


def exponents_of_each(
    cells: Any, inputs: Any, *, k: int, warmup: int = 0
) -> tuple[Float[np.ndarray, "networks k"], Float[np.ndarray, "networks k"]]:
    """The first `k` exponents of many networks, and about what rounding cost each.

    `cells` is one cell whose arrays have a leading axis of networks (as `vmap` over
    `init` makes it); `inputs` are `time x width` for all of them, or a sequence each.
    Where JAX was started with several devices, they share the work.

    >>> import jax, jax.numpy as jnp
    >>> from remanence.cells import Diagonal
    >>> cells = jax.vmap(Diagonal)(jnp.array([[0.5], [0.25]]), jnp.ones((2, 1, 1)))
    >>> exponents_of_each(cells, jnp.ones((60, 1)), k=1)[0].round(3).tolist()
    [[-0.693], [-1.386]]
    """
    refuse_bad_weights(cells)
    with double():
        varied, fixed = eqx.partition(as_double(cells), eqx.is_array)
        leading = {leaf.shape[:1] for leaf in jax.tree.leaves(varied)}
        unlike = ValueError("the arrays of the cells must share one leading axis, the networks'")
        if len(leading) != 1 or () in leading:
            raise unlike
        ((networks,),) = leading
        xs = np.asarray(inputs, np.float64)
        own = xs.ndim == 3 and len(xs) == networks
        if not (xs.ndim == 2 or own) or not np.isfinite(xs).all():
            raise ValueError(
                f"{networks} networks need finite inputs, time x width or one such "
                f"sequence each, got shape {np.shape(inputs)}"
            )
        one = eqx.combine(jax.tree.map(lambda leaf: leaf[0], varied), fixed)
        try:
            driven(one, xs[0] if own else xs)  # refuses inputs that do not fit
        except (IndexError, TypeError):
            raise unlike from None
        # Every device takes as many: the last network is repeated to fill up.
        share = -(-networks // jax.device_count())
        rows = np.minimum(np.arange(share * jax.device_count()), networks - 1)
        if len(rows) > networks:
            varied = jax.tree.map(lambda leaf: leaf[rows], varied)
            xs = xs[rows] if own else xs
        found = _compiled(varied, fixed, jnp.asarray(xs), k, warmup)
    exponents, rounding = (np.asarray(part)[:networks] for part in found)
    return exponents, rounding
