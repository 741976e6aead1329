"""One step of Tsitouras' Runge-Kutta pair of orders 5 and 4, with diffrax's numbers."""

import diffrax
import jax
from jaxtyping import Array, Float

from .pair_gradient import Packed


ROWS = [[float(a) for a in row] for row in diffrax.Tsit5().tableau.a_lower]
ERROR = [float(b) for b in diffrax.Tsit5().tableau.b_error]


def tsit5(downhill, w: Packed, slope: Packed, h: Float[Array, ""]):
    """The weights a step further, their slope, and the estimated error."""
    h = h.astype(w.P.dtype)
    mixed = lambda factors, slopes: jax.tree.map(
        lambda *k: sum(a * b for a, b in zip(factors, k, strict=True) if a), *slopes
    )
    slopes, y = [slope], w
    for row in ROWS:
        y = jax.tree.map(lambda a, k: a + h * k, w, mixed(row, slopes))
        slopes.append(downhill(y))
    # The last row is the solution, and its slope the next step's first.
    return y, slopes[-1], jax.tree.map(lambda k: h * k, mixed(ERROR, slopes))
