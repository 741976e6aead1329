r"""A cell along a sequence: the states $h_1 \dots h_T$."""

from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from .._types import Input, Orbit, State


def unroll(
    cell: Any,
    h0: State,
    xs: Float[Array, "time inputs"] | None,
    *,
    length: int | Int[Array, ""] | None = None,
    steps: int | None = None,
) -> Orbit:
    r"""The states $h_1 \dots h_T$ visited from `h0` under `xs`.

    With `length`, inputs from that position on are padding: the state stays as it
    was, so the last row is the state after the last real input. An autonomous map
    takes `xs=None` and `steps`.
    """

    def step(h: State, at: tuple[Any, Input]) -> tuple[State, State]:
        t, x = at
        following = cell(h, x)
        if length is not None:
            following = jax.tree.map(lambda new, old: jnp.where(t < length, new, old), following, h)
        return following, following

    time = steps if xs is None else xs.shape[0]
    if time is None:
        raise ValueError("an autonomous unroll needs steps, got neither xs nor steps")
    return jax.lax.scan(step, h0, (jnp.arange(time), xs))[1]
