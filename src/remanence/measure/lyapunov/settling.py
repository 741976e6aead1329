r"""What is left of the start: a state and a frame that have not quite settled.

A frame forgets its first directions as they grow apart: of direction $l$ there is
$e^{-\Delta_{jl}}$ left in direction $j$ when the warm-up ends, $\Delta_{jl}$ being how much
further $j$ has grown by then. While the rest of it goes, over $T$ steps in which they
grow apart by $D_{jl}$, the rate of $j$ is wrong by about $e^{-\Delta_{jl}} (1 - e^{-D_{jl}}) / T$:
nothing if they never part, a nat in all if they had not begun to.

A state forgets its own start like $e^{\lambda_1 t}$. Its growth strays by about the spread
$\sigma_j$ of that of single steps, so the rate is wrong by about
$\sigma_j\, e^{\lambda_1 W} (1 - e^{\lambda_1 T}) / |\lambda_1| T$ after a warm-up of $W$ steps.
"""

import numpy as np
from jaxtyping import Float

from .errors import BatchMeans


def settling(
    found: BatchMeans,
    early: Float[np.ndarray, " k"],
    *,
    steps: float,
    sequences: float,
    unseen: int = 0,
) -> Float[np.ndarray, " k"]:
    """How wrong each rate may be because of where the orbit began, in nats a step.

    `early` is the growth during the warm-up, `steps` those counted in a sequence.
    `unseen` directions grow like the last one or less.
    """
    alive = np.isfinite(found.mean)
    mean, early = np.where(alive, found.mean, 0.0), np.where(alive, early, 0.0)
    parted = np.abs(early[:, None] - early)
    part = np.abs(mean[:, None] - mean) * steps
    left = np.where(alive, np.exp(-parted) * -np.expm1(-part), 0.0) ** 2
    left[:, -1] *= 1 + unseen
    frame = np.sqrt(left.sum(axis=1)) / steps
    state = np.zeros_like(mean)
    top = np.argmax(found.mean)
    if -np.inf < found.mean[top] < -2 * found.stderr[top]:
        fade = found.mean[top] * steps
        spread = found.stderr * np.sqrt(sequences * steps)
        state = spread * np.exp(min(early[top], 0.0)) * np.expm1(fade) / fade
    return np.where(alive, np.hypot(frame, state), 0.0)
