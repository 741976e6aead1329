r"""The bare core of the exponents, $\lambda_i = T^{-1} \sum_t \log u_{ii}(t)$, without error bars.

One orbit as a pure function, for `jit`, `vmap` and `lax.map`. A small network and its
frame fit into the nearest cache: many run faster one after the other (`lax.map`) than
side by side, and each keeps its own interval.
"""

from typing import Any

import jax.numpy as jnp
import jax.random as jr
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Float

from ..._types import Key, State
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
