"""Adversaries of many certificates in one program: pairs of states and inputs by gradient ascent."""

from collections import defaultdict

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
from jax.flatten_util import ravel_pytree

from remanence._precision import as_double, double
from remanence.cells import input_size
from remanence.measure.contraction.worst_pair import ascent, drawn_state, FAR, inside


def largest_excess(cells, proofs, *, key, starts, ascents, steps=0):
    """The largest log ratio of what a pair did to what is proved, for each network.

    One step in the certificate's metric and, if any, `steps` in the Euclidean norm.
    Networks of one shape share one compiled program.
    """
    groups = defaultdict(list)
    with double():
        for at, (cell, proof) in enumerate(zip(cells, proofs, strict=True)):
            bound = FAR if proof.input_bound is None else proof.input_bound
            numbers = np.array([bound, proof.rate, proof.overshoot])
            tree = (as_double(cell), proof.evidence["norm"], proof.domain, numbers)
            shapes = tuple(np.shape(leaf) for leaf in jax.tree.leaves(tree))
            groups[jax.tree.structure(tree), shapes].append((at, tree))
        excess = np.full((len(cells), 2), -np.inf)

        def attack(tree, key):
            cell, norm, domain, (bound, rate, overshoot) = tree
            one = jnp.log(ascent(cell, norm, domain, bound, key, ascents) / rate)
            if not steps:
                return one, one
            gap = euclidean_ascent(cell, domain, bound, rate, key, ascents, steps)
            return one, gap - jnp.log(overshoot)

        attack = jax.jit(jax.vmap(jax.vmap(attack, (None, 0)), (0, None)))
        for members in groups.values():
            stacked = jax.tree.map(
                lambda *leaves: jnp.stack([jnp.asarray(leaf) for leaf in leaves]),
                *(tree for _, tree in members),
            )
            found = np.stack(attack(stacked, jr.split(key, starts)), axis=-1)
            assert np.all(np.isfinite(found.max(1))), "an attack went nowhere"
            excess[[at for at, _ in members]] = found.max(1)
    return excess


def euclidean_ascent(cell, domain, bound, rate, key, ascents, steps):
    """The largest log of |gap at k| / (rate^k |gap at 0|) over k, states and inputs."""
    flat, unravel = ravel_pytree(cell.initial_state())
    key_h, key_d, key_s, key_x = jr.split(key, 4)
    shrunk = FAR ** jr.uniform(key_s, flat.shape, minval=-4.0, maxval=1.0)
    free = {
        "h": drawn_state(domain, flat.size, key_h),
        "apart": shrunk * jr.normal(key_d, flat.shape),
        "x": jr.normal(key_x, (steps, input_size(cell) or 0)),
    }

    def excess(free):
        pair = [inside(domain, h) for h in (free["h"], free["h"] + free["apart"])]
        pair = jnp.stack(pair)
        first = jnp.linalg.norm(pair[0] - pair[1])
        apart = first > 1e-5 * jnp.linalg.norm(pair)

        def follow(pair, x):
            pair = jax.vmap(lambda h: ravel_pytree(cell(unravel(h), x))[0])(pair)
            return pair, jnp.linalg.norm(pair[0] - pair[1])

        gaps = jax.lax.scan(follow, pair, bound * jnp.tanh(free["x"]))[1]
        proved = jnp.arange(1.0, steps + 1) * jnp.log(rate) + jnp.log(first)
        worst = jnp.max(jnp.log(gaps + 1e-290) - proved)
        return worst, jnp.where(apart, worst, -jnp.inf)

    def step(carry, t):
        free, best = carry
        slope, value = jax.grad(excess, has_aux=True)(free)
        size = jnp.linalg.norm(ravel_pytree(slope)[0])
        pace = 0.3 * jnp.exp(-3.0 * t / ascents) / jnp.maximum(size, 1e-12)
        sound = jnp.isfinite(value) & jnp.isfinite(size)
        moved = jax.tree.map(lambda f, s: jnp.where(sound, f + pace * s, f), free, slope)
        return (moved, jnp.where(sound, jnp.maximum(best, value), best)), None

    start = (free, jnp.full((), -jnp.inf, flat.dtype))
    return jax.lax.scan(step, start, jnp.arange(ascents, dtype=flat.dtype))[0][1]
