r"""Twins: two states and an input that gradient ascent drives to the largest
$d(\phi(h, x), \phi(h', x)) / d(h, h')$ in a certificate's own metric.

A proof that a twin passes is wrong; a twin that comes near shows how tight it is.
"""

import math
from typing import Any

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
from jax.flatten_util import ravel_pytree

from ..._light import LIGHT
from ..._precision import as_double, double
from ...cells import input_size
from .record import Contraction


def twin_rate(
    cell: Any, proof: Contraction, *, key, starts: int = 16, ascents: int = 200
) -> float:
    """The largest one-step ratio found in the domain of a certificate."""
    bound = proof.input_bound
    box = proof.evidence.get("box")
    with double():
        cell = as_double(cell)
        flat, unravel = ravel_pytree(cell.initial_state())
        inputs = input_size(cell) or 0
        # Outside any invariant box the proof is for all states: large ones try
        # the saturated corners of the activation, small ones its steepest part.
        half = jnp.asarray(np.full(flat.size, 3.0) if box is None else box)
        reach = 3.0 if bound is None else bound

        def ratio(free):
            middle = half * jnp.tanh(free["middle"])
            edge = half - jnp.abs(middle)
            step = edge * jnp.tanh(free["apart"]) * free["size"]
            x = reach * jnp.tanh(free["x"])
            one, two = unravel(middle + step), unravel(middle - step)
            after = proof.distance(cell(one, x), cell(two, x))
            return after / proof.distance(one, two)

        def climbed(key):
            key_m, key_a, key_x = jr.split(key, 3)
            free = {
                "middle": jr.normal(key_m, flat.shape),
                "apart": jr.normal(key_a, flat.shape),
                "x": jr.normal(key_x, (inputs,)),
                "size": jnp.asarray(0.1),
            }
            fixed = {"size": free.pop("size")}

            def step(carry, t):
                free, best = carry
                value, slope = jax.value_and_grad(
                    lambda free: jnp.log(ratio(free | fixed))
                )(free)
                size = jnp.sqrt(sum(jnp.sum(s * s) for s in jax.tree.leaves(slope)))
                rate = 0.3 * jnp.exp(-3.0 * t / ascents) / jnp.maximum(size, 1e-12)
                moved = jax.tree.map(lambda f, s: f + rate * s, free, slope)
                sound = jnp.isfinite(value) & jnp.isfinite(size)
                moved = jax.tree.map(lambda m, f: jnp.where(sound, m, f), moved, free)
                best = jnp.where(sound, jnp.maximum(best, jnp.exp(value)), best)
                return (moved, best), None

            times = jnp.arange(ascents, dtype=jnp.float64)
            return jax.lax.scan(step, (free, jnp.asarray(0.0)), times)[0][1]

        climb = jax.jit(jax.vmap(climbed), compiler_options=LIGHT)
        found = float(jnp.max(climb(jr.split(key, starts))))
    return found if math.isfinite(found) else 0.0
