"""Why the horizons of one network disagree, where they do."""

import math

from ..lyapunov import Spectrum


def notes(value: dict[str, float | None], spectrum: Spectrum) -> tuple[str, ...]:
    """A sentence for each disagreement, from the horizons by name."""
    gradient, exponent = value["gradient"] or 0.0, value["exponent"] or 0.0
    window, proved = value["window"] or 0.0, value["certified window"]
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
