"""Claims about untrained networks: exponents, gradients, where weak coupling ends."""

import math

import numpy as np

from ....report import Claim, Evidence, Results, Verdict
from ..weak_coupling import fitted_slope, proved_ends, where_it_ends


def law_evidence(results: Results) -> Evidence:
    """The power of the coupling by network, its coefficient against first order, the bound."""
    spectra = results["spectra"]
    gamma = spectra.coupling.values
    weak = gamma <= 1e-2
    gaps = spectra.gap.transpose(..., "coupling").values.reshape(-1, len(gamma))
    slopes = [fitted_slope(gamma[weak], gap[weak]) for gap in gaps]
    least = spectra.isel(coupling=0)
    ratio = least.top.values / (least.first_order * float(gamma[0])).values
    return {
        "slope": float(np.mean(slopes)),
        "slope_least": float(np.min(slopes)),
        "slope_most": float(np.max(slopes)),
        "first_order_ratio": float(np.median(ratio)),
        "bound_broken": int((spectra.gap > spectra.bound + 1e-12).sum()),
    }


def first_order(e: Evidence) -> Verdict:
    """Holds if every network's gap grows with a power of the coupling between 0.9 and
    1.1, its coefficient is within 10 % of first order, and no gap exceeds its proved
    bound; refuted if a bound is broken."""
    if e["bound_broken"]:
        return "refuted"
    first = 0.9 <= e["slope_least"] <= e["slope_most"] <= 1.1
    return "holds" if first and abs(e["first_order_ratio"] - 1) < 0.1 else "differs"


def defective_evidence(results: Results) -> Evidence:
    """The power with which exponents of Jordan blocks move, by size."""
    blocks = results["defective"]
    slopes = [fitted_slope(blocks.coupling.values, row) for row in blocks.moved.values]
    return {"units": blocks.units.values.tolist(), "slopes": slopes}


def first_order_for_every_residual(e: Evidence) -> Verdict:
    """Holds if exponents of Jordan blocks move with the first power of the coupling;
    refuted if they move with its N-th root (each within 15 %)."""
    if all(abs(slope - 1) < 0.15 for slope in e["slopes"]):
        return "holds"
    roots = (slope * N for slope, N in zip(e["slopes"], e["units"], strict=True))
    return "refuted" if all(abs(root - 1) < 0.15 for root in roots) else "differs"


def multiplicity_evidence(results: Results) -> Evidence:
    """How far the N exponents of r·I lie from log r, beside the proved bound."""
    spectra, config = results["spectra"], results["config"]
    usual = spectra.sel(coupling=config.coupling, method="nearest")
    return {
        "gap": float(usual.gap.max()),
        "coupling": float(usual.coupling),
        "largest_ratio": float((spectra.gap / spectra.bound).max()),
    }


def within_the_proved_bound(e: Evidence) -> Verdict:
    """Proved: at γ = 0 every Jacobian is r·I, so that all N exponents are log r; at γ > 0
    they lie within −log(1 − γ‖W‖/r). Refuted if a measured one does not."""
    return "holds" if 0 < e["largest_ratio"] <= 1 + 1e-9 else "refuted"


def gradient_evidence(results: Results) -> Evidence:
    """The slope of the log gradient norm against T log r, by seed."""
    gradients, config = results["gradients"], results["config"]
    weak, usual = (gradients.isel(coupling=i).left.transpose("seed", "radius") for i in (0, 1))
    T, r = gradients.attrs["length"], gradients.radius.values
    slopes = [float(np.polyfit(T * np.log(r), row, 1)[0]) for row in weak.values]
    return {
        "slope_weak": float(np.mean(slopes)),
        "slope_least": min(slopes),
        "slope_most": max(slopes),
        "coupling": config.coupling,
        "even_radius": float(np.interp(0.0, usual.mean("seed").values, r)),
    }


def gradient_power(e: Evidence) -> Verdict:
    """Holds if the slope of the log norm against T log r is within 10 % of 1 for every
    seed, at a coupling of 0.001."""
    return "holds" if 0.9 < e["slope_least"] <= e["slope_most"] < 1.1 else "refuted"


def ends_evidence(results: Results) -> Evidence:
    """Where exponents have moved by 0.01 nats, beside the coupling that is proved."""
    spectra = results["spectra"]
    measured, proved = where_it_ends(spectra), proved_ends(spectra)
    ends = measured.mean("seed", skipna=False)
    return {
        "earliest": float(ends.min()) if ends.notnull().any() else math.inf,
        "latest_proved": float(proved.mean("seed").max()),
        "least_ratio": float((measured / proved).min()),
    }


def ends_no_earlier(e: Evidence) -> Verdict:
    """Proved: no network's weak coupling ends before its bound says so. Refuted if a
    measured end is below 0.95 of the proved one (0.05 for the grid)."""
    return "holds" if e["least_ratio"] >= 0.95 else "refuted"


SPECTRUM = (
    Claim(
        id="001.1",
        says="Exponents tend to log|eig R| as the coupling goes to 0, with an error O(γ).",
        published="V = ∏ J_R + O(γ)",
        finding="gap ∝ γ^{slope:.2f} ({slope_least:.2f} to {slope_most:.2f}); "
        "{first_order_ratio:.2f} of first order; bound broken {bound_broken} times",
        evidence=law_evidence,
        rule=first_order,
        figure="weak-coupling",
    ),
    Claim(
        id="001.1-defective",
        says="The error is O(γ) also for a residual that cannot be diagonalised.",
        published="O(γ), without conditions on R",
        finding=lambda e: ", ".join(
            f"N = {n}: γ^{s:.3f}" for n, s in zip(e["units"], e["slopes"], strict=True)
        ),
        evidence=defective_evidence,
        rule=first_order_for_every_residual,
        figure="weak-coupling",
    ),
    Claim(
        id="001.2",
        says="The residual r·I gives N exponents log r.",
        published="N exponents equal to log r",
        finding="proved at γ = 0; within {gap:.3f} nats at γ = {coupling:g}",
        evidence=multiplicity_evidence,
        rule=within_the_proved_bound,
        figure="weak-coupling",
    ),
    Claim(
        id="001.3-gradient",
        says="The gradient norm goes as r^T: it vanishes below the edge and explodes above.",
        published="∝ r^T",
        finding="log norm = {slope_weak:.3f} T log r; at γ = {coupling:g} even at "
        "r = {even_radius:.3f}",
        evidence=gradient_evidence,
        rule=gradient_power,
        figure="gradients",
    ),
    Claim(
        id="001.Q4",
        says="Weak coupling ends no earlier than γ = r(1 − e^−0.01)/‖W‖ (0.01 nats).",
        published="open question: where does weak coupling end?",
        finding="first at γ = {earliest:.3g}; proved up to {latest_proved:.2g}",
        evidence=ends_evidence,
        rule=ends_no_earlier,
        figure="weak-coupling",
    ),
)
