r"""Linear memory capacity, $\sum_k R^2(k)$: how well a linear readout recalls the input $k$ steps ago.

Jaeger 2001; bounded by the number of readable units for independent inputs. A
regression on $N$ units finds $R^2 \approx N/T$ in pure chance, so
$1 - (1 - R^2)(T - 1)/(T - N - 1)$ is summed, over lags that stand out from chance
(Dambre et al. 2012).
"""

import dataclasses
from typing import Any

import equinox as eqx
import jax
import jax.random as jr
import numpy as np
from jaxtyping import Float

from .._precision import double
from .._types import Key
from ..cells import input_size, output
from ..nets import unroll
from .drive import driven, refuse_bad_weights
from .widened import in_double


CHANNELS = 4  # components of the input whose past is asked for


@dataclasses.dataclass(frozen=True)
class MemoryCapacity:
    """The recall of independent noise at each lag, and their sum."""

    total: float
    """Corrected for chance and summed over lags and channels, in units."""
    limit: int
    """The capacity cannot exceed the number of independent readable units."""
    recall: Float[np.ndarray, " lags"]
    """Corrected R² at each lag, the mean over channels."""
    raw: float
    """The same sum without the correction."""
    steps: int


@eqx.filter_jit
def _outputs(cell, xs):
    states = unroll(cell, cell.initial_state(), xs)
    return jax.vmap(lambda h: output(cell, h))(states)


def memory_capacity(
    cell: Any,
    *,
    width: int | None = None,
    scale: float = 1.0,
    lags: int | None = None,
    steps: int | None = None,
    key: Key | None = None,
) -> MemoryCapacity:
    """The linear memory capacity of a cell driven by independent Gaussian noise.

    `width` is the number of inputs, for a cell that does not say it itself.

    >>> import jax.numpy as jnp
    >>> from remanence.cells import Linear
    >>> register = Linear(jnp.eye(5, k=-1), jnp.eye(5, 1))
    >>> round(memory_capacity(register, steps=800).total, 2)
    5.0
    """
    width = width or input_size(cell)
    if not width:
        raise ValueError(
            "memory capacity needs a cell that says how many inputs it hears; give width="
        )
    refuse_bad_weights(cell)
    with double():
        cell = in_double(cell)
        units = output(cell, cell.initial_state()).size
        lags = max(20, 2 * units) if lags is None else lags
        lags = min(lags, 1000)
        burn = lags + 100
        steps = max(1000, 8 * units) if steps is None else steps
        if steps <= units + 2:
            raise ValueError(f"steps must exceed the {units} units by 3, got {steps}")
        noise = scale * jr.normal(
            jr.key(0) if key is None else key, (burn + steps, width)
        )
        cell = driven(cell, np.asarray(noise)).cell
        X, u = np.asarray(_outputs(cell, noise)), np.asarray(noise)
    X = X[burn:] - X[burn:].mean(axis=0)
    if not np.isfinite(X).all():
        raise ValueError(
            "the state leaves the range of floats: no capacity can be measured"
        )
    Q, s, _ = np.linalg.svd(X, full_matrices=False)
    rank = int((s > 1e-10 * max(s[0], 1e-300)).sum()) if s[0] > 0 else 0
    Q = Q[:, :rank]
    chosen = range(min(width, CHANNELS))
    past = np.stack(
        [[u[burn - k : burn - k + steps, c] for k in range(lags)] for c in chosen]
    )
    past = past - past.mean(axis=-1, keepdims=True)
    square = ((past @ Q) ** 2).sum(-1) / (past**2).sum(-1)
    fair = 1 - (1 - square) * (steps - 1) / (steps - rank - 1)
    # Three deviations of the chance level of R² on `rank` regressors.
    chance = (rank + 3 * np.sqrt(2 * rank)) / steps
    recall = np.where(square > chance, np.clip(fair, 0, 1), 0.0)
    share = width / len(chosen)
    return MemoryCapacity(
        total=float(recall.sum() * share),
        limit=units,
        recall=recall.mean(axis=0),
        raw=float(square.sum() * share),
        steps=steps,
    )
