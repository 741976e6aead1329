r"""Truncation to the last $k$ inputs: the gap that a certificate proves, and the one measured.

$\|h_t - h_t^k\| \le \mathrm{reach}\cdot\lambda^k$ is Lemma 1 of Miller and Hardt (2019) with what it
leaves out: `reach` counts that $\phi(0, 0)$ need not be 0, and the overshoot of a metric.
"""

import bisect
import math
from collections.abc import Sequence
from typing import Any, get_args

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree
from jaxtyping import Array

from .._precision import double
from ..cells import Elman
from ..nets import Recurrent, unroll, window_states
from .contraction import Contraction, contraction, StackProof
from .contraction.rounding import above, norm_above
from .drive import driven, network_in_double
from .replay import replay_window
from .replay.record import Of


LARGEST = 1_000_000
"""Windows beyond this are refused: nothing is saved by them."""
BEND = 0.7698003589195011
"""4 / (3 sqrt 3) rounded up: the largest slope of the slope of tanh."""


def truncation_bound(proof: Contraction, window: int, *, net: Recurrent | None = None) -> float:
    """The proved gap of the states, or of the outputs of `net`, at one window.

    Every rung that the certificate climbed bounds the gap; the least bound counts.
    """
    _refuse_short(window)
    if proof.vacuous:
        raise ValueError(
            f"no window can be proved: the certificate is vacuous (best rate {proof.rate:.4g}); "
            "truncation_window(net, error=..., inputs=...) measures one"
        )
    tried = [rung for rung in proof.evidence["metrics"].values() if rung["rate"] < 1]
    gap = min(rung["reach"] * rung["rate"] ** window for rung in tried)
    if not math.isfinite(gap):
        raise ValueError("these states need a bound on inputs; give contraction an input_bound")
    if net is not None and net.head is not None:
        raise ValueError(
            "nothing is proved behind a head that is any function; the window of the "
            "states (of='states'), or a measured one, would do"
        )
    if net is not None and net.W_y is not None:
        gap *= float(np.linalg.norm(np.asarray(net.W_y, np.float64), 2))
    return gap * (1 + 1e-12)


def truncation_window(
    what: Contraction | Any,
    *,
    error: float,
    inputs: Any = None,
    net: Recurrent | None = None,
    of: Of | None = None,
    lengths: Any = None,
) -> int:
    """The smallest window that keeps a gap below `error`: proved or measured.

    From a certificate it is proved: for the states, or for the outputs of `net` where it is given,
    unless `of` says otherwise; `inputs`, if given, are checked against the certificate's bound.
    From a network or cell with `inputs` (padded ones with `lengths`) it is
    `replay_window(...).window`, of the outputs unless `of="states"`. A language model's
    `StackProof` gives tokens: for its cell's outputs or, with `net`, the next-token distribution.

    >>> import jax.numpy as jnp
    >>> from remanence.cells import Linear
    >>> from remanence.measure import contraction
    >>> proof = contraction(Linear(0.5 * jnp.eye(1), jnp.ones((1, 1))), input_bound=1.0)
    >>> truncation_window(proof, error=1e-3)
    11
    """
    if of is not None and of not in get_args(Of):
        raise ValueError(f"of must be 'states' or 'outputs', got {of!r}")
    if not (error > 0 and math.isfinite(error)):
        raise ValueError(f"error must be a positive number, got {error}")
    if isinstance(what, StackProof):
        return what.window(error, net)
    if not isinstance(what, Contraction):
        if inputs is None:
            raise ValueError("a measured window needs inputs to be measured on")
        found = replay_window(what, inputs, error=error, of=of or "outputs", lengths=lengths)
        if math.isinf(found.window):
            raise ValueError(
                f"no window up to {found.longest} steps keeps every {found.of[:-1]} "
                f"within {error:g}"
            )
        return int(found.window)
    of = of or ("states" if net is None else "outputs")
    if of == "outputs" and net is None:
        raise ValueError("a proved window of the outputs needs net=, whose outputs they are")
    if inputs is not None:
        tokens = np.issubdtype(np.asarray(inputs).dtype, np.integer)
        if tokens and net is not None and net.embedding is not None:
            inputs = net.embed(inputs)
        _refuse_outside(what, inputs)
    read = net if of == "outputs" else None
    fits = lambda k: truncation_bound(what, k, net=read) <= error
    window = 1 + bisect.bisect_left(range(1, LARGEST + 1), True, key=fits)
    if window > LARGEST:
        raise ValueError(f"no window up to {LARGEST} steps keeps the error asked for")
    return window


def _refuse_outside(proof: Contraction, inputs: Any) -> None:
    """Refuse inputs that leave a certificate's domain, and say where."""
    if proof.input_bound is None:
        return
    x = np.abs(np.asarray(inputs, np.float64))
    if not np.all(x <= proof.input_bound):
        x = x if x.ndim > 1 else x[:, None]
        at = np.unravel_index(int(np.argmax(np.where(np.isnan(x), np.inf, x))), x.shape)
        raise ValueError(
            f"the inputs leave the certificate's domain: modulus {x[at]:.6g} at step {at[-2]}, "
            f"component {at[-1]}, above input_bound {proof.input_bound:g}"
        )


def gradient_bound(
    cell: Elman, window: int, *, input_bound: float, loss_slope: float, loss_bend: float
) -> float:
    r"""Lemma 2 with its constants: the proved gap of gradients of a loss at the last state.

    $\|\nabla_w p_T - \nabla_w p_T^k\| \le \lambda^k (\gamma_0 + \gamma_1 k)$ for a tanh cell with
    $\|W_h\|_2 \le \lambda < 1$, all of $W_h, W_x, b$ trained. `input_bound` bounds the Euclidean norm
    of inputs; `loss_slope` $L_p$ and `loss_bend` $\beta_p$ the gradient and the Hessian of the loss on
    the states that can be reached. With $\beta = 4/(3\sqrt3)$, $R$ the largest state gap and
    $L_w^2 = H^2 + X^2 + 1$ from the largest state and input,
    $$\gamma_0 = \frac{L_w (L_p + \beta_p R)}{1 - \lambda}, \qquad
    \gamma_1 = L_p R \left(\beta L_w + \frac1\lambda + \frac{\beta\lambda L_w}{1 - \lambda}\right).$$
    The proof is in `docs/science/stable_recurrence.md`; the slides suppress the constants.
    """
    if cell.activation is not jnp.tanh:
        raise ValueError("the gradient bound is for tanh cells")
    _refuse_short(window)
    rate = norm_above(np.asarray(cell.W_h, np.float64))
    if not rate < 1:
        raise ValueError(f"the gradient bound needs |W_h| below 1, got {rate:.4g}")
    R = contraction(cell, input_bound=input_bound, metric="norm").reach
    L_w = math.sqrt(min(R, cell.W_h.shape[0] ** 0.5) ** 2 + input_bound**2 + 1)
    rate = max(rate, 1e-300)
    still = L_w * (loss_slope + loss_bend * R) / (1 - rate)
    turning = BEND * L_w + 1 / rate + BEND * rate * L_w / (1 - rate)
    return above(rate**window * (still + window * loss_slope * R * turning), 40)


def _refuse_short(*windows: int) -> None:
    if (least := min(windows, default=1)) < 1:
        raise ValueError(f"window must be at least 1, got {least}")


class TruncationError(eqx.Module):
    """The largest gaps measured between a network and its truncations."""

    windows: np.ndarray
    states: np.ndarray
    outputs: np.ndarray
    gradients: np.ndarray
    r"""Of $\frac12\|y_T\|^2$ at the last step, with respect to all weights of the cell."""


def truncation_error(
    net: Any, inputs: Any, windows: Sequence[int], *, gradients: bool = True
) -> TruncationError:
    """The gaps that truncation makes on a sequence, at every window: the largest over time."""
    _refuse_short(*map(int, windows))
    with double():
        drive = driven(net, inputs)
        net = network_in_double(net)
        if drive.sequences != 1:
            raise ValueError(f"one sequence would do, got {drive.sequences}")
        xs = drive.xs[0]
        found = [_gaps(net, xs, jnp.asarray(int(k)), gradients) for k in windows]
        rows = np.array([[float(value) for value in row] for row in found])
    return TruncationError(np.asarray(windows, np.int64), *rows.T)


@eqx.filter_jit
def _gaps(net: Recurrent, xs: Array, k: Array, gradients: bool):
    """Gaps at one window, which is traced: one program serves all windows."""
    T = xs.shape[0]
    exact = unroll(net.cell, net.cell.initial_state(), xs)
    near = window_states(net.cell, xs, k)
    gaps = lambda read: jax.vmap(lambda one, two: read(one) - read(two))(exact, near)
    farthest = lambda read: jnp.max(jnp.linalg.norm(gaps(read), axis=1))
    states, outputs = farthest(lambda h: ravel_pytree(h)[0]), farthest(net.read)
    if not gradients:
        return states, outputs, jnp.asarray(jnp.nan)

    def last(cell, start):
        def step(h, at):
            wait = lambda new, old: jnp.where(at[0] >= start, new, old)
            return jax.tree.map(wait, cell(h, at[1]), h), None

        h, _ = jax.lax.scan(step, cell.initial_state(), (jnp.arange(T), xs))
        return 0.5 * jnp.sum(net.read(h) ** 2)

    slope = eqx.filter_grad(last)
    # A state that waits passes no gradient on: the last k inputs alone are read.
    full, cut = slope(net.cell, jnp.asarray(0)), slope(net.cell, jnp.maximum(T - k, 0))
    gap = jnp.linalg.norm(ravel_pytree(full)[0] - ravel_pytree(cut)[0])
    return states, outputs, gap
