"""Claims about certificates: beyond the paper."""

from ....report import Claim, Evidence, Results, Verdict
from .theory import short


def gains(results: Results) -> Evidence:
    """Largest certified gains of Gaussian matrices at the largest size, by metric."""
    table = results["gains"]["gain"].isel(units=-1)
    least = (table.sel(metric="full") / table.sel(metric="norm")).min()
    mean = {str(name): short(by.mean()) for name, by in table.groupby("metric")}
    return mean | {"units": int(table["units"]), "least_gain": short(least)}


def full_metric_wins(e: Evidence) -> Verdict:
    """Holds if in every draw the full metric certifies 1.2 times the norm's gain, and more
    than the diagonal one on average."""
    return "holds" if e["least_gain"] > 1.2 and e["full"] > e["diagonal"] else "differs"


def room(results: Results) -> Evidence:
    """What is left between the full metric and the limit on any metric."""
    gain = results["gains"]["gain"]
    left = 1 - gain.sel(metric="full") / gain.sel(metric="limit")
    numbers = {"mean": left.mean(), "smallest": left.min(), "largest": left.max()}
    return {f"{name}_room": short(value) for name, value in numbers.items()}


def near_the_limit(e: Evidence) -> Verdict:
    """Holds if at most 15 % are left on average; refuted if a certificate exceeds the
    limit on every certificate."""
    near = e["mean_room"] <= 0.15
    return "refuted" if e["smallest_room"] < 0 else "holds" if near else "differs"


def lstm(results: Results) -> Evidence:
    """The largest common gain of a Gaussian LSTM: the paper's condition and ours."""
    table = results["lstm gains"]["gain"]
    paper, comparison = (table.sel(condition=name) for name in ("paper", "comparison"))
    return {
        "units": [int(n) for n in table["units"].values],
        "paper": [short(v) for v in paper],
        "comparison": [short(v) for v in comparison],
        "least_ratio": short((comparison / paper).min()),
    }


def twice_the_paper(e: Evidence) -> Verdict:
    """Holds if the comparison matrix certifies more than twice the gain at every size."""
    return "holds" if e["least_ratio"] > 2 else "differs"


def pairs(results: Results) -> Evidence:
    """How near gradient ascent on pairs of states comes to the certified rate."""
    rows = results["worst pairs"]
    return {"nearest": short(max(r["pair"] / r["rate"] for r in rows)), "cells": len(rows)}


def no_pair_exceeds(e: Evidence) -> Verdict:
    """Refuted if a pair of states separates faster than the certified rate."""
    return "holds" if 0 < e["nearest"] <= 1 + 1e-9 else "refuted"


CERTIFICATES = (
    Claim(
        id="004.8",
        says="Beyond: a full metric with multipliers certifies more gain than the norm.",
        published="Gaussian W, N = 24: norm .56, diagonal .63, full .80",
        finding="N = {units}: norm {norm:.2f}, diagonal {diagonal:.2f}, full {full:.2f}",
        evidence=gains,
        rule=full_metric_wins,
        figure="certified-gains",
    ),
    Claim(
        id="004.9",
        says="Beyond: masks limit every certificate, and the full metric comes near that limit.",
        published="within 2–12 % for Gaussian W, N = 24",
        finding="{mean_room:.0%} left on average, {smallest_room:.0%} to {largest_room:.0%}",
        evidence=room,
        rule=near_the_limit,
        figure="certified-gains",
    ),
    Claim(
        id="004.10",
        says="Beyond: a comparison matrix certifies larger LSTMs than the paper's condition.",
        published="largest common gain, N = 16: .021 → .14; N = 64: .012 → .067",
        finding=lambda e: ", ".join(
            f"N = {n}: {p:.3f} → {c:.3f}"
            for n, p, c in zip(e["units"], e["paper"], e["comparison"], strict=True)
        ),
        evidence=lstm,
        rule=twice_the_paper,
    ),
    Claim(
        id="004.11",
        says="Beyond: no pair of states found by gradient ascent separates faster than certified.",
        published="a proof that a pair exceeds is wrong",
        finding="nearest pair at {nearest:.3f} of the rate, of {cells} cells",
        evidence=pairs,
        rule=no_pair_exceeds,
    ),
)
