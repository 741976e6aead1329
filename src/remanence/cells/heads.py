"""Gates over a matrix a head: how an input is split into queries, keys, values and the rest."""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array


class Heads(eqx.Module):
    """How many heads there are, and how long their keys and values."""

    count: int = eqx.field(static=True)
    keys: int = eqx.field(static=True)
    values: int = eqx.field(static=True)


class AbstractHeadGates(eqx.Module):
    """Gates whose input is `u = (q, k, v, ...)`; the rest has the lengths `rest`."""

    heads: eqx.AbstractVar[Heads]

    @property
    def rest(self) -> tuple[int, ...]:
        """Nothing follows, unless a kind says otherwise."""
        return ()

    @property
    def shape(self) -> tuple[int, ...]:
        """Of the state."""
        return (self.heads.count, self.heads.keys, self.heads.values)

    @property
    def width(self) -> int:
        """How many numbers an input `u` holds."""
        return self.heads.count * (2 * self.heads.keys + self.heads.values) + sum(self.rest)

    def split(self, u: Array) -> list[Array]:
        """(q, k, v, ...), the first three with a row a head."""
        H, n, m = self.heads.count, self.heads.keys, self.heads.values
        sizes = [H * n, H * n, H * m, *self.rest]
        edges = [sum(sizes[: i + 1]) for i in range(len(sizes) - 1)]
        q, k, v, *others = jnp.split(u, edges)
        return [q.reshape(H, n), k.reshape(H, n), v.reshape(H, m), *others]
