r"""Numbers that lie in intervals, and how far they move when what they are made of does.

$v \in [\underline v, \overline v]$, and between two runs $|\delta v| \le \sum_k s_k\,\delta_k$ for the gaps
$\delta_k$ of some sources: the components of a state and an input, or the norms of the gaps of a
stream and of a layer's state. Every rounding is counted.
"""

import itertools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float

from .rounding import above, below, enclose, sigmoid_at, SMALLEST, tanh_at, Values


class Ranged(NamedTuple):
    """Lower and upper ends, and the slopes against the sources along a first axis."""

    low: Values
    high: Values
    slope: Float[np.ndarray, "sources ..."]

    @property
    def size(self) -> Values:
        """The largest modulus."""
        return np.maximum(np.abs(self.low), np.abs(self.high))

    @property
    def nearest(self) -> Values:
        """The modulus of the point inside that is nearest to zero."""
        return np.abs(np.clip(0.0, self.low, self.high))

    def each(self, change: Callable[[Values], Values]) -> "Ranged":
        """The same numbers in another shape, order or selection."""
        low, high = change(self.low), change(self.high)
        slope = np.array([change(s) for s in self.slope]).reshape(len(self.slope), *low.shape)
        return Ranged(low, high, slope)

    def split(self, *edges: int) -> list["Ranged"]:
        """The parts of a vector."""
        cuts = [0, *edges, len(self.low)]
        return [self.each(lambda a, i=i, j=j: a[i:j]) for i, j in itertools.pairwise(cuts)]

    def __neg__(self) -> "Ranged":
        return Ranged(-self.high, -self.low, self.slope)


def exactly(value: Any) -> Ranged:
    """Stored weights, which no source moves."""
    value = np.asarray(value, np.float64)
    return Ranged(value, value, np.zeros((1, *value.shape)))


def joined(a: Ranged, b: Ranged) -> Ranged:
    """Two vectors as one."""
    return Ranged(*(np.concatenate(ends, axis=-1) for ends in zip(a, b, strict=True)))


def outward(low: Values, high: Values, slope: Values) -> Ranged:
    """Ends that one rounding each may have moved."""
    return Ranged(np.nextafter(low, -np.inf), np.nextafter(high, np.inf), above(slope, 4))


def aligned(*parts: Ranged) -> list[Ranged]:
    """The same with as many axes each, which the slopes' own first axis asks for."""
    axes = max(part.low.ndim for part in parts)
    lift = lambda a: a.reshape((1,) * (axes - a.ndim) + a.shape)
    return [part.each(lift) for part in parts]


def plus(a: Ranged, b: Ranged) -> Ranged:
    """The sum."""
    a, b = aligned(a, b)
    return outward(a.low + b.low, a.high + b.high, a.slope + b.slope)


def times(a: Ranged, b: Ranged) -> Ranged:
    """The product."""
    a, b = aligned(a, b)
    corners = [x * y for x in (a.low, a.high) for y in (b.low, b.high)]
    slope = a.size * b.slope + b.size * a.slope
    return outward(np.minimum.reduce(corners), np.maximum.reduce(corners), slope)


def total(a: Ranged, axis: int) -> Ranged:
    """The sum along an axis."""
    count = a.low.shape[axis]
    lost = (count + 2) * 2.0**-52 * a.size.sum(axis=axis) + SMALLEST
    slope = np.stack([s.sum(axis=axis) for s in a.slope])
    low, high = a.low.sum(axis=axis) - lost, a.high.sum(axis=axis) + lost
    return Ranged(low, high, above(slope, count))


def affine(W: Values, a: Ranged, b: Any = 0.0, size: Values | None = None) -> Ranged:
    """W a + b; `size` bounds |W| where its entries are sums of as many terms as it has rows."""
    size = np.abs(W) if size is None else size
    up, down = np.maximum(W, 0), np.minimum(W, 0)
    terms = 2 * (max(W.shape) + 4)
    lost = terms * 2.0**-52 * (size @ a.size + np.abs(b)) + SMALLEST
    slope = above(a.slope @ size.T, terms)
    return Ranged(
        up @ a.low + down @ a.high + b - lost, up @ a.high + down @ a.low + b + lost, slope
    )


def on_sphere(W: Values, b: Any, radius: float, slope: Values) -> Ranged:
    """W n + b for a vector n of at most that length, which itself moves by `slope`."""
    rows = above(np.linalg.norm(W, axis=1), W.shape[1] + 2)
    swing = above(radius * rows + 2.0**-50 * (radius * rows + np.abs(b)), 4)
    return Ranged(b - swing, b + swing, above(slope[:, None] * rows, 2))


def normed(a: Ranged, eps: float, *, mean: bool) -> Ranged:
    """Rows brought to a root mean square of one, or a length of one: each at most that long."""
    length = float(a.low.shape[-1]) ** 0.5 if mean else 1.0
    top = above(np.full(a.low.shape, length), 2)
    moved = np.linalg.norm(a.slope, axis=-1, keepdims=True) * eps**-0.5
    return Ranged(-top, top, above(np.broadcast_to(moved, a.slope.shape), a.low.shape[-1] + 4))


def rising(a: Ranged, function: Callable[[Any], Any], steepest: Values | float) -> Ranged:
    """An increasing function of balls, no steeper than that in the interval."""
    low, high = enclose(a.low, function)[0], enclose(a.high, function)[1]
    return Ranged(low, high, above(steepest * a.slope, 1))


def exp(a: Ranged) -> Ranged:
    """The exponential."""
    return rising(a, lambda ball: ball.exp(), enclose(a.high, lambda ball: ball.exp())[1])


def sigmoid(a: Ranged) -> Ranged:
    """A gate."""
    # The slope falls with |z| and, above one half, with the value: a lower end of the value
    # nearest to zero bounds it from above.
    s = np.maximum(sigmoid_at(a.nearest)[0], 0.5)
    steepest = np.minimum(above(s * above(1 - s, 1), 2), 0.25)
    found = rising(a, lambda ball: 1 / (1 + (-ball).exp()), steepest)
    return found._replace(low=np.maximum(found.low, 0.0), high=np.minimum(found.high, 1.0))


def tanh(a: Ranged) -> Ranged:
    """A candidate."""
    least = np.maximum(tanh_at(a.nearest)[0], 0.0)
    steepest = np.minimum(above(1 - below(least * least, 1), 1), 1.0)
    found = rising(a, lambda ball: ball.tanh(), steepest)
    return found._replace(low=np.maximum(found.low, -1.0), high=np.minimum(found.high, 1.0))


def softplus(a: Ranged) -> Ranged:
    """log(1 + e^a)."""
    found = rising(a, lambda ball: ball.exp().log1p(), sigmoid_at(a.high)[1])
    return found._replace(low=np.maximum(found.low, 0.0))
