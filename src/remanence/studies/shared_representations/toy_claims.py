"""Claims about the toy: alignment, clocks, walls and their predictor.

The predictor of 003.11 was mended once after a look (its first form, in which any
wrong sign after the linear phase is a wall and a disconnected graph never succeeds,
had a Brier score of .113). It is judged on graphs and starts drawn with keys that
were first used after that.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import xarray as xr

from ...report import Evidence, Statement, Verdict


def _aligns(e: Evidence) -> Verdict:
    gaps = [abs(m - p) for m, p in zip(e["exponents"], e["laws"], strict=True)]
    return "holds" if max(gaps) <= 0.06 else "differs"


def _clock(e: Evidence) -> Verdict:
    if e["three_factor_spread"] < 1.5 and e["two_factor_r2"] > 0.98:
        return "refuted"
    return "holds" if e["three_factor_spread"] > 5 else "open"


def _circulant(e: Evidence) -> Verdict:
    if e["success"][-1] >= 0.9 and e["success"][-1] > e["success"][0]:
        return "holds"
    return "refuted" if e["success"][-1] < 0.5 else "open"


def _foretold(e: Evidence) -> Verdict:
    return (
        "holds"
        if e["brier"] < 0.05 and e["brier"] < e["brier_of_the_mean"] / 2
        else "differs"
    )


STATEMENTS = (
    Statement(
        id="003.5",
        statement="In the toy, u and v align with the top singular vectors of T as σ goes to 0. (The law: contamination ∝ σ^(1−σ2/σ1).)",
        published="aligned for small σ; no law given",
        rule=_aligns,
        measured=lambda e: (
            "exponents "
            + ", ".join(
                f"width {w}: {m:.2f} (law {p:.2f})"
                for w, m, p in zip(e["widths"], e["exponents"], e["laws"], strict=True)
            )
        ),
        example={"widths": [8, 2], "exponents": [0.76, 0.05], "laws": [0.76, 0.05]},
        contrary={"widths": [8, 2], "exponents": [0.4, 0.2], "laws": [0.76, 0.05]},
    ),
    Statement(
        id="003.6",
        statement="Alignment happens around t ~ −log σ.",
        published="t ~ −log σ (a footnote)",
        rule=_clock,
        measured=lambda e: (
            f"three factors: t·σ stays within a factor {e['three_factor_spread']:.2f} over {e['decades']:g} decades, so t ~ 1/σ; "
            f"two factors: t linear in −log σ (R² {e['two_factor_r2']:.3f})"
        ),
        example={"three_factor_spread": 1.1, "decades": 14.0, "two_factor_r2": 0.999},
        contrary={"three_factor_spread": 60.0, "decades": 14.0, "two_factor_r2": 0.999},
    ),
    Statement(
        id="003.7",
        statement="Any circulant T should generalise perfectly as σ goes to 0.",
        published="seen for wide circulants only",
        rule=_circulant,
        measured=lambda e: (
            f"width {e['width']}: success "
            + ", ".join(
                f"{s:.2f} at 1e{x:.0f}"
                for x, s in zip(e["log10_scales"], e["success"], strict=True)
            )
            + "; σ for 1 % contamination: "
            + ", ".join(
                f"width {w} 1e{x:.0f}"
                for w, x in zip(e["widths"], e["needed"], strict=True)
            )
        ),
        example={
            "width": 2,
            "log10_scales": [-1.0, -40.0],
            "success": [0.1, 0.98],
            "widths": [8, 2],
            "needed": [-3.0, -41.0],
        },
        contrary={
            "width": 2,
            "log10_scales": [-1.0, -40.0],
            "success": [0.1, 0.2],
            "widths": [8, 2],
            "needed": [-3.0, -41.0],
        },
    ),
    Statement(
        id="003.11",
        statement="From T alone (components, σ2/σ1, wall probability) one can tell what will generalise and at which σ.",
        published="not in the document",
        rule=_foretold,
        measured=lambda e: (
            f"Brier score {e['brier']:.3f} on {e['graphs']} unseen graphs × {e['scales']} σ "
            f"(always foretelling the mean: {e['brier_of_the_mean']:.3f}); right side of ½ in {e['accuracy']:.0%}"
        ),
        example={
            "brier": 0.01,
            "brier_of_the_mean": 0.2,
            "accuracy": 0.97,
            "graphs": 24,
            "scales": 2,
        },
        contrary={
            "brier": 0.18,
            "brier_of_the_mean": 0.2,
            "accuracy": 0.6,
            "graphs": 24,
            "scales": 2,
        },
    ),
)


def _numbers(values: Any) -> list[float]:
    return [float(v) for v in np.asarray(values)]


def evidence(data: Mapping[str, xr.Dataset]) -> dict[str, Any]:
    """What the toy says."""
    aligned, clock, stuck = data["alignment"], data["clocks"], data["walls"]
    guess = data["predictor"]
    x = clock.log10_scale.values
    two, three = clock.time.sel(factors=2).values, clock.time.sel(factors=3).values
    seen, foretold = guess.seen.values.ravel(), guess.foretold.values.ravel()
    widths = [int(w) for w in aligned.width.values]
    return {
        "003.5": {
            "widths": widths,
            "exponents": _numbers(aligned.exponent),
            "laws": _numbers(aligned.law),
        },
        "003.6": {
            "three_factor_spread": float(three.max() / three.min()),
            "decades": float(x.max() - x.min()),
            "two_factor_r2": float(np.corrcoef(x, two)[0, 1] ** 2),
        },
        "003.7": {
            "width": int(stuck.attrs.get("width", 2)),
            "log10_scales": _numbers(stuck.log10_scale),
            "success": _numbers(stuck.success),
            "widths": widths,
            "needed": _numbers(aligned.needed_log10_scale),
        },
        "003.11": {
            "graphs": int(guess.sizes["graph"]),
            "scales": int(guess.sizes["log10_scale"]),
            "brier": float(np.mean((seen - foretold) ** 2)),
            "brier_of_the_mean": float(np.var(seen)),
            "accuracy": float(np.mean((seen > 0.5) == (foretold > 0.5))),
        },
    }
