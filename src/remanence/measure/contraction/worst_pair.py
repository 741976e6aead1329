r"""The worst pair: two states and an input that gradient ascent drives to the largest
$d(\phi(h, x), \phi(h', x)) / d(h, h')$ in a certificate's own metric.

A proof that a pair passes is wrong; a pair that comes near shows how tight it is.
"""

import math
from typing import Any

import jax
import jax.numpy as jnp
import jax.random as jr
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Float

from ..._fast_compile import FAST_COMPILE
from ..._precision import as_double, double
from ..._types import Key, Scalar
from ...cells import input_size
from .metric import Domain, Norm
from .record import Contraction


FAR = 3.0
"""How far states and inputs without a bound are drawn: some units saturate, some do not."""


def worst_pair_rate(
    cell: Any, proof: Contraction, *, key: Key, starts: int = 16, ascents: int = 200
) -> float:
    """The largest one-step ratio found in the domain of a certificate."""
    bound = FAR if proof.input_bound is None else proof.input_bound
    with double():
        cell, norm = as_double(cell), proof.evidence["norm"]
        climb = lambda key: ascent(cell, norm, proof.domain, bound, key, ascents)
        climb = jax.jit(jax.vmap(climb), compiler_options=FAST_COMPILE)
        found = float(jnp.max(climb(jr.split(key, starts))))
    return found if math.isfinite(found) else 0.0


def ascent(
    cell: Any, norm: Norm, domain: Domain, bound: Scalar, key: Key, ascents: int
) -> Float[Array, ""]:
    """The largest ratio on one way up from a drawn pair and input; in double."""
    flat, unravel = ravel_pytree(cell.initial_state())
    key_m, key_a, key_x, key_s = jr.split(key, 4)
    shrunk = FAR ** jr.uniform(key_s, flat.shape, minval=-4.0, maxval=1.0)
    start = {
        "middle": drawn_state(domain, flat.size, key_m),
        # Of very different sizes, so that single units and layers are tried too.
        "offset": shrunk * jr.normal(key_a, flat.shape),
        "x": jr.normal(key_x, (input_size(cell) or 0,)),
    }

    def log_ratio(free):
        one, two = (inside(domain, free["middle"] + side * free["offset"]) for side in (0.1, -0.1))
        x = bound * jnp.tanh(free["x"])
        after = [ravel_pytree(cell(unravel(h), x))[0] for h in (one, two)]
        gap = norm(one - two)
        # Of pairs that are nearly one state, rounding would tell the ratio.
        distinct = gap > 1e-5 * (norm(one) + norm(two))
        ratio = jnp.log(norm(after[0] - after[1])) - jnp.log(gap)
        return jnp.where(distinct, ratio, -jnp.inf)

    def step(carry, t):
        free, best = carry
        value, slope = jax.value_and_grad(log_ratio)(free)
        size = jnp.linalg.norm(ravel_pytree(slope)[0])
        rate = 0.3 * jnp.exp(-3.0 * t / ascents) / jnp.maximum(size, 1e-12)
        sound = jnp.isfinite(value) & jnp.isfinite(size)
        moved = jax.tree.map(lambda f, s: jnp.where(sound, f + rate * s, f), free, slope)
        return (moved, jnp.where(sound, jnp.maximum(best, jnp.exp(value)), best)), None

    times = jnp.arange(ascents, dtype=flat.dtype)
    return jax.lax.scan(step, (start, jnp.zeros((), flat.dtype)), times)[0][1]


def drawn_state(domain: Domain, size: int, key: Key) -> Float[Array, " state"]:
    """A drawn vector, large where the domain sets no bound: far states saturate."""
    key_h, key_f = jr.split(key)
    far = jnp.full(size, FAR ** jr.uniform(key_f, (), minval=-1.0, maxval=5.0))
    for ball in domain.balls:
        far = far.at[ball.place].set(1.0)
    return far * jr.normal(key_h, (size,))


def inside(domain: Domain, free: Float[Array, " state"]) -> Float[Array, " state"]:
    """A state of the domain for any vector."""
    for ball in domain.balls:
        part = free[ball.place]
        if ball.norm.kind == "maximum":
            part = ball.radius * jnp.asarray(ball.norm.weights) * jnp.tanh(part)
        else:
            part = part * (ball.radius / (1 + ball.norm(part)))
        free = free.at[ball.place].set(part)
    for ball in domain.balls:
        # Where two balls meet in one layer, each step inwards leaves no other.
        outside = jnp.maximum(1.0, ball.norm(free[ball.place]) / ball.radius)
        free = free.at[ball.place].divide(outside)
    return free
