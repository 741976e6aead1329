r"""A batch of sequences through $h' = f(W_h h + W_x x + b,\, h)$, with the order of its gradient chosen.

Backwards, $\delta_t = \partial f^\top g_t$ and $g_{t-1} = W_h^\top \delta_t$ and what $f$ hands on;
the weights' gradient is $\sum_t \delta_t h_{t-1}^\top$. States are columns: no product needs a transpose.
Few inputs are read inside the loop, which also adds up the gradient; of many, $W_x x_t + b$ is one
product before the loop, and the gradient one after it. On a CPU this takes half to four fifths of
what `grad` of a scan over rows does.
"""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from .recurrent import Recurrent


FEW = 8  # inputs that are read inside the loop
Columns = Float[Array, "*time units batch"]


def steps_on_columns(cell: Any) -> bool:
    """Whether a cell itself offers `from_drive`; a subclass may step otherwise."""
    return "from_drive" in vars(type(cell))


def on_batch(
    net: Recurrent, xs: Float[Array, "batch time inputs"]
) -> Float[Array, "batch *time outputs"]:
    """`jax.vmap(net)(xs)`, the quick way where the cell offers `from_drive`.

    >>> import jax.random as jr
    >>> from remanence.cells import Elman
    >>> net = Recurrent.init(Elman.init(1, 4, key=jr.key(0)), outputs=2, key=jr.key(1))
    >>> on_batch(net, jnp.ones((3, 5, 1))).shape
    (3, 5, 2)
    """
    if not steps_on_columns(net.cell) or net.embedding is not None or net.head is not None:
        return jax.vmap(net)(xs)
    h = states(net.cell, xs, every=net.readout == "every")
    if net.W_y is not None:
        h = net.W_y @ h  # broadcast over time, if there is time
    if net.b_y is not None:
        h = h + net.b_y[:, None]
    return jnp.moveaxis(h, -1, 0)


def states(cell: Any, xs: Float[Array, "batch time inputs"], *, every: bool) -> Columns:
    """The last output of every sequence, or all of them; one column a sequence."""
    columns = xs.transpose(1, 2, 0)
    T, width, _ = columns.shape
    if width > FEW:
        flat = columns.transpose(1, 0, 2).reshape(width, -1)
        return _from_rest(cell, None, _by_time(_drive_columns(cell, flat), T), every)
    return _from_rest(cell, columns, None, every)


def token_states(
    cell: Any, embedding: Float[Array, "tokens inputs"], tokens: Int[Array, "batch time"]
) -> Columns:
    """The outputs on embedded tokens; what each of a few tokens does is computed once."""
    times = tokens.T.reshape(-1)
    if embedding.shape[0] < times.size:
        drive = _drive_columns(cell, embedding.T)[:, times]
    else:
        drive = _drive_columns(cell, embedding[times].T)
    return _from_rest(cell, None, _by_time(drive, tokens.shape[1]), every=True)


def _drive_columns(cell: Any, columns: Array) -> Array:
    drive = cell.W_x @ columns
    return drive if cell.b is None else drive + cell.b[:, None]


def _by_time(flat: Array, times: int) -> Array:
    return flat.reshape(flat.shape[0], times, -1).transpose(1, 0, 2)


def _from_rest(cell: Any, xs: Array | None, drive: Array | None, every: bool) -> Columns:
    """Reads `xs` inside the loop, or `drive`, what the inputs add to the argument of f."""
    batch = jax.tree.leaves((xs, drive))[0].shape[2]
    column = lambda leaf: jnp.tile(leaf[:, None], (1, batch))
    start = jax.tree.map(column, cell.initial_state())
    affine = lambda cell: (cell.W_h, cell.W_x, cell.b)
    rest = eqx.tree_at(affine, cell, (None, None, None), is_leaf=lambda leaf: leaf is None)
    inside = (None, None) if xs is None else (cell.W_x, cell.b)
    return _orbit((rest, cell.W_h, *inside, xs, drive), start, every)


def _output(h: Any) -> Array:
    return jax.tree.leaves(h)[0]


def _plus(h: Any, out: Array) -> Any:
    first, *others = jax.tree.leaves(h)
    return jax.tree.unflatten(jax.tree.structure(h), [first + out, *others])


def _argument(weights: Any, h: Any, at: tuple[Array | None, Array | None]) -> Array:
    _, W_h, W_x, b, *_ = weights
    x, u = at
    z = W_h @ _output(h)
    if x is None:
        return z + u
    z = z + W_x @ x
    return z if b is None else z + b[:, None]


@eqx.filter_custom_vjp
def _orbit(weights: Any, start: Any, every: bool) -> Columns:
    def step(h, at):
        h = weights[0].from_drive(_argument(weights, h, at), h)
        return h, _output(h) if every else None

    last, orbit = jax.lax.scan(step, start, weights[4:])
    return _output(last) if orbit is None else orbit


@_orbit.def_fwd
def _forward(perturbed, weights, start, every):
    def step(h, at):
        z = _argument(weights, h, at)
        following = weights[0].from_drive(z, h)
        return following, (h, z, _output(following) if every else None)

    last, (before, z, orbit) = jax.lax.scan(step, start, weights[4:])
    return (orbit if every else _output(last)), (before, z)


@_orbit.def_bwd
def _backward(residuals, cotangent, perturbed, weights, start, every):
    before, z = residuals
    rest, W_h, W_x, b, xs, _ = weights
    W_back = jax.lax.optimization_barrier(W_h.T)  # transposed once, not every step
    free, fixed = eqx.partition(rest, perturbed[0])
    follow = lambda free, z, h: eqx.combine(free, fixed).from_drive(z, h)

    def step(carry, at):
        g, sums = carry
        h, z, x, ct = at
        # Activations are computed again: that is cheaper than to keep their slopes.
        pull = jax.vjp(follow, free, z, h)[1]
        by_rest, delta, g = pull(g if ct is None else _plus(g, ct))
        g = _plus(g, W_back @ delta)
        if x is None:
            return (g, jax.tree.map(jnp.add, sums, (by_rest, None, None, None))), delta
        added = (by_rest, delta @ _output(h).T, delta @ x.T, None if b is None else delta)
        by_input = W_x.T @ delta if perturbed[4] else None
        return (g, jax.tree.map(jnp.add, sums, added)), by_input

    zero = jax.tree.map(jnp.zeros_like, start)
    wide = jnp.zeros_like(z[0])  # summed over the batch at the end
    inside = (None, None, None) if xs is None else (W_h, W_x, None if b is None else wide)
    sums = jax.tree.map(jnp.zeros_like, (free, *inside))
    carry, along = ((zero, sums), cotangent) if every else ((_plus(zero, cotangent), sums), None)
    carry, late = jax.lax.scan(step, carry, (before, z, xs, along), reverse=True)
    by_rest, by_h, by_x, by_b = carry[1]
    if xs is None:
        flat = lambda orbit: orbit.transpose(1, 0, 2).reshape(orbit.shape[1], -1)
        return by_rest, flat(late) @ flat(_output(before)).T, None, None, None, late
    return by_rest, by_h, by_x, None if by_b is None else by_b.sum(1), late, None
