r"""Lemma 2 with its constants: $\|\nabla_w p_T - \nabla_w p_T^k\| \le \lambda^k (\gamma_0 + \gamma_1 k)$.

For a tanh cell with $\|W_h\|_2 \le \lambda < 1$, all of $W_h, W_x, b$ trained, and a
loss of gradient at most $L_p$ and smoothness $\beta_p$. With $\beta = 4/(3\sqrt3)$ the
largest slope of tanh's slope, $R$ the largest state gap and
$L_w^2 = H^2 + X^2 + 1$ from the largest state and input,
$$\gamma_0 = \frac{L_w (L_p + \beta_p R)}{1 - \lambda}, \qquad
\gamma_1 = L_p R \left(\beta L_w + \frac1\lambda + \frac{\beta\lambda L_w}{1 - \lambda}\right).$$
The proof is in `docs/science/stable_recurrence.md`; the slides suppress the constants.
"""

import math

import jax.numpy as jnp
import numpy as np

from ...cells import Elman
from ..contraction import contraction
from ..contraction.rounding import above, norm_above


BEND = 0.7698003589195011
"""4 / (3 sqrt 3) rounded up: the largest slope of the slope of tanh."""


def gradient_bound(
    cell: Elman, window: int, *, input_bound: float, loss_slope: float, loss_bend: float
) -> float:
    r"""The proved gap between full and truncated gradients of a loss at the last state.

    `input_bound` bounds the Euclidean norm of inputs, `loss_slope` and `loss_bend`
    the gradient and the Hessian of the loss on the states that can be reached.
    """
    if cell.activation is not jnp.tanh:
        raise ValueError("the gradient bound is for tanh cells")
    if window < 1:
        raise ValueError(f"window must be at least 1, got {window}")
    rate = norm_above(np.asarray(cell.W_h, np.float64))
    if not rate < 1:
        raise ValueError(f"the gradient bound needs |W_h| below 1, got {rate:.4g}")
    R = contraction(cell, input_bound=input_bound, metric="norm").reach
    L_w = math.sqrt(min(R, cell.W_h.shape[0] ** 0.5) ** 2 + input_bound**2 + 1)
    rate = max(rate, 1e-300)
    still = L_w * (loss_slope + loss_bend * R) / (1 - rate)
    turning = BEND * L_w + 1 / rate + BEND * rate * L_w / (1 - rate)
    return above(rate**window * (still + window * loss_slope * R * turning), 40)
