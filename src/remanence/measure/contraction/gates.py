r"""What the gates of an LSTM or GRU can be while state and input stay in a box.

A drive $z = W h + U x + b$ with $|h| \le \bar h$ and $|x| \le B_x$ lies in an
interval; the gate, and its slope, are largest at one of its ends or at zero.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from .rounding import above, below, exact_weights, sigmoid_at, tanh_at


Units = Float[np.ndarray, " units"]


class Interval(NamedTuple):
    """Lower and upper ends, rounded outwards."""

    lower: Units
    upper: Units

    @property
    def nearest(self) -> Units:
        """The modulus of the point inside that is nearest to zero."""
        return np.abs(np.clip(0.0, self.lower, self.upper))


class Gate(NamedTuple):
    """The smallest and largest value of a gate, or modulus of a candidate, and its slope."""

    low: Units
    high: Units
    slope: Units


def gate_weights(form, gates: int) -> tuple[list, list, list]:
    """The blocks of the recurrent weights, of the input weights and of the bias."""
    N = np.shape(form.W_h)[-1]
    W = exact_weights("W_h", form.W_h, (gates * N, N))
    U = exact_weights("W_x", form.W_x, (gates * N, None))
    b = np.zeros(gates * N) if form.b is None else exact_weights("b", form.b, (gates * N,))
    return np.split(W, gates), np.split(U, gates), np.split(b, gates)


def smallest_box(image: Callable[[Units], Units], units: int) -> Units:
    """The smallest invariant box found in |h| <= 1, out of which `image` may not lead."""
    h = np.ones(units)
    for _ in range(12):
        # Larger boxes have larger images, so each of these boxes is invariant.
        following = np.minimum(h, image(h))
        shrunk = float(np.max(h - following, initial=0.0))
        h = following
        if shrunk < 1e-9:
            break
    return h if np.all(image(h) <= h) else np.ones(units)


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


def gate(z: Interval) -> Gate:
    r"""$\sigma$ at both ends and its largest slope $\sigma(1-\sigma)$ between them."""
    low, high = sigmoid_at(z.lower)[0], sigmoid_at(z.upper)[1]
    # The slope is symmetric and falls with |z|; nearest to zero it is largest. It
    # falls with the gate's value above one half, so a lower end bounds it above.
    s = np.maximum(sigmoid_at(z.nearest)[0], 0.5)
    slope = np.minimum(above(s * above(1 - s, 1), 2), 0.25)
    return Gate(np.maximum(low, 0.0), np.minimum(high, 1.0), slope)


def candidate(z: Interval) -> Gate:
    r"""$|\tanh z|$ at its least and largest, and the largest slope $1 - \tanh^2 z$."""
    low = np.maximum(tanh_at(z.nearest)[0], 0.0)
    high = tanh_at(np.maximum(np.abs(z.lower), np.abs(z.upper)))[1]
    slope = above(1 - below(low * low, 1), 1)
    return Gate(low, np.minimum(high, 1.0), np.minimum(slope, 1.0))
