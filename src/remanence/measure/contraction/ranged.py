r"""Numbers that lie in intervals, and how far they move when what they are made of does.

$v \in [\underline v, \overline v]$, and between two runs $|\delta v| \le \sum_k s_k\,\delta_k$ for the gaps
$\delta_k$ of some sources: the components of a state and an input, or the norms of the gaps of a
stream and of a layer's state. Every rounding is counted.
"""

import dataclasses
import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
from jaxtyping import Float

from .rounding import above, below, enclose, sigmoid_at, SMALLEST, tanh_at, Values


@dataclasses.dataclass(frozen=True)
class Ranged:
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

    def __getitem__(self, key: Any) -> "Ranged":
        return self.each(lambda a: a[key])

    def reshape(self, *shape: int) -> "Ranged":
        """The same numbers in another shape."""
        return self.each(lambda a: a.reshape(shape))

    def split(self, *edges: int) -> list["Ranged"]:
        """The parts of a vector."""
        return [self[i:j] for i, j in itertools.pairwise([0, *edges, len(self.low)])]

    def within(self, least: float, most: float) -> "Ranged":
        """The same numbers where they are known to lie within these ends."""
        low, high = np.clip(self.low, least, most), np.clip(self.high, least, most)
        return Ranged(low, high, self.slope)

    def __neg__(self) -> "Ranged":
        return Ranged(-self.high, -self.low, self.slope)

    def __add__(self, other: "Ranged") -> "Ranged":
        a, b = _aligned(self, other)
        return outward(a.low + b.low, a.high + b.high, a.slope + b.slope)

    def __mul__(self, other: "Ranged") -> "Ranged":
        a, b = _aligned(self, other)
        corners = [x * y for x in (a.low, a.high) for y in (b.low, b.high)]
        slope = a.size * b.slope + b.size * a.slope
        return outward(np.minimum.reduce(corners), np.maximum.reduce(corners), slope)

    def sum(self, axis: int) -> "Ranged":
        """The sum along an axis."""
        count = self.low.shape[axis]
        lost = (count + 2) * 2.0**-52 * self.size.sum(axis=axis) + SMALLEST
        slope = np.stack([s.sum(axis=axis) for s in self.slope])
        low, high = self.low.sum(axis=axis) - lost, self.high.sum(axis=axis) + lost
        return Ranged(low, high, above(slope, count))

    def rising(self, function: Callable[[Any], Any], steepest: Values | float) -> "Ranged":
        """An increasing function of balls, no steeper than that in the interval."""
        low, high = enclose(self.low, function)[0], enclose(self.high, function)[1]
        return Ranged(low, high, above(steepest * self.slope, 1))

    def exp(self) -> "Ranged":
        """The exponential."""
        function = lambda ball: ball.exp()
        return self.rising(function, enclose(self.high, function)[1])

    def softplus(self) -> "Ranged":
        """log(1 + e^a)."""
        found = self.rising(lambda ball: ball.exp().log1p(), sigmoid_at(self.high)[1])
        return found.within(0.0, np.inf)

    def sigmoid(self) -> "Ranged":
        """A gate."""
        # The slope falls with |z| and, above one half, with the value: a lower end of the value
        # nearest to zero bounds it from above.
        s = np.maximum(sigmoid_at(self.nearest)[0], 0.5)
        steepest = np.minimum(above(s * above(1 - s, 1), 2), 0.25)
        return self.rising(lambda ball: 1 / (1 + (-ball).exp()), steepest).within(0.0, 1.0)

    def tanh(self) -> "Ranged":
        """A candidate."""
        least = np.maximum(tanh_at(self.nearest)[0], 0.0)
        steepest = np.minimum(above(1 - below(least * least, 1), 1), 1.0)
        return self.rising(lambda ball: ball.tanh(), steepest).within(-1.0, 1.0)


def exactly(value: Any) -> Ranged:
    """Stored weights, which no source moves."""
    value = np.asarray(value, np.float64)
    return Ranged(value, value, np.zeros((1, *value.shape)))


def joined(*parts: Ranged) -> Ranged:
    """Vectors as one."""
    join = lambda name: np.concatenate([getattr(part, name) for part in parts], axis=-1)
    return Ranged(join("low"), join("high"), join("slope"))


def outward(low: Values, high: Values, slope: Values) -> Ranged:
    """Ends that one rounding each may have moved."""
    return Ranged(np.nextafter(low, -np.inf), np.nextafter(high, np.inf), above(slope, 4))


def _aligned(*parts: Ranged) -> list[Ranged]:
    """The same with as many axes each, which the slopes' own first axis asks for."""
    axes = max(part.low.ndim for part in parts)
    return [part.reshape(*(1,) * (axes - part.low.ndim), *part.low.shape) for part in parts]


def affine(W: Values, a: Ranged, b: Any = 0.0, size: Values | None = None) -> Ranged:
    """W a + b; `size` bounds |W| where its entries are sums of as many terms as it has rows."""
    size = np.abs(W) if size is None else size
    up, down = np.maximum(W, 0), np.minimum(W, 0)
    terms = 2 * (max(W.shape) + 4)
    lost = terms * 2.0**-52 * (size @ a.size + np.abs(b)) + SMALLEST
    low, high = up @ a.low + down @ a.high + b - lost, up @ a.high + down @ a.low + b + lost
    return Ranged(low, high, above(a.slope @ size.T, terms))


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
