"""Claims about random Gaussian instances: lemmas, Proposition 2, Theorem 1, certificates."""

import math
from typing import Any

import numpy as np

from ....report import Claim, Evidence, Results, Verdict
from ..random_instances import RATE


ENOUGH = 3
"""Fewer instances do not show whether constant steps leave the bound."""


def short(value: Any) -> float:
    """Five digits: what evidence shows."""
    return float(f"{float(value):.5g}")


def slope_of(gaps: Any) -> float:
    """Nats a step of window, where the mean gap over instances is above rounding."""
    logs = np.log(np.maximum(gaps.mean("instance").values, 1e-15))
    seen = logs > math.log(1e-12)
    return short(np.polyfit(gaps["window"].values[seen], logs[seen], 1)[0])


def state_gap(results: Results) -> Evidence:
    """The largest ratio of a measured state gap to its bound."""
    table = results["lemmas"]
    bound = np.minimum(table["state_bound"], table["state_bound_full"])
    return {"largest_ratio": short((table["state"] / bound).max())}


def within(e: Evidence) -> Verdict:
    """Proved; holds while no measured gap exceeds its bound, refuted if one does."""
    return "holds" if 0 < e["largest_ratio"] <= 1 else "refuted"


def printed_bound(e: Evidence) -> Verdict:
    """Refuted if a map that moves the origin has a larger gap than the bound as printed;
    holds if not."""
    return "refuted" if e["gap"] > e["printed"] else "holds"


def gradient_gap(results: Results) -> Evidence:
    """The largest ratio of a measured gradient gap to its bound, and how fast it falls."""
    table = results["lemmas"]
    ratio = table["gradient"] / table["gradient_bound"]
    return {"largest_ratio": short(ratio.max()), "slope": slope_of(table["gradient"])}


def descent(results: Results) -> Evidence:
    """Weight gaps against the bound for steps α/t, with α/t and with constant steps."""
    steps = results["descents"].sel(norm=RATE)
    decaying = steps.sel(schedule="alpha/t")
    bound = decaying["bound"].where(decaying["bound"] > 0)
    # The claim without 1/t: the gap of constant steps against the bound for α/t.
    over = steps["gap"].sel(schedule="constant") / decaying["bound"]
    over = over.max(("window", "step"))
    return {
        "decaying_ratio": short((decaying["gap"] / bound).max()),
        "exceeding": int((over > 1).sum()),
        "instances": int(over.size),
    }


def needs_decay(e: Evidence) -> Verdict:
    """With α/t the bound is proved (with constants measured along the path it is a
    triangle inequality and cannot fail; refuted only by an error of ours). Judged is the
    other half, on at least three instances: holds if constant steps exceed the α/t bound at some
    step in more than half of them, differs if in none, else open."""
    if e["decaying_ratio"] > 1 + 1e-9:
        return "refuted"
    if e["instances"] < ENOUGH:
        return "open"
    most = 2 * e["exceeding"] > e["instances"]
    return "holds" if most else "open" if e["exceeding"] else "differs"


def output_gap(results: Results) -> Evidence:
    """How fast outputs of separately trained models come together with the window."""
    steps = results["descents"].sel(norm=RATE, schedule="alpha/t")
    return {"slope": slope_of(steps["output_gap"]), "log_rate": short(math.log(RATE))}


def geometric(e: Evidence) -> Verdict:
    """Holds if the gap falls by at least 0.9 |log λ| nats a step of window."""
    return "holds" if e["slope"] <= e["log_rate"] * 0.9 else "differs"


def weight_gap(results: Results) -> Evidence:
    """Distance of truncated from full training, over the way moved, at the longest window."""
    table = results["descents"]
    last = table["gap"].isel(window=-1, step=-1) / table["moved"].isel(step=-1)
    stable, free = (short(last.sel(norm=norm).max()) for norm in table["norm"].values)
    text = results["truncated training"]
    return {
        "stable_gap": stable,
        "free_gap": free,
        "norm": float(table["norm"][-1]),
        "text": {name: [short(v) for v in found["relative"]] for name, found in text.items()},
    }


def close(e: Evidence) -> Verdict:
    """For free models at the longest window, instances and text: holds if the gap is
    below a tenth of the way moved, differs if below a half, else refuted."""
    text = [v[-1] for name, v in e.get("text", {}).items() if name.endswith("free")]
    worst = max([e["free_gap"], *text])
    return "holds" if worst < 0.1 else "differs" if worst < 0.5 else "refuted"


THEORY = (
    Claim(
        id="004.1",
        says="Lemma 1: for a λ-contractive map with φ(0, 0) = 0 the state gap of a k-step "
        "window is at most λ^k L_x B_x / (1 − λ).",
        published="proved",
        finding="proved; largest gap/bound measured {largest_ratio:.3g}",
        evidence=state_gap,
        rule=within,
        figure="lemmas",
    ),
    Claim(
        id="004.1-moving",
        says="Lemma 1 as printed, without φ(0, 0) = 0.",
        published="no condition on φ(0, 0) on the slides",
        finding="h' = .5h + 1: gap {gap:g}, printed bound {printed:g}, corrected {corrected:g}",
        evidence=lambda results: results["moving origin"],
        rule=printed_bound,
    ),
    Claim(
        id="004.2",
        says="Lemma 2: the gradient gap is at most γ k λ^k.",
        published="proved (the slides write = for ≤)",
        finding="proved; largest gap/bound {largest_ratio:.3g}; falls {slope:.3g} nats a step",
        evidence=gradient_gap,
        rule=within,
        figure="lemmas",
    ),
    Claim(
        id="004.3",
        says="Proposition 2: with steps α/t truncated and full training stay within "
        "α γ k λ^k N^(αβ+1); without 1/t the bound fails.",
        published="true on random Gaussian instances; fails without 1/t (Figure 1)",
        finding="constant steps exceed the α/t bound in {exceeding} of {instances} instances",
        evidence=descent,
        rule=needs_decay,
        figure="training",
    ),
    Claim(
        id="004.4",
        says="Theorem 1: a window of O(log(1/ε)) steps keeps trained outputs within ε.",
        published="proved",
        finding="gap falls {slope:.3g} nats a step of window (log λ = {log_rate:.3g})",
        evidence=output_gap,
        rule=geometric,
        figure="training",
    ),
    Claim(
        id="004.7",
        says="Truncated and full training end at close weights, for arbitrary models too.",
        published="shown for arbitrary models (two figures without numbers)",
        finding="gap over way moved: stable {stable_gap:.2g}, free (norm {norm:g}) {free_gap:.2g}",
        evidence=weight_gap,
        rule=close,
        figure="training",
    ),
)
