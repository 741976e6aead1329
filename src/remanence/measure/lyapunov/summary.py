r"""From the growth of directions, batch by batch, to exponents with errors and a verdict."""

from typing import Any

import numpy as np

from .errors import batch_means, effective_inputs
from .record import Spectrum
from .run import Walked
from .settling import settling
from .verdict import judged


def summary(
    walk: Walked, *, k: int, dimension: int, xs: Any = None, lengths: Any = None
) -> Spectrum:
    """The first `k` exponents of a map of so many dimensions, driven by `xs`."""
    spans = np.broadcast_to(walk.ends - walk.begins, walk.growth.shape[:2])
    if lengths is not None:
        spans = np.clip(np.asarray(lengths)[:, None] - walk.begins, 0, spans)
    growth = np.where(walk.dead, -np.inf, walk.growth)
    inputs = float("inf")
    if xs is not None:
        edges = np.append(walk.begins, walk.ends[-1])
        inputs = effective_inputs(np.asarray(xs), edges, spans)
    found = batch_means(growth, spans, inputs)
    sequences = int((spans > 0).any(axis=1).sum())
    left = settling(
        found,
        walk.early,
        steps=spans.sum() / sequences,
        sequences=sequences,
        unseen=dimension - growth.shape[-1],
    )
    below = np.isinf(walk.rounding)
    stderr = np.hypot(found.stderr, np.hypot(left, np.where(below, 0, walk.rounding)))
    order = np.argsort(-found.mean[:k], kind="stable")
    found = found.of(order)
    converged, verdict = judged(
        found, left[order], stderr[order], below[order], inputs=inputs, diverged_at=walk.diverged_at
    )
    totals = np.cumsum(spans.sum(axis=0))[:, None]
    return Spectrum(
        exponents=found.mean,
        stderr=stderr[order],
        converged=converged,
        verdict=verdict,
        running=(np.cumsum(growth.sum(axis=0), axis=0) / totals)[:, order],
        times=(walk.ends - walk.begins[0]).astype(float),
        dimension=dimension,
        steps=int(spans.sum(axis=1).max()),
        warmup=int(walk.begins[0]),
        sequences=len(growth),
        dof=found.dof,
        interval=walk.interval,
        rounding=walk.rounding[order],
        diverged_at=walk.diverged_at,
    )
