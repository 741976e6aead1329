r"""A batch of sequences through $h' = R h + \gamma\rho(W_h h + W_x x + b)$, with its gradient written out.

Backwards, $\delta_t = \gamma \rho'_t \odot g_t$ and $g_{t-1} = R^\top g_t + W_h^\top \delta_t$,
and every weight gradient is a running sum of products with $\delta_t$. Written out it
costs half of what `grad` of a scan does on a CPU: the activation is stored, not
computed again; states are columns, so that $\delta_t h_{t-1}^\top$ needs no transpose; and
sums over the batch wait until the end.
"""

import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from ..cells import Elman, LSTM, Residual
from .batch_lstm import lstm_states
from .recurrent import Recurrent


def on_batch(
    net: Recurrent, xs: Float[Array, "batch time inputs"]
) -> Float[Array, "batch *time outputs"]:
    """`jax.vmap(net)(xs)`, by the quick way if the cell is an Elman, an LSTM or a
    Residual with a linear residual.

    >>> import jax.random as jr
    >>> cell = Elman.init(1, 4, key=jr.key(0))
    >>> net = Recurrent.init(cell, outputs=2, key=jr.key(1), readout="last")
    >>> on_batch(net, jnp.ones((3, 5, 1))).shape
    (3, 2)
    """
    cell = net.cell
    quick = type(cell) in (Elman, LSTM, Residual) and not callable(getattr(cell, "R", None))
    if not quick or net.embedding is not None or net.head is not None:
        return jax.vmap(net)(xs)
    every = net.readout == "every"
    h = states(cell, xs, every=every)
    if net.W_y is not None:
        h = net.W_y @ h  # broadcast over time, if there is time
    if net.b_y is not None:
        h = h + net.b_y[:, None]
    return jnp.moveaxis(h, -1, 0)


def states(
    cell: Elman | LSTM | Residual, xs: Float[Array, "batch time inputs"], *, every: bool
) -> Float[Array, "*time units batch"]:
    """The last state of every sequence, or all of them; one column a sequence."""
    columns = xs.transpose(1, 2, 0)
    if isinstance(cell, LSTM):
        orbit = lstm_states(cell, columns)
        return orbit if every else orbit[-1]
    dtype = cell.W_h.dtype
    start = jnp.zeros((cell.W_h.shape[0], xs.shape[0]), dtype)
    if isinstance(cell, Residual):
        R = jnp.asarray(cell.R, dtype)
        gamma = jnp.asarray(cell.coupling, dtype)
    else:
        R = gamma = None
    theta = (R, gamma, cell.W_h, cell.W_x, cell.b)
    return _orbit(cell.activation, every, theta, start, columns)


def _step(activation: Callable, theta: tuple, h: Array, x: Array) -> tuple[Array, Any]:
    """The next columns, and what the way back needs of this step."""
    R, gamma, W_h, W_x, b = theta
    z = W_h @ h
    # An outer product is a broadcast: cheaper than a call for one input.
    z = z + (W_x * x if W_x.shape[1] == 1 else W_x @ x)
    if b is not None:
        z = z + b[:, None]
    if activation is jnp.tanh:
        y = jnp.tanh(z)
        kept = y
    else:
        kept = jax.jvp(activation, (z,), (jnp.ones_like(z),))
        y = kept[0]
    if R is None:
        return y, kept
    return (R * h if R.ndim == 0 else R @ h) + gamma * y, kept


@functools.partial(jax.custom_vjp, nondiff_argnums=(0, 1))
def _orbit(activation, every, theta, start, xs):
    def step(h, x):
        following, _ = _step(activation, theta, h, x)
        return following, following if every else None

    last, states = jax.lax.scan(step, start, xs)
    return states if every else last


def _forward(activation, every, theta, start, xs):
    value = lambda leaf: leaf.value
    plain = jax.tree.map(value, theta)
    # An Elman's tanh is its own next state: nothing more to keep than the states.
    thrifty = plain[0] is None and activation is jnp.tanh

    def step(h, x):
        following, kept = _step(activation, plain, h, x)
        return following, (h, None if thrifty else kept, following if every else None)

    last, (before, kept, states) = jax.lax.scan(step, start.value, xs.value)
    wanted = jax.tree.map(lambda leaf: () if leaf.perturbed else None, (theta, xs))
    residue = (plain, xs.value, before, kept, last, wanted)
    return (states if every else last), residue


def _backward(activation, every, residue, cotangent):
    (R, gamma, W_h, W_x, b), xs, before, kept, last, wanted = residue
    (want_R, want_gamma, _, _, _), want_xs = wanted
    tanh = activation is jnp.tanh
    W_back = jax.lax.optimization_barrier(W_h.T)  # transposed once, not every step
    single = W_x.shape[1] == 1
    zeros = jnp.zeros_like(last)
    if isinstance(cotangent, jax.custom_derivatives.SymbolicZero):
        cotangent = jnp.zeros_like(before if every else last)

    def step(carry, at):
        g, following, sums = carry
        h, kept, x, ct = at
        g = g if ct is None else g + ct
        if tanh:
            y = following if kept is None else kept
            slope = 1 - y * y
        else:
            y, slope = kept
        dz = g * slope if gamma is None else gamma * g * slope
        dW, dx, db, dR, dgamma = sums
        sums = (
            dW + dz @ h.T,
            dx + (dz * x if single else dz @ x.T),
            None if db is None else db + dz,
            None if dR is None else dR + (g * h if R.ndim == 0 else g @ h.T),
            None if dgamma is None else dgamma + g * y,
        )
        back = W_back @ dz
        if R is not None:
            back = back + (R * g if R.ndim == 0 else R.T @ g)
        return (back, h, sums), (W_x.T @ dz if want_xs is not None else None)

    none = lambda want, like: None if want is None or like is None else like
    sums = (
        jnp.zeros_like(W_h),
        zeros if single else jnp.zeros_like(W_x),
        none(b, zeros),
        none(want_R, zeros if R is not None and R.ndim == 0 else jnp.zeros_like(W_h)),
        none(want_gamma, zeros),
    )
    g = zeros if every else cotangent
    cts = cotangent if every else None
    carry = (g, last, sums)
    (g, _, sums), dxs = jax.lax.scan(step, carry, (before, kept, xs, cts), reverse=True)
    dW, dx, db, dR, dgamma = sums
    if R is not None:
        dR = jnp.zeros_like(R) if dR is None else (dR.sum() if R.ndim == 0 else dR)
        dgamma = jnp.zeros_like(gamma) if dgamma is None else dgamma.sum()
    theta = (
        dR,
        dgamma,
        dW,
        dx.sum(1, keepdims=True) if single else dx,
        None if db is None else db.sum(1),
    )
    return theta, g, jnp.zeros_like(xs) if dxs is None else dxs


_orbit.defvjp(_forward, _backward, symbolic_zeros=True)
