r"""How long a network remembers: a panel of horizons, each with its meaning.

"Remembers about n steps" is one stated definition here: the median over positions of
the lag from which $\|\partial h_{t+i} / \partial x_t\|$ stays at or below $1/e$ of its
value at lag 0. The others stand beside it, since they answer other questions.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from ..._precision import double
from ...nets import Recurrent
from ..capacity import memory_capacity, MemoryCapacity
from ..contraction import Contraction, contraction
from ..drive import refuse_fractions, sequences_of
from ..gradients import gradient_decay
from ..lyapunov import lyapunov_spectrum, Spectrum
from ..replay import replay_window, WORK
from ..truncation import truncation_window
from .notes import notes
from .record import Measure, MemoryHorizon, shown


QUICK_WORK = WORK / 5


def memory_horizon(
    net: Any,
    inputs: Any,
    *,
    error: float = 1e-3,
    k: int | None = 1,
    lags: int | None = None,
    lengths: Any = None,
    targets: Any = None,
    input_bound: float | None = None,
    time_limit: float = 30.0,
    quick: bool = False,
    spectrum: Spectrum | None = None,
    tell: Callable[[str], None] = lambda sentence: None,
) -> MemoryHorizon:
    """The panel of memory horizons of a network (or bare cell) on its inputs.

    Of several sequences, padded ones with their `lengths`, all are used. `error` is the
    output error that windows are held to; the window is that of `replay_window`, which also takes
    `targets` (with `quick` it does a fifth of the work). The certificate is sought
    for inputs within `input_bound` (by default the largest modulus in `inputs`), for
    `time_limit` seconds. A `spectrum` already measured is taken as it is.

    >>> import jax.numpy as jnp
    >>> from remanence.cells import Linear
    >>> panel = memory_horizon(Linear(0.9 * jnp.eye(2), jnp.eye(2)), jnp.ones((300, 2)))
    >>> panel.remembers, round(panel["exponent"], 2), panel["half-life"]
    (10.0, 9.49, 7.0)
    """
    refuse_fractions(k=k, lags=lags)
    if not (isinstance(error, int | float) and error > 0):
        raise ValueError(f"error must be a positive number, got {error!r}")
    net = net if isinstance(net, Recurrent) else Recurrent(net)
    with double():
        vectors = [np.asarray(net.embed(xs)) for xs in sequences_of(inputs, lengths)]
    if spectrum is None:
        tell("the largest Lyapunov exponent")
        spectrum = lyapunov_spectrum(net, inputs, k=k, lengths=lengths)
    tell("gradients back to every position")
    places = 16 if quick else 48
    gradients = gradient_decay(net, inputs, lengths=lengths, lags=lags, positions=places)
    tell("windows of every length at every position")
    work = QUICK_WORK if quick else WORK
    options = {"lengths": lengths, "targets": targets, "work": work}
    replay = replay_window(net, inputs, error=error, of="outputs", **options)
    tell("linear memory capacity")
    capacity, lost = _capacity(net, vectors, quick)
    tell("a proof that the past is forgotten")
    certificate, why = _certificate(net, vectors, input_bound, time_limit)
    proved, why = _proved_window(net, certificate, why, error)
    low, high = (np.quantile(gradients.fall, q, method="lower") for q in (0.1, 0.9))
    level = gradients.plateau or f"lags up to {int(gradients.lags[-1])}"
    fall = f"10 % to 90 % of positions: {shown(low)} to {shown(high)}; {level}"
    spread = f"half of the positions {shown(replay.median)}, 95 % {shown(replay.q95)}"
    if capacity is not None:
        lost = capacity.remark
    measures = (
        Measure("gradient", gradients.remembers, fall),
        Measure("exponent", *_exponent_horizon(spectrum)),
        Measure("half-life", gradients.half_life),
        Measure("window", replay.window, f"{spread}; {replay.evidence}"),
        Measure("certified window", proved, why),
        Measure("capacity", None if capacity is None else capacity.total, lost),
    )
    return MemoryHorizon(
        measures=measures,
        notes=notes({m.name: m.value for m in measures}, spectrum),
        error=error,
        spectrum=spectrum,
        gradients=gradients,
        replay=replay,
        capacity=capacity,
        certificate=certificate,
    )


def _exponent_horizon(spectrum: Spectrum) -> tuple[float, str]:
    """1/|λ₁| with its interval, where λ₁ is told from 0 by two standard errors."""
    top, stderr = float(spectrum.exponents[0]), float(spectrum.stderr[0])
    remark = f"λ₁ = {top:.4g} ± {stderr:.1g}"
    if top + 2 * stderr < 0:
        if stderr > 0:
            slow, fast = -1 / (top + 2 * stderr), -1 / (top - 2 * stderr)
            remark += f": {shown(fast)} to {shown(slow)}"
        return -1 / top, remark
    if top < 2 * stderr:
        remark = f"no measurable forgetting: {remark}"
    return float("inf"), remark


def _capacity(
    net: Recurrent, vectors: list[np.ndarray], quick: bool
) -> tuple[MemoryCapacity | None, str]:
    """The capacity, or why there is none."""
    xs = np.concatenate(vectors)
    options: dict[str, Any] = {"width": xs.shape[-1], "scale": float(np.std(xs)) or 1.0}
    if quick:
        options["lags"] = 512
    try:
        return memory_capacity(net.cell, **options), ""
    except ValueError as refusal:
        if "range of floats" in str(refusal):
            return None, str(refusal)
        raise


def _certificate(
    net: Recurrent, vectors: list[np.ndarray], bound: float | None, time_limit: float
) -> tuple[Contraction | None, str]:
    """The certificate and its sentence, or why there is none."""
    if bound is None:
        bound = max(float(np.abs(xs).max()) for xs in vectors)
    try:
        found = contraction(net.cell, input_bound=bound, time_limit=time_limit)
    except ValueError as refusal:
        return None, str(refusal)
    return found, str(found)


def _proved_window(
    net: Recurrent, certificate: Contraction | None, why: str, error: float
) -> tuple[float | None, str]:
    if certificate is None or certificate.vacuous:
        return None, why
    try:
        return float(truncation_window(certificate, error=error, net=net)), why
    except ValueError as refusal:
        return None, str(refusal)
