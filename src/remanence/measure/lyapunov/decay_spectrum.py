r"""The Lyapunov spectrum of cells that offer their decays: $\lambda = \langle \log A_t \rangle$.

A cell whose Jacobian is diagonal or triangular offers its decays, and one forward pass gives
their sums. A delta rule offers its transition, keys x keys for a head, whose product is
factorised as $Q_{t+1} R_{t+1} = A_t Q_t$. The tangent map of a stack along driven inputs is block
triangular, so its spectrum is the union of its recurrences' spectra. Convolutions, token shifts
and local attention are nilpotent: $-\infty$, counted and not listed. Inputs are taken in pieces,
so that memory does not grow with their number.
"""

import dataclasses
import itertools
from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from ...cells import dimension, Started
from ...cells.delta_rule import transported
from ...nets import unroll
from ..drive import Drive
from .errors import batch_means, BatchMeans, effective_inputs, settling
from .record import LayerDecays, Spectrum
from .run import batch_count
from .summary import judged_spectrum


LONGEST = 128  # steps of a piece


def offers_decays(cell: Any) -> bool:
    """Whether a cell's exponents follow from its own decays or transitions."""
    bare = cell.cell if isinstance(cell, Started) else cell
    return any(hasattr(bare, name) for name in ("layers", "log_decays", "transition"))


@dataclasses.dataclass(frozen=True)
class Part:
    """What one recurrence did: the growth of its channels, heads, or directions of frames."""

    layer: int
    cell: Any
    growth: Float[np.ndarray, "sequences batches *exponents"]
    early: Float[np.ndarray, "*exponents"]
    """The growth during the warm-up, the mean over sequences."""

    @property
    def framed(self) -> bool:
        """Whether these are directions of frames, `heads x keys`."""
        return hasattr(self.cell, "transition")


def decay_spectrum(
    drive: Drive,
    h0: Any,
    warmup: int,
    k: int | None,
    progress: Callable[[int, int], None] | None = None,
) -> Spectrum:
    """Exponents, errors and timescales from one forward pass over every sequence."""
    cell = drive.cell.cell if isinstance(drive.cell, Started) else drive.cell
    S, T = drive.sequences, drive.time
    lengths = drive.ends.tolist()
    batches = batch_count(min(lengths) - warmup, S)
    sums, batch = [], []
    for s, length in enumerate(lengths):
        # A batch is equal pieces, which share a program; what does not divide is warmed up.
        span = (length - warmup) // batches
        pieces = -(-span // LONGEST)
        size = span // pieces
        batch.append(size * pieces)
        # Short batches are taken several at once: a call costs more than a few steps.
        fit = [n for n in range(1, batches + 1) if batches % n == 0 and n * span <= LONGEST]
        tell = None if progress is None else lambda t, s=s: progress(s * T + t, S * T)
        xs = drive.xs[s, :length]
        sums.append(_batch_sums(cell, h0, xs, batches, size, batch[-1], max(fit, default=1), tell))
    steps = np.repeat(np.array(batch)[:, None], batches, axis=1)
    parts = []
    for (layer, recurrence), *every in zip(recurrences(cell), *sums, strict=True):
        rate = np.asarray(recurrence.rate if hasattr(recurrence, "clock") else 1.0, float)
        with np.errstate(invalid="ignore"):
            growth = np.stack(every) * rate
        if np.isnan(growth).any():
            raise ValueError(f"a decay of layer {layer} is beyond double precision")
        parts.append(Part(layer, recurrence, growth[:, 1:], growth[:, 0].mean(axis=0)))
    edges = lengths[0] - np.arange(batches, -1, -1) * batch[0]
    inputs = effective_inputs(np.asarray(drive.xs), edges, steps)
    found = [_exponents(part, steps, inputs) for part in parts]
    layers = tuple(_layer(part, *each, steps) for part, each in zip(parts, found, strict=True))
    joined = BatchMeans.join([means for means, _ in found])
    counts = [np.full(one.exponents.size, one.multiplicity) for one in layers]
    repeated = np.repeat(np.arange(len(joined.mean)), np.concatenate(counts))
    recent = [layer.initial_state().recent for layer in getattr(cell, "layers", ())]
    lost = sum(leaf.size for leaf in jax.tree.leaves(recent))
    means, frames = "means of log decays", "frames of keys x keys a head"
    ways = {frames if part.framed else means for part in parts}
    times = np.cumsum(steps.sum(axis=0))
    sums = np.concatenate([part.growth.sum(axis=0).reshape(batches, -1) for part in parts], axis=1)
    return judged_spectrum(
        joined,
        np.concatenate([left for _, left in found]),
        repeated[np.argsort(-joined.mean[repeated], kind="stable")][:k],
        inputs=inputs,
        running=np.cumsum(sums, axis=0) / times[:, None],
        times=times / S,
        dimension=len(repeated) + lost,
        steps=max(batch) * batches,
        warmup=int(edges[0]),
        sequences=S,
        method=f"{', and '.join(sorted(ways, reverse=True))}, one forward pass",
        lost=lost,
        layers=layers,
    )


def _exponents(part: Part, steps: np.ndarray, inputs: float) -> tuple[BatchMeans, np.ndarray]:
    """Every exponent of a recurrence, and what is left of the start of its frames."""
    found = batch_means(part.growth.reshape(*steps.shape, -1), steps, inputs)
    early, left = part.early.ravel(), np.zeros(part.early.size)
    if part.framed:
        span = {"steps": steps.sum() / len(steps), "sequences": len(steps)}
        for head in np.arange(early.size).reshape(part.early.shape):
            left[head] = settling(found.of(head), early[head], **span)
    return found, left


def _layer(part: Part, means: BatchMeans, left: np.ndarray, steps: np.ndarray) -> LayerDecays:
    shape = part.early.shape
    each = part.growth / steps.reshape(*steps.shape, *[1] * len(shape))
    shares = [0.05, 0.95]  # of windows as they are: between two that are -inf lies nothing
    low, high = np.quantile(each.reshape(-1, *shape), shares, axis=0, method="inverted_cdf")
    return LayerDecays(
        layer=part.layer,
        kind=type(getattr(part.cell, "gates", part.cell)).__name__,
        exponents=means.mean.reshape(shape),
        stderr=np.hypot(means.stderr, left).reshape(shape),
        multiplicity=dimension(part.cell) // means.mean.size,
        low=low,
        high=high,
        window=int(steps[0, 0]),
        steps=int(steps.sum(axis=1).max()),
    )


def recurrences(cell: Any) -> list[tuple[int, Any]]:
    """The cell itself, or the recurrences of its layers, each with its layer."""
    layers = getattr(cell, "layers", None)
    if layers is None:
        return [(0, cell)]
    each = ((i, layer.recurrence) for i, layer in enumerate(layers))
    found = [(i, recurrence) for i, recurrence in each if recurrence is not None]
    if not found:
        memory = sum(layer.memory for layer in layers)
        raise ValueError(f"no layer has a recurrence: the memory is {memory} inputs, exactly")
    return found


def _batch_sums(cell, h, xs, batches, size, batch, together, progress) -> list[np.ndarray]:
    """The growth of every recurrence during the warm-up and in each batch."""
    frames = [_frames(recurrence, i) for i, (_, recurrence) in enumerate(recurrences(cell))]
    T, totals = len(xs), []
    whole = together * size
    edges = np.unique([0, *range(T % whole, T + 1, whole)])
    for begin, end in itertools.pairwise(edges):
        parts = together if end - begin == whole else 1
        h, frames, growth = _advance(cell, h, frames, xs[begin:end], parts)
        growth = [np.asarray(g) for g in growth]
        if any(np.isnan(g).any() or np.isposinf(g).any() for g in growth):
            raise ValueError(f"the state leaves the range of floats before step {end}")
        totals = totals or [np.zeros((batches + 1, *g.shape[1:])) for g in growth]
        last = batches + (end - 1 - T) // batch + 1
        at = np.maximum(0, last - np.arange(parts)[::-1])
        for total, g in zip(totals, growth, strict=True):
            np.add.at(total, at, g)
        if progress is not None:
            progress(int(end))
    return totals


def _frames(recurrence: Any, seed: int) -> Array | None:
    """A frame for every head of a delta rule, turned so that it favours no key."""
    if not hasattr(recurrence, "transition"):
        return None
    heads, keys, _ = recurrence.gates.shape
    return jnp.linalg.qr(jax.random.normal(jax.random.key(seed), (heads, keys, keys)))[0]


@eqx.filter_jit
def _advance(cell, h, frames, xs, parts):
    """Some steps: the state, the frames of delta rules, and the growth of every recurrence in
    each of some equal parts."""
    summed = lambda each: jnp.sum(each.reshape(parts, -1, *each.shape[1:]), axis=1)
    if hasattr(cell, "layers"):
        h, _, runs = cell.along(h, xs)
        inputs = [(None, run.inputs) for run in runs if run.inputs is not None]
    else:
        states = unroll(cell, h, xs)
        before = jax.tree.map(lambda a, b: jnp.concatenate([a[None], b[:-1]]), h, states)
        h, inputs = jax.tree.map(lambda a: a[-1], states), [(before, xs)]
    growth, following = [], []
    each = zip(recurrences(cell), inputs, frames, strict=True)
    for (_, recurrence), (before, us), Q in each:
        if Q is None:
            grown = jax.vmap(_clock(recurrence))(before, us)
        else:
            Q, grown = _carry_frames(recurrence, Q, us)
        growth.append(summed(grown))
        following.append(Q)
    return h, following, growth


def _clock(cell: Any) -> Callable[[Any, Any], Array]:
    """What one step adds to the growth of every group."""
    if hasattr(cell, "clock"):
        return cell.clock

    def flat(h, x):
        full = lambda a, state: jnp.broadcast_to(a, jnp.shape(state)).ravel()
        return jnp.concatenate(jax.tree.leaves(jax.tree.map(full, cell.log_decays(h, x), h)))

    return flat


def _carry_frames(cell: Any, Q: Array, us: Array) -> tuple[Array, Array]:
    """The frames of every head after some steps, and how much their directions grew in each."""

    def step(Q, u):
        Q, R = jnp.linalg.qr(transported(cell.transition(None, u), Q))
        return Q, jnp.log(jnp.abs(jnp.diagonal(R, axis1=1, axis2=2)))

    return jax.lax.scan(step, Q, us)
