r"""Cells with one activation in a linear loop: $h' = R h + \gamma\,\rho(W h + \dots)$.

Two states differ by $\delta$, and after a step by $R\delta + \gamma y$ with
$y_i = d_i (W\delta)_i$ and slopes $a \le d_i \le b$: $\delta' = (R + \gamma D W)\delta$. Linear,
Elman and residual cells are all of this form; the proofs are in `docs/science/stable_recurrence.md`.
"""

import dataclasses
import math
import time
from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
import scipy.linalg
from jaxtyping import Bool, Float

from ..._precision import double
from ...cells import LoopForm
from .metric import Ball, Domain, euclidean, maximum_proof, Proof
from .record import Bounds
from .rounding import above, exact_weights, input_gains, norm_above


STARTS = 12  # corners from which the search begins
TRIES = 32  # slopes that are flipped before a corner counts as the best

Square = Float[np.ndarray, "units units"]
Slopes = tuple[float, float]

ACTIVATIONS: dict[Callable, tuple[float, float, float]] = {
    jnp.tanh: (0.0, 1.0, 1.0),
    jax.lax.tanh: (0.0, 1.0, 1.0),
    jnp.arctan: (0.0, 1.0, 1.5708),
    jnp.sin: (-1.0, 1.0, 1.0),
    jnp.cos: (-1.0, 1.0, 1.0),
    jax.nn.relu: (0.0, 1.0, math.inf),
    jax.nn.relu6: (0.0, 1.0, 6.0),
    jax.nn.sigmoid: (0.0, 0.25, 1.0),
    jax.nn.hard_sigmoid: (0.0, 0.17, 1.0),
    jax.nn.hard_tanh: (0.0, 1.0, 1.0),
    jax.nn.softplus: (0.0, 1.0, math.inf),
    jax.nn.soft_sign: (0.0, 1.0, 1.0),
    jax.nn.elu: (0.0, 1.0, math.inf),
    jax.nn.leaky_relu: (0.0099, 1.0, math.inf),
    jax.nn.silu: (-0.1, 1.1, math.inf),
    jax.nn.gelu: (-0.13, 1.13, math.inf),
}
r"""The smallest and largest slope, $a \le (\rho(u) - \rho(v)) / (u - v) \le b$, and the largest modulus,
rounded outwards."""


@dataclasses.dataclass(frozen=True)
class Loop:
    """The numbers that a certificate of such a cell depends on, in float64."""

    R: Square
    W: Square
    gamma: float
    slopes: Slopes
    W_x: Float[np.ndarray, "units inputs"]
    b: Float[np.ndarray, " units"]
    activation: Callable | None
    R_size: Square
    """At least |R|; the residual meant lies within eight units of rounding of this."""

    @property
    def units(self) -> int:
        return len(self.W)


def loop_of(form: LoopForm, slopes: Slopes | None) -> Loop:
    """The numbers of a form, refused where they are none."""
    N = len(np.atleast_1d(form.W_h))
    W, W_x = exact_weights("W_h", form.W_h, (N, N)), exact_weights("W_x", form.W_x, (N, None))
    b = np.zeros(N) if form.b is None else exact_weights("b", form.b, (N,))
    if callable(form.R):
        raise ValueError("no proof for a residual function; a matrix or a number would do")
    scalar = np.ndim(form.R) == 0
    R = exact_weights("R", form.R, () if scalar else (N, N)) * (np.eye(N) if scalar else 1.0)
    gamma = float(exact_weights("coupling", form.coupling, ()))
    known = _slopes(form.activation, slopes)
    return Loop(R, W, gamma, known, W_x, b, form.activation, np.abs(R))


def _slopes(activation: Callable | None, given: Slopes | None) -> Slopes:
    """The known slope bounds of an activation (None: the identity), or the given ones."""
    if activation is None:
        return 1.0, 1.0
    if given is not None:
        a, b = given
        if not a <= b:
            raise ValueError(f"slopes must be (smallest, largest), got {given}")
        return float(a), float(b)
    if activation in ACTIVATIONS:
        return ACTIVATIONS[activation][:2]
    name = getattr(activation, "__name__", repr(activation))
    raise ValueError(f"slopes of the activation {name} are unknown; give slopes=(least, largest)")


def norm_proof(loop: Loop) -> Proof:
    r"""$\|R + \gamma m W\|_2 + |\gamma| r \|W\|_2$."""
    middle, lost, r = _middle(loop)
    W = abs(loop.gamma) * norm_above(loop.W)
    rate = above(norm_above(middle) + float(np.linalg.norm(lost)) + r * W, 6)
    return Proof(rate, 1.0, euclidean(loop.units))


def infinity_proof(loop: Loop) -> Proof:
    r"""The comparison matrix $|R + \gamma m W| + |\gamma| r |W|$."""
    middle, lost, r = _middle(loop)
    W = abs(loop.gamma) * np.abs(loop.W)
    return maximum_proof(above(np.abs(middle) + lost + r * W, 6))


def _middle(loop: Loop) -> tuple[Square, Square, float]:
    """R + gamma m W, what its rounding may lose, and r: all slopes lie within r of m."""
    a, b = loop.slopes
    m = (a + b) / 2
    coupled = loop.gamma * m * loop.W
    # The terms may cancel, so what is lost goes by their sizes.
    lost = 2.0**-50 * (np.abs(loop.R) + np.abs(coupled))
    return loop.R + coupled, lost, above(max(b - m, m - a), 1)


def loop_bounds(loop: Loop, input_bound: float | None) -> Bounds:
    """What the activation's size and slopes say of inputs and states."""
    gamma, steepest = abs(loop.gamma), float(np.max(np.abs(loop.slopes)))
    largest, at_zero = math.inf, 0.0
    if loop.activation is not None:
        largest = ACTIVATIONS.get(loop.activation, (0, 0, math.inf))[2]
        with double():
            at_zero = abs(float(np.asarray(loop.activation(jnp.zeros(()))))) * (1 + 1e-6)
    size = above(gamma * largest, 1)
    rest = np.minimum(at_zero + steepest * np.abs(loop.b), largest)
    rest = above(gamma * float(np.linalg.norm(rest)), 2 * loop.units + 6)
    gains = (above(gamma * steepest * gain, 2) for gain in input_gains(loop.W_x))
    bounds = Bounds(input_bound, *gains, at_rest=rest)
    R = norm_above(loop.R) if loop.R.any() else 0.0
    if not (size < math.inf and R < 1):
        return bounds
    # The orbit of zero, from the activation alone: |h| <= size sqrt(N) / (1 - |R|).
    radius = above(size * loop.units**0.5 / (1 - R), 5)
    if R == 0:
        box = np.full(loop.units, size)
        return dataclasses.replace(bounds, box=box, radius=radius, output=size)
    ball = Domain((Ball(euclidean(loop.units), radius),))
    return dataclasses.replace(bounds, radius=radius, output=radius, output_domain=ball)


def masked_radius(loop: Loop, *, deadline: float) -> float:
    r"""The largest $\rho(R + \gamma D W)$ found over the corners of $a \le D \le b$.

    No fixed metric can prove a rate below it. For slopes in $[0, 1]$ the corners are masks.
    They are searched greedily: what is found is a valid limit.
    """
    rng = np.random.default_rng(0)
    masks = [np.ones(loop.units, bool), *(rng.random((STARTS - 1, loop.units)) < 0.8)]
    # Of the first at least its own radius is known, however late it is.
    tried = (m for i, m in enumerate(masks) if i == 0 or time.monotonic() <= deadline)
    return max(_climb(loop, mask, deadline) for mask in tried)


def _climb(loop: Loop, mask: Bool[np.ndarray, " units"], deadline: float) -> float:
    """Flips the slope that promises most until none of the best `TRIES` helps."""
    a, b = loop.slopes
    at = lambda mask: loop.R + loop.gamma * np.where(mask, b, a)[:, None] * loop.W
    radius = lambda mask: float(np.max(np.abs(np.linalg.eigvals(at(mask)))))
    found = radius(mask)
    while time.monotonic() < deadline:
        values, left, right = scipy.linalg.eig(at(mask), left=True)  # pyright: ignore[reportAssignmentType]
        top = int(np.argmax(np.abs(values)))
        u, v = left[:, top], right[:, top]
        # d|mu| = Re(conj(mu) u* dJ v / u* v) / |mu| for a simple eigenvalue mu.
        turned = np.conj(values[top]) / (np.vdot(u, v) + 1e-300)
        slope = np.real(turned * np.conj(u) * loop.gamma * (loop.W @ v))
        for i in np.argsort(slope * np.where(mask, b - a, a - b))[:TRIES]:
            trial = mask.copy()
            trial[i] = not trial[i]
            if (higher := radius(trial)) > found * (1 + 1e-9):
                found, mask = higher, trial
                break
        else:
            break
    return found
