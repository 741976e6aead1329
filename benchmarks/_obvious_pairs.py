"""The obvious training of a gated linear network: what `gdln` is compared with.

Three dense products, a masked difference, JAX's gradient and optax's SGD with momentum,
one run at a time; the loss is looked at once in a thousand steps.
"""

import functools
import time

import jax
import jax.numpy as jnp
import numpy as np
import optax


FORMS = {
    1: "the obvious implementation in JAX, a step a call",
    1_000: "the obvious implementation in JAX, a thousand steps compiled together",
}
"""How many steps a compiled call takes."""
BEST = 1_000
"""The faster form: targets are held against it, as against every peer at its best."""


@functools.cache
def obvious(a_call):
    """A function that takes so many steps; the mask and what it masks are told."""
    optimizer = optax.sgd(5e-3, momentum=0.9)

    def loss(w, target, M, pairs):
        return jnp.sum(((w[0] @ w[1] @ w[2] - target) * M) ** 2) / pairs

    def step(carry, told):
        w, state = carry
        updates, state = optimizer.update(jax.grad(loss)(w, *told), state)
        return optax.apply_updates(w, updates), state

    def steps(carry, *told):
        if a_call == 1:
            return step(carry, told)
        return jax.lax.scan(lambda carry, _: (step(carry, told), None), carry, None, length=a_call)[
            0
        ]

    return jax.jit(steps), jax.jit(loss), optimizer


def timed_obvious(run, mask, *, a_call=1_000, steps=500_000, stop=0.0):
    """Seconds a step by the wall and by the processor, steps, loss; compiled before."""
    L, D, H = run.net.sizes
    W_i = run.net.W_i.transpose(1, 0, 2).reshape(H, L * D)
    start = (run.net.W_o.reshape(L * D, H), run.net.W_h, W_i)
    target = jnp.kron(jnp.ones((L, L)), jnp.eye(D))
    inside = jnp.eye(D) if mask == "diagonal" else jnp.ones((D, D))
    M = jnp.kron(jnp.asarray(run.T, dtype=jnp.float32), inside)
    told = (target, M, jnp.float32(run.T.sum()))
    advance, loss_of, optimizer = obvious(a_call)
    carry = (start, optimizer.init(start))
    jax.block_until_ready((advance(carry, *told), loss_of(start, *told)))
    wall, busy, done, loss = time.perf_counter(), time.process_time(), 0, np.inf
    while done < steps and not loss < stop:
        for _ in range(1_000 // a_call):
            carry = advance(carry, *told)
        loss, done = float(loss_of(carry[0], *told)) / (2 * D), done + 1_000
    wall, busy = time.perf_counter() - wall, time.process_time() - busy
    return wall / done, busy / done, done, loss
