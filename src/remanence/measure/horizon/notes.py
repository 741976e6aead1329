"""Why the horizons of one network disagree, where they do."""

import math

from ..lyapunov import Spectrum


def notes(value: dict[str, float | None], spectrum: Spectrum) -> tuple[str, ...]:
    """A sentence for each disagreement, from the horizons by name."""
    found = []
    gradient, exponent = value["gradient"] or 0.0, value["exponent"] or 0.0
    if spectrum.exponents[0] > 2 * spectrum.stderr[0]:
        found.append(
            "The largest exponent is positive: small differences grow, no window and no "
            "certificate can exist, and capacity counts only what a linear readout finds."
        )
    elif math.isinf(exponent):
        found.append(
            "The largest exponent cannot be told from 0 here: whether anything fades in the "
            "long run is open, and more steps would tell."
        )
    elif gradient > 0 and exponent > 2 * gradient:
        found.append(
            "The exponent promises a longer memory than the gradient shows: the slowest "
            "direction is hardly excited by the inputs, or the rest fades first."
        )
    elif exponent > 0 and gradient > 2 * exponent:
        found.append(
            "The gradient outlasts 1/|λ₁|: transient growth (a non-normal Jacobian) or "
            "positions much slower than the mean rate."
        )
    window, proved = value["window"], value["certified window"]
    fades = math.isfinite(exponent)
    if window is not None and math.isinf(window) and fades:
        found.append(
            "Small differences fade, yet no window is enough: either the sequences are too "
            "short, or there is more than one attractor and a start from nothing ends on another."
        )
    if proved is None:
        found.append(
            "No window is proved: a certificate must hold for every input in the bound "
            "and for every slope, the measured window only on this sequence."
        )
    elif window and proved > 2 * window:
        found.append(
            "The proved window is longer than the measured one, since it holds for every "
            "input in the bound and not only for this sequence."
        )
    if window and math.isfinite(window) and gradient and window > 4 * gradient:
        found.append(
            "The window exceeds the gradient's horizon: to forget by 1/e at half of the "
            "positions is one thing, to be right to the allowed error at all of them another."
        )
    return tuple(found)
