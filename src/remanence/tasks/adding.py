r"""The adding problem: two of $T$ numbers are marked, $y = u_i + u_j$ is asked for at the end.

Hochreiter & Schmidhuber 1997. One mark falls in the first half and one in the
second. Always answering 1 gives the mean square error $2/12 = 1/6$.
"""

import jax
import jax.numpy as jnp
import jax.random as jr
from jaxtyping import Array, Float

from .._types import Key


def adding(
    samples: int, length: int, *, key: Key
) -> tuple[Float[Array, "samples length 2"], Float[Array, " samples"]]:
    """Sequences of (number, mark) and the sum of the two marked numbers.

    >>> xs, y = adding(3, 10, key=jr.key(0))
    >>> bool(jnp.allclose((xs[..., 0] * xs[..., 1]).sum(1), y, atol=1e-6))
    True
    """
    if length < 2:
        raise ValueError(f"length must be at least 2, got {length}")
    # One draw for all three: each takes long to compile, and tasks are compiled often.
    drawn = jr.uniform(key, (samples, length + 2))
    u, half = drawn[:, :length], length // 2
    within = lambda part, n: jnp.minimum((part * n).astype(jnp.int32), n - 1)
    first = within(drawn[:, length], half)
    second = half + within(drawn[:, length + 1], length - half)
    marks = jax.nn.one_hot(first, length) + jax.nn.one_hot(second, length)
    return jnp.stack([u, marks], axis=-1), (u * marks).sum(1)
