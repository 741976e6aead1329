r"""What the gates of an LSTM or GRU can be while state and input stay in a box.

A drive $z = W h + U x + b$ with $|h| \le \bar h$ and $|x| \le B_x$ lies in an
interval; the gate, and its slope, are largest at one of its ends or at zero.
"""

import dataclasses

import numpy as np
from jaxtyping import Float

from .rounding import above, below, sigmoid_at, tanh_at


Units = Float[np.ndarray, " units"]


@dataclasses.dataclass(frozen=True)
class Interval:
    """Lower and upper ends, rounded outwards."""

    lower: Units
    upper: Units

    @property
    def size(self) -> Units:
        """The largest modulus inside."""
        return np.maximum(np.abs(self.lower), np.abs(self.upper))

    @property
    def nearest(self) -> Units:
        """The point inside that is nearest to zero."""
        return np.clip(0.0, self.lower, self.upper)


def drives(
    W: Float[np.ndarray, "units units"],
    U: Float[np.ndarray, "units inputs"],
    b: Units,
    box: Units,
    input_bound: float,
) -> Interval:
    """The drive of one gate."""
    terms = W.shape[1] + U.shape[1] + 4
    swing = above(np.abs(W) @ box + input_bound * np.abs(U).sum(axis=1), terms)
    lost = above(np.abs(b) + swing, 2) * 2.0**-52
    return Interval(b - swing - lost, b + swing + lost)


def gate(z: Interval) -> tuple[Units, Units, Units]:
    r"""$\sigma$ at both ends and its largest slope $\sigma(1-\sigma)$ between them."""
    low, _ = sigmoid_at(z.lower)
    _, high = sigmoid_at(z.upper)
    # The slope is symmetric and falls with |z|; nearest to zero it is largest. It
    # falls with the gate's value above one half, so a lower end bounds it above.
    s, _ = sigmoid_at(np.abs(z.nearest))
    s = np.maximum(s, 0.5)
    slope = np.minimum(above(s * above(1 - s, 1), 2), 0.25)
    return np.maximum(low, 0.0), np.minimum(high, 1.0), slope


def candidate(z: Interval) -> tuple[Units, Units]:
    r"""The largest $|\tanh z|$ and the largest slope $1 - \tanh^2 z$."""
    _, largest = tanh_at(z.size)
    smallest, _ = tanh_at(np.abs(z.nearest))
    smallest = np.maximum(smallest, 0.0)
    slope = above(1 - below(smallest * smallest, 1), 1)
    return np.minimum(largest, 1.0), np.minimum(slope, 1.0)
