r"""How long a network remembers: a panel of horizons, each with its meaning.

"Remembers about n steps" is the median over positions of the lag from which
$\|\partial h_{t+i} / \partial x_t\|$ stays at or below $1/e$ of its value at lag 0.
"""

import dataclasses
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from .._precision import double
from .._show import aligned, html_table
from ..nets import Recurrent
from .capacity import memory_capacity, MemoryCapacity
from .contraction import Contraction, contraction, StackProof
from .drive import driven, refuse_fractions
from .gradients import gradient_decay, GradientDecay
from .lyapunov import lyapunov_spectrum, Spectrum
from .replay import replay_window, ReplayWindow, WORK
from .truncation import truncation_window


MEANINGS = {
    "gradient": "Half of the positions have, from this lag on, less than 1/e of the gradient "
    "that the state has at once: 'remembers about n steps' means this.",
    "exponent": "1/|λ₁|: in this time the slowest direction of all fades by e, in the long run.",
    "window": "Started from its empty state and given this many of the last inputs, or more, the "
    "network's output is within the allowed error of the full run's, wherever it was measured.",
    "certified window": "The same with a proof, for every input in the bound.",
    "capacity": "Linear memory capacity: how many past inputs a linear readout could recall, "
    "summed over lags, corrected for chance.",
}


@dataclasses.dataclass(frozen=True)
class Measure:
    """One horizon: its name, of those in `MEANINGS`, and its value in steps (capacity: in units)."""

    name: str
    value: float | None
    remark: str = ""

    def __str__(self) -> str:
        unit = "unit" if self.name == "capacity" else "step"
        unit = "" if self.value is None else f" {unit}{'' if self.value == 1 else 's'}"
        return f"{shown(self.value)}{unit}" + (f" ({self.remark})" if self.remark else "")


@dataclasses.dataclass(frozen=True, kw_only=True)
class MemoryHorizon:
    """Every horizon of one network on its inputs, and why they may disagree."""

    measures: tuple[Measure, ...]
    notes: tuple[str, ...]
    error: float
    spectrum: Spectrum
    gradients: GradientDecay
    replay: ReplayWindow
    capacity: MemoryCapacity | None
    certificate: Contraction | StackProof | None

    @property
    def remembers(self) -> float:
        """Steps, by the definition that opens `horizon.py`."""
        return self.gradients.remembers

    def __getitem__(self, name: str) -> float | None:
        values = {measure.name: measure.value for measure in self.measures}
        if name not in values:
            raise KeyError(f"no horizon is called {name!r}; there are {', '.join(values)}")
        return values[name]

    @property
    def _shown(self) -> tuple[str, list[tuple[str, str]]]:
        rows = [(each.name, str(each)) for each in self.measures]
        rows += [("note", note) for note in self.notes]
        return f"remembers about {shown(self.remembers)} steps", rows

    def __str__(self) -> str:
        return aligned(*self._shown)

    def _repr_html_(self) -> str:
        return html_table(*self._shown)


def shown(value: float | None) -> str:
    """A figure in words where it is none."""
    if value is None:
        return "not known"
    return "unbounded" if value == math.inf else f"{value:.4g}"


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
    >>> panel.remembers, round(panel["exponent"], 2), panel["window"]
    (10.0, 9.49, 91.0)
    """
    refuse_fractions(k=k, lags=lags)
    if not (isinstance(error, int | float) and error > 0):
        raise ValueError(f"error must be a positive number, got {error!r}")
    net = net if isinstance(net, Recurrent) else Recurrent(net)
    if spectrum is None:
        tell("the largest Lyapunov exponent")
        spectrum = lyapunov_spectrum(net, inputs, k=k, lengths=lengths)
    tell("gradients back to every position")
    places = 16 if quick else 48
    gradients = gradient_decay(net, inputs, lengths=lengths, lags=lags, positions=places)
    tell("windows of every length at every position")
    options = {"lengths": lengths, "targets": targets, "work": WORK / 5 if quick else WORK}
    replay = replay_window(net, inputs, error=error, of="outputs", **options)
    with double():
        xs = np.asarray(driven(net, inputs, lengths=lengths).xs)
    tell("linear memory capacity")
    capacity, recalled = _capacity(net, xs, quick)
    tell("a proof that the past is forgotten")
    if input_bound is None:
        input_bound = float(np.abs(xs).max())
    certificate, proved, why = _proved_window(net, input_bound, time_limit, error)
    low, high = (np.quantile(gradients.fall, q, method="lower") for q in (0.1, 0.9))
    level = gradients.plateau or f"lags up to {int(gradients.lags[-1])}"
    fall = f"10 % to 90 % of positions: {shown(low)} to {shown(high)}; {level}"
    spread = f"half of the positions {shown(replay.median)}, 95 % {shown(replay.q95)}"
    measures = (
        Measure("gradient", gradients.remembers, fall),
        Measure("exponent", *_exponent_horizon(spectrum)),
        Measure("window", replay.window, f"{spread}; {replay.evidence}"),
        Measure("certified window", proved, why),
        Measure("capacity", None if capacity is None else capacity.total, recalled),
    )
    return MemoryHorizon(
        measures=measures,
        notes=_notes({m.name: m.value for m in measures}, spectrum),
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
    remark, slow, fast = f"λ₁ = {top:.4g} ± {stderr:.1g}", top + 2 * stderr, top - 2 * stderr
    if slow < 0:
        return -1 / top, remark + (f": {shown(-1 / fast)} to {shown(-1 / slow)}" if stderr else "")
    return math.inf, f"no measurable forgetting: {remark}" if fast < 0 else remark


def _capacity(net: Recurrent, xs: np.ndarray, quick: bool) -> tuple[MemoryCapacity | None, str]:
    """The capacity under noise as wide and as large as the inputs, or why there is none."""
    lags, scale = 512 if quick else None, float(np.std(xs)) or 1.0
    try:
        found = memory_capacity(net.cell, width=xs.shape[-1], scale=scale, lags=lags)
        return found, found.remark
    except ValueError as refusal:
        if "range of floats" in str(refusal):
            return None, str(refusal)
        raise


def _proved_window(
    net: Recurrent, bound: float, time_limit: float, error: float
) -> tuple[Contraction | StackProof | None, float | None, str]:
    """The certificate and the window that follows, with its sentence, or why there is none."""
    found = None
    try:
        found = contraction(net.cell, input_bound=bound, time_limit=time_limit)
        if found.vacuous:
            return found, None, str(found)
        if isinstance(found, StackProof):
            return found, float(found.output_window(error, net)), str(found)
        return found, float(truncation_window(found, error=error, net=net)), str(found)
    except ValueError as refusal:
        return found, None, str(refusal)


def _notes(value: dict[str, float | None], spectrum: Spectrum) -> tuple[str, ...]:
    """A sentence for each disagreement, from the horizons by name."""
    gradient, exponent, window = (value[n] or 0.0 for n in ("gradient", "exponent", "window"))
    proved = value["certified window"]
    grows = bool(spectrum.exponents[0] > 2 * spectrum.stderr[0])
    fades = math.isfinite(exponent)
    sentences = {
        "The largest exponent is positive: small differences grow, no window and no "
        "certificate can exist, and capacity counts only what a linear readout finds.": grows,
        "The largest exponent cannot be told from 0 here: whether anything fades in the "
        "long run is open, and more steps would tell.": not grows and not fades,
        "The exponent promises a longer memory than the gradient shows: the slowest direction "
        "is hardly excited by the inputs, or the rest fades first.": (
            fades and exponent > 2 * gradient > 0
        ),
        "The gradient outlasts 1/|λ₁|: transient growth (a non-normal Jacobian) or positions "
        "much slower than the mean rate.": fades and gradient > 2 * exponent > 0,
        "Small differences fade, yet no window is enough: either the sequences are too short, "
        "or there is more than one attractor and a start from nothing ends on another.": (
            math.isinf(window) and fades
        ),
        "No window is proved: a certificate must hold for every input in the bound and for "
        "every slope, the measured window only on this sequence.": proved is None,
        "The proved window is longer than the measured one, since it holds for every input in "
        "the bound and not only for this sequence.": (
            proved is not None and proved > 2 * window > 0
        ),
        "The window exceeds the gradient's horizon: to forget by 1/e at half of the positions "
        "is one thing, to be right to the allowed error at all of them another.": (
            math.isfinite(window) and window > 4 * gradient > 0
        ),
    }
    return tuple(sentence for sentence, holds in sentences.items() if holds)
