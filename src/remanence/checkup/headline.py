"""The finding of a checkup in one sentence: on what, what to do, what is proved, what fades."""

import math

from .figures import FIGURES, Found


TITLE = " · checkup · remanence"  # how the title of every page of a checkup ends
FORGOTTEN = -36.0  # nats: below, one step leaves less of a difference than a float resolves


def headline(found: Found) -> list[str]:
    """The inputs and the decision, since no number means anything without them; then the rest."""
    window, spectrum = found.horizon.replay.worst, found.spectrum
    top = float(spectrum.exponents[0])
    dead = top < FORGOTTEN
    brief = dead and not found.horizon.remembers > 1
    if brief and window == 1:
        return [
            f"on {found.inputs}: remembers nothing, one step forgets the whole state "
            f"(the largest exponent is {top:.4g})"
        ]
    # A saturated network has no slopes, and windows longer than any nilpotent's.
    switches = brief and window > spectrum.dimension
    parts = [
        f"on {found.inputs}: {_replay(found)}",
        _cost(found),
        _proof(found),
        found.horizon.gradients.sentence(found.unit),
        _growth(found),
    ]
    if switches:
        parts[-2] = "remembers by switching, which no gradient sees"
    if dead:
        lost = "no small difference lasts" if switches else "some steps forget the whole state"
        parts[-1] = f"{lost} (the largest exponent is {top:.4g})"
    return [part for part in parts if part]


def large_numbers(found: Found) -> list[tuple[str, str, str]]:
    """The three numbers that a page leads with: what, how much, with what error and on what."""
    value, error = (float(a[0]) for a in (found.spectrum.exponents, found.spectrum.stderr))
    stable = "yes" if value < -2 * error else "no" if value > 2 * error else "not decided"
    exponent = f"largest exponent {value:.3g} ± {error:.1g} nats a step"
    if not found.spectrum.converged:
        exponent += ", not converged"
    named = [("remembers", FIGURES["remembers"]), ("safe window", FIGURES["window"])]
    rows = [(name, figure.text(found), figure.remark(found)) for name, figure in named]
    rows.append(("stable?", stable, exponent))
    return [(name, text, f"{remark}\non {found.inputs}") for name, text, remark in rows]


def _replay(found: Found) -> str:
    replay, unit = found.horizon.replay, found.unit
    relative = f" ({replay.relative_error:.2g} of their scale)" if replay.scale > 0 else ""
    within = f"within {replay.error:g}{relative}"
    if math.isinf(replay.worst):
        return f"no window up to {replay.longest:,} {unit} keeps outputs {within}"
    few = unit.removesuffix("s") if replay.worst == 1 else unit
    return f"replay the last {replay.worst:,.0f} {few}: every output is {within}, {replay.evidence}"


def _cost(found: Found) -> str:
    """What a shorter window would cost in nats, where there is something to predict: not noise."""
    cost = found.horizon.replay.cost
    noise = found.inputs.startswith("white noise")
    return "" if cost is None or noise else cost.sentence(found.unit)


def _proof(found: Found) -> str:
    panel = found.horizon
    proved = panel["certified window"]
    if proved is not None:
        return f"{proved:,.0f} are proved to do for every input in the bound"
    if panel.certificate is None:
        return "no proof: none is known for this kind of cell"
    why = getattr(panel.certificate, "why", "") or f"contraction rate {panel.certificate.rate:.3g}"
    return f"no proof: {why}"


def _growth(found: Found) -> str:
    """What the largest exponent says against a horizon, if anything."""
    value, error = (float(a[0]) for a in (found.spectrum.exponents, found.spectrum.stderr))
    if value > 2 * error:
        return "the largest exponent is positive: chaotic or unstable here"
    if value > -2 * error:
        return f"no measurable forgetting in the long run (λ₁ = {value:.2g} ± {error:.1g})"
    return "" if found.spectrum.converged else "the exponents have not converged"
