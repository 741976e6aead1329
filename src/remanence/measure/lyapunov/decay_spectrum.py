r"""The Lyapunov spectrum of cells that offer their decays: $\lambda = \langle \log A_t \rangle$.

The tangent map of a stack along driven inputs is block triangular, so its spectrum is the
union of its recurrences' spectra, with errors of means of correlated series. Convolutions,
token shifts and local attention are nilpotent: $-\infty$, counted and not listed.
"""

from typing import Any

import jax
import numpy as np

from .decay_growth import Grown, Growth
from .errors import batch_means, BatchMeans, effective_inputs
from .record import LayerDecays, Spectrum
from .settling import settling
from .verdict import judge


def decay_spectrum(cell: Any, grown: Grown, xs: Any, k: int | None) -> Spectrum:
    """Exponents, errors and timescales from what every recurrence did in each batch."""
    sequences = len(grown.steps)
    inputs = effective_inputs(np.asarray(xs), grown.edges, grown.steps)
    found = [_means(part, grown, inputs) for part in grown.parts]
    layers = tuple(
        _layer(i, part, means, left, grown)
        for i, part, (means, left) in zip(_numbers(cell), grown.parts, found, strict=True)
    )
    every = [means for means, _ in found]
    join = lambda name: np.concatenate([getattr(means, name) for means in every])
    known = min(means.known for means in every)
    joined = BatchMeans(join("mean"), join("stderr"), join("effective"), join("drift"), known)
    left = np.concatenate([left for _, left in found])
    stderr = np.hypot(joined.stderr, left)
    hidden = np.zeros(len(left), bool)
    converged, verdict = judge(joined, left, stderr, hidden, inputs=inputs, diverged_at=None)
    times = np.cumsum(grown.steps.sum(axis=0))
    running = np.concatenate([_running(part, times) for part in grown.parts], axis=1)
    counts = [np.full(one.exponents.size, one.multiplicity) for one in layers]
    repeated = np.repeat(np.arange(len(left)), np.concatenate(counts))
    order = repeated[np.argsort(-joined.mean[repeated], kind="stable")][:k]
    lost = _lost(cell)
    return Spectrum(
        exponents=joined.mean[order],
        stderr=stderr[order],
        converged=converged,
        verdict=verdict,
        running=running[:, order],
        times=times / sequences,
        dimension=len(repeated) + lost,
        steps=int(grown.steps.sum(axis=1).max()),
        warmup=grown.warmup,
        sequences=sequences,
        dof=joined.dof,
        interval=1.0,
        rounding=np.zeros(len(order)),
        method=_method(grown.parts),
        lost=lost,
        layers=layers,
    )


def _means(part: Growth, grown: Grown, inputs: float) -> tuple[BatchMeans, np.ndarray]:
    """Every exponent of a recurrence, and what is left of a frame's start."""
    found = batch_means(part.growth, grown.steps, inputs)
    left = np.zeros(len(found.mean))
    if part.framed:
        found, left = _settled(part, found, grown)
    spread = lambda a: np.broadcast_to(a.reshape(part.shape), _full(part)).ravel()
    rate = np.broadcast_to(part.rate, _full(part)).ravel()
    mean, stderr = rate * spread(found.mean), np.abs(rate) * spread(found.stderr)
    drift = rate * spread(found.drift)
    means = BatchMeans(mean, stderr, spread(found.effective), drift, found.known)
    return means, np.abs(rate) * spread(left)


def _settled(part: Growth, found: BatchMeans, grown: Grown) -> tuple[BatchMeans, np.ndarray]:
    """Head by head, what the frame had not yet forgotten of its first directions."""
    heads, keys = part.shape
    steps = grown.steps.sum() / len(grown.steps)
    left = np.zeros(len(found.mean))
    for head in range(heads):
        own = np.arange(head * keys, (head + 1) * keys)
        options: dict[str, Any] = {"steps": steps, "sequences": len(grown.steps)}
        left[own] = settling(found.of(own), part.early[own], **options)
    return found, left


def _full(part: Growth) -> tuple[int, ...]:
    return np.broadcast_shapes(part.shape, part.rate.shape)


def _layer(number: int, part: Growth, means: BatchMeans, left, grown: Grown) -> LayerDecays:
    shape, steps = _full(part), int(grown.steps.sum(axis=1).max())
    each = (part.growth / grown.steps[..., None]).reshape(-1, *part.shape) * part.rate
    low, high = np.quantile(each, [0.05, 0.95], axis=0)
    size = int(np.prod(shape))
    return LayerDecays(
        layer=number,
        kind=part.name,
        exponents=means.mean.reshape(shape),
        stderr=np.hypot(means.stderr, left).reshape(shape),
        multiplicity=int(np.prod(part.states)) // size,
        low=low,
        high=high,
        window=int(grown.steps[0, 0]),
        steps=steps,
    )


def _running(part: Growth, times: np.ndarray) -> np.ndarray:
    mean = np.cumsum(part.growth.sum(axis=0), axis=0) / times[:, None]
    return (mean.reshape(-1, *part.shape) * part.rate).reshape(len(times), -1)


def _method(parts: list[Growth]) -> str:
    framed = sum(part.framed for part in parts)
    if not framed:
        return "means of log decays, one forward pass"
    frames = "frames of keys x keys a head, one forward pass"
    return frames if framed == len(parts) else f"means of log decays, and {frames}"


def _numbers(cell: Any) -> list[int]:
    layers = getattr(cell, "layers", None)
    if layers is None:
        return [0]
    return [i for i, layer in enumerate(layers) if layer.recurrence is not None]


def _lost(cell: Any) -> int:
    layers = getattr(cell, "layers", ())
    recent = [layer.initial_state().recent for layer in layers]
    return sum(leaf.size for leaf in jax.tree.leaves(recent))
