"""Programs that run for a second or two: little optimised, so that compiling does not outweigh them."""

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax

from ..._light import LIGHT


def side_by_side(run: Callable, *lanes: Any) -> Any:
    """`run` over the leading axis of `lanes` in one program: what it gives, stacked."""
    still = []

    def arrays(*lane):
        kept, rest = eqx.partition(run(*lane), eqx.is_array)
        still.append(rest)
        return kept

    kept = jax.jit(jax.vmap(arrays), compiler_options=LIGHT)(*lanes)
    return eqx.combine(kept, still[-1])


def lane_of(stacked: Any, lane: int) -> Any:
    """One lane of what stands stacked, whatever is no array as it is."""
    return jax.tree.map(
        lambda leaf: leaf[lane] if eqx.is_array(leaf) else leaf, stacked
    )
