r"""The Lyapunov spectrum of cells that offer their decays: $\lambda = \langle \log A_t \rangle$.

The tangent map of a stack along driven inputs is block triangular, so its spectrum is the
union of its recurrences' spectra, with errors of means of correlated series. Convolutions,
token shifts and local attention are nilpotent: $-\infty$, counted and not listed.
"""

from typing import Any

import jax
import numpy as np

from ...cells import dimension
from .decay_growth import DecayGrowth, Part
from .errors import batch_means, BatchMeans, effective_inputs, settling
from .record import LayerDecays, Spectrum
from .summary import judge


def decay_spectrum(cell: Any, run: DecayGrowth, xs: Any, k: int | None) -> Spectrum:
    """Exponents, errors and timescales from what every recurrence did in each batch."""
    steps = run.steps
    inputs = effective_inputs(np.asarray(xs), run.edges, steps)
    found = [_exponents(part, steps, inputs) for part in run.parts]
    every = [means for means, _ in found]
    join = lambda name: np.concatenate([getattr(means, name) for means in every])
    known = min(means.known for means in every)
    joined = BatchMeans(join("mean"), join("stderr"), join("effective"), join("drift"), known)
    left = np.concatenate([left for _, left in found])
    stderr = np.hypot(joined.stderr, left)
    hidden = np.zeros(len(left), bool)
    converged, verdict = judge(joined, left, stderr, hidden, inputs=inputs, diverged_at=None)
    layers = tuple(
        _layer(part, means, left, steps)
        for part, (means, left) in zip(run.parts, found, strict=True)
    )
    times = np.cumsum(steps.sum(axis=0))
    running = np.concatenate([_running(part, times) for part in run.parts], axis=1)
    counts = [np.full(one.exponents.size, one.multiplicity) for one in layers]
    repeated = np.repeat(np.arange(len(left)), np.concatenate(counts))
    order = repeated[np.argsort(-joined.mean[repeated], kind="stable")][:k]
    recent = [layer.initial_state().recent for layer in getattr(cell, "layers", ())]
    lost = sum(leaf.size for leaf in jax.tree.leaves(recent))
    return Spectrum(
        exponents=joined.mean[order],
        stderr=stderr[order],
        converged=converged,
        verdict=verdict,
        running=running[:, order],
        times=times / len(steps),
        dimension=len(repeated) + lost,
        steps=int(steps.sum(axis=1).max()),
        warmup=int(run.edges[0]),
        sequences=len(steps),
        dof=joined.dof,
        interval=1.0,
        rounding=np.zeros(len(order)),
        method=_method(run.parts),
        lost=lost,
        layers=layers,
    )


def _exponents(part: Part, steps: np.ndarray, inputs: float) -> tuple[BatchMeans, np.ndarray]:
    """Every exponent of a recurrence, and what is left of the start of its frames."""
    found = batch_means(part.growth.reshape(*steps.shape, -1), steps, inputs)
    early, left = part.early.ravel(), np.zeros(part.early.size)
    if part.framed:
        mean_steps = steps.sum() / len(steps)
        for head in np.arange(early.size).reshape(part.early.shape):
            of_head = found.of(head)
            left[head] = settling(of_head, early[head], steps=mean_steps, sequences=len(steps))
    rate = np.broadcast_to(part.rate, part.shape).ravel()
    spread = lambda a: np.broadcast_to(a.reshape(part.early.shape), part.shape).ravel()
    means = BatchMeans(
        rate * spread(found.mean),
        np.abs(rate) * spread(found.stderr),
        spread(found.effective),
        rate * spread(found.drift),
        found.known,
    )
    return means, np.abs(rate) * spread(left)


def _layer(part: Part, means: BatchMeans, left: np.ndarray, steps: np.ndarray) -> LayerDecays:
    by_batch = steps.reshape(*steps.shape, *[1] * part.early.ndim)
    each = (part.growth / by_batch).reshape(-1, *part.early.shape) * part.rate
    low, high = np.quantile(each, [0.05, 0.95], axis=0)
    return LayerDecays(
        layer=part.layer,
        kind=type(getattr(part.cell, "gates", part.cell)).__name__,
        exponents=means.mean.reshape(part.shape),
        stderr=np.hypot(means.stderr, left).reshape(part.shape),
        multiplicity=dimension(part.cell) // means.mean.size,
        low=low,
        high=high,
        window=int(steps[0, 0]),
        steps=int(steps.sum(axis=1).max()),
    )


def _running(part: Part, times: np.ndarray) -> np.ndarray:
    """The estimates after each batch."""
    sums = np.cumsum(part.growth.sum(axis=0), axis=0)
    mean = sums / times.reshape(-1, *[1] * part.early.ndim)
    return (mean * part.rate).reshape(len(times), -1)


def _method(parts: list[Part]) -> str:
    means, frames = "means of log decays", "frames of keys x keys a head"
    ways = {frames if part.framed else means for part in parts}
    return f"{', and '.join(sorted(ways, reverse=True))}, one forward pass"
