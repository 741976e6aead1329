r"""Whether exponents may be believed, and the sentence that says why."""

import numpy as np
from jaxtyping import Bool, Float

from .errors import BatchMeans, ENOUGH


NEGLIGIBLE = 1e-6  # nats a step that nobody waits for
INPUTS = 12.0  # independent stretches of the inputs, which show most of what is slow


def judge(
    found: BatchMeans,
    left: Float[np.ndarray, " k"],
    stderr: Float[np.ndarray, " k"],
    below: Bool[np.ndarray, " k"],
    *,
    inputs: float,
    diverged_at: int | None,
) -> tuple[bool, str]:
    """The verdict on exponents `found` with all their error, `left` of it from the start.

    Directions `below` what rounding shows are not judged, nor are dead ones.
    """
    top = int(np.argmax(found.mean))
    lambda_1, error = found.mean[top], stderr[top]
    dead = np.isneginf(found.mean)
    if dead.all():
        return True, "dead: one step forgets everything, every exponent is -inf"
    text = f"largest exponent {lambda_1:+.4g} ± {error:.1g} nats a step"
    if below[top]:
        text = f"every exponent is below {lambda_1:+.4g} nats a step, where rounding hides them"
    if dead.any():
        text += f"; {dead.sum()} directions are lost in a single step (-inf)"
    if below.any() and not below[top]:
        text += f"; rounding hides {below.sum()} exponents, they are below the numbers given"
    if diverged_at is not None:
        return (False, f"{text}; the state leaves the range of floats after step {diverged_at}")
    if found.known < 3 and (stderr > NEGLIGIBLE).any():
        return False, f"{text}; too few steps for an error"
    asked = ~dead & ~below & (stderr > NEGLIGIBLE)
    # 4.5 standard errors: among a thousand exponents a few stray by 3.
    if (np.abs(found.drift) > 9 * stderr)[asked].any():
        return False, f"{text}; not stationary, the second half differs from the first"
    if (left > found.stderr)[asked].any():
        return (False, f"{text}; the start is not forgotten, warm up and measure for longer")
    if asked.any() and inputs < INPUTS:
        return (False, f"{text}; the inputs change too slowly for this, measure for longer")
    if (found.effective < ENOUGH)[asked].any():
        return False, f"{text}; the memory outlasts a batch, measure for longer"
    # Not stricter: whoever picks the runs with small errors picks those that look small.
    if error > max(0.3 * abs(lambda_1), 0.05):
        return False, f"{text}; the error is large, measure for longer"
    return True, f"{text}; converged"
