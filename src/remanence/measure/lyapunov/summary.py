r"""From the growth of directions, batch by batch, to exponents with errors and a verdict."""

from typing import Any

import numpy as np

from .errors import batch_means, effective_inputs, settling
from .record import Spectrum
from .run import Growth
from .verdict import judge


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
    below = np.isinf(run.rounding)
    stderr = np.hypot(found.stderr, np.hypot(left, np.where(below, 0, run.rounding)))
    order = np.argsort(-found.mean[:k], kind="stable")
    found = found.of(order)
    converged, verdict = judge(
        found, left[order], stderr[order], below[order], inputs=inputs, diverged_at=run.diverged_at
    )
    totals = np.cumsum(spans.sum(axis=0))[:, None]
    return Spectrum(
        exponents=found.mean,
        stderr=stderr[order],
        converged=converged,
        verdict=verdict,
        running=(np.cumsum(growth.sum(axis=0), axis=0) / totals)[:, order],
        times=(edges[1:] - edges[0]).astype(float),
        dimension=dimension,
        steps=int(spans.sum(axis=1).max()),
        warmup=int(edges[0]),
        sequences=len(growth),
        dof=found.dof,
        interval=run.interval,
        rounding=run.rounding[order],
        diverged_at=run.diverged_at,
    )
