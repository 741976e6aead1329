r"""From the growth of directions, batch by batch, to exponents with errors and a verdict."""

from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int

from .errors import batch_means, BatchMeans, effective_inputs, ENOUGH, settling
from .record import Spectrum
from .run import Growth


NEGLIGIBLE = 1e-6  # nats a step that nobody waits for
INPUTS = 12.0  # independent stretches of the inputs, which show most of what is slow


def summary(
    run: Growth, *, k: int, dimension: int, xs: Any = None, lengths: Any = None
) -> Spectrum:
    """The first `k` exponents of a map of so many dimensions, driven by `xs`."""
    edges = run.edges
    spans = np.broadcast_to(np.diff(edges), run.growth.shape[:2])
    if lengths is not None:
        spans = np.clip(np.asarray(lengths)[:, None] - edges[:-1], 0, spans)
    growth = np.where(run.dead, -np.inf, run.growth)
    inputs = float("inf") if xs is None else effective_inputs(np.asarray(xs), edges, spans)
    found = batch_means(growth, spans, inputs)
    sequences = int((spans > 0).any(axis=1).sum())
    left = settling(
        found,
        run.early,
        steps=spans.sum() / sequences,
        sequences=sequences,
        unseen=dimension - growth.shape[-1],
    )
    totals = np.cumsum(spans.sum(axis=0))[:, None]
    return judged_spectrum(
        found,
        left,
        np.argsort(-found.mean[:k], kind="stable"),
        run.rounding,
        inputs=inputs,
        running=np.cumsum(growth.sum(axis=0), axis=0) / totals,
        times=(edges[1:] - edges[0]).astype(float),
        dimension=dimension,
        steps=int(spans.sum(axis=1).max()),
        warmup=int(edges[0]),
        sequences=len(growth),
        interval=run.interval,
        diverged_at=run.diverged_at,
    )


def judged_spectrum(
    found: BatchMeans,
    left: Float[np.ndarray, " all"],
    order: Int[np.ndarray, " k"],
    rounding: Float[np.ndarray, " all"] | float = 0.0,
    *,
    inputs: float,
    running: Float[np.ndarray, "batches all"],
    **known: Any,
) -> Spectrum:
    """The exponents `found` in an order, with all their error and a verdict.

    Of the error `left` is from the start; `rounding` is inf where an exponent is hidden.
    """
    found, left = found.of(order), left[order]
    rounding = np.broadcast_to(rounding, running.shape[1:])[order]
    below = np.isinf(rounding)
    stderr = np.hypot(found.stderr, np.hypot(left, np.where(below, 0, rounding)))
    converged, verdict = _judge(found, left, stderr, below, inputs, known.get("diverged_at"))
    return Spectrum(
        exponents=found.mean,
        stderr=stderr,
        converged=converged,
        verdict=verdict,
        running=running[:, order],
        dof=found.dof,
        rounding=rounding,
        **known,
    )


def _judge(
    found: BatchMeans,
    left: Float[np.ndarray, " k"],
    stderr: Float[np.ndarray, " k"],
    below: Bool[np.ndarray, " k"],
    inputs: float,
    diverged_at: int | None,
) -> tuple[bool, str]:
    """Directions `below` what rounding shows are not judged, nor are dead ones."""
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
