"""What document 004 says, and what goes beyond it, each with the rule that judges it."""

from ...report import Statement
from . import rules


STATEMENTS = (
    Statement(
        id="004.1",
        statement=(
            "Lemma 1: for a λ-contractive map the state gap of a k-step window is at most "
            "λ^k L_x B_x / (1 − λ)."
        ),
        published="proved, where φ(0, 0) = 0 (not said on the slides)",
        rule=rules.lemma_1,
        measured=lambda e: (
            f"largest gap/bound {e['largest_ratio']:.3g}; h' = .5h + 1: gap {e['moving_gap']:g}, "
            f"printed bound {e['moving_printed']:g}, corrected {e['moving_corrected']:g}"
        ),
        example={"largest_ratio": 0.2, "moving_gap": 0.25, "moving_printed": 0.0, "moving_corrected": 0.25},
        contrary={"largest_ratio": 1.2, "moving_gap": 0.25, "moving_printed": 0.0, "moving_corrected": 0.25},
    ),
    Statement(
        id="004.2",
        statement="Lemma 2: the gradient gap is at most γ k λ^k.",
        published="proved (the slides write = for ≤)",
        rule=rules.within,
        measured=lambda e: (
            f"largest gap/bound {e['largest_ratio']:.3g}; falls by {e['slope']:.3g} nats a step, "
            f"log λ = {e['log_rate']:.3g}"
        ),
        example={"largest_ratio": 0.01, "slope": -0.4, "log_rate": -0.22},
        contrary={"largest_ratio": 2.0, "slope": -0.4, "log_rate": -0.22},
    ),
    Statement(
        id="004.3",
        statement=(
            "Proposition 2: with steps α/t truncated and full training stay within "
            "α γ k λ^k N^(αβ+1); without 1/t the bound fails."
        ),
        published="true on random Gaussian instances; fails without 1/t (Figure 1)",
        rule=rules.proposition,
        measured=lambda e: (
            f"α/t: gap/bound {e['decaying_ratio']:.3g}; constant steps reach "
            f"{e['constant_over_bound']:.3g} of the α/t bound"
        ),
        example={"decaying_ratio": 0.3, "constant_over_bound": 4.0},
        contrary={"decaying_ratio": 1.3, "constant_over_bound": 4.0},
    ),
    Statement(
        id="004.4",
        statement="Theorem 1: a window of O(log(1/ε)) steps keeps trained outputs within ε.",
        published="proved",
        rule=lambda e: "holds" if e["slope"] <= e["log_rate"] * 0.9 else "differs",
        measured=lambda e: (
            f"outputs of separately trained models part by {e['slope']:.3g} nats less a step of "
            f"window (log λ = {e['log_rate']:.3g})"
        ),
        example={"slope": -0.3, "log_rate": -0.1},
        contrary={"slope": -0.01, "log_rate": -0.1},
    ),
    Statement(
        id="004.5",
        statement="Stable models match unstable ones.",
        published="WikiText-2: RNN 146.7 free; LSTM 92.3 free; stable 143.5 and 113.2 recalled",
        rule=rules.matching,
        measured=rules.scores,
        example={"perplexity": {"rnn stable": [10.0, 10.1], "rnn free": [10.0, 10.1]}},
        contrary={"perplexity": {"rnn stable": [20.0, 21.0], "rnn free": [10.0, 10.1]}},
    ),
    Statement(
        id="004.6",
        statement="Trained free models are effectively stable: gradients vanish along real data.",
        published="Figure 2; called sketchy by the slides themselves",
        rule=rules.effectively_stable,
        measured=lambda e: ", ".join(
            f"{name}: λ₁ = {v:+.3f} ± {s:.3f}" + ("" if settled else " (not settled)")
            for name, v, s, settled in zip(
                e["models"], e["exponents"], e["stderrs"], e["converged"], strict=True
            )
        ),
        example={"models": ["rnn"], "exponents": [-0.1], "stderrs": [0.01], "converged": [True]},
        contrary={"models": ["rnn"], "exponents": [0.1], "stderrs": [0.01], "converged": [True]},
    ),
    Statement(
        id="004.7",
        statement="Truncated and full training end at close weights, for arbitrary models too.",
        published="shown for arbitrary models (two figures without numbers)",
        rule=rules.close,
        measured=rules.weights_apart,
        example={"stable_apart": 0.001, "free_apart": 0.01, "norm": 2.0},
        contrary={"stable_apart": 0.001, "free_apart": 0.9, "norm": 2.0},
    ),
    Statement(
        id="004.8",
        statement="Beyond: a full metric with multipliers certifies more gain than the norm.",
        published="Gaussian W, N = 24: norm .56, diagonal .63, full .80",
        rule=lambda e: "holds" if e["least_gain"] > 1.2 and e["full"] > e["diagonal"] else "differs",
        measured=lambda e: (
            f"N = {e['units']}: norm {e['norm']:.2f}, diagonal {e['diagonal']:.2f}, full {e['full']:.2f}; "
            f"full over norm at least {e['least_gain']:.2f} in {e['draws']} draws"
        ),
        example={"units": 24, "norm": 0.56, "diagonal": 0.63, "full": 0.8, "least_gain": 1.4, "draws": 3},
        contrary={"units": 24, "norm": 0.56, "diagonal": 0.63, "full": 0.8, "least_gain": 1.0, "draws": 3},
    ),
    Statement(
        id="004.9",
        statement="Beyond: masks limit every certificate, and the full metric comes near that limit.",
        published="within 2–12 % for Gaussian W, N = 24",
        rule=lambda e: (
            "refuted" if e["smallest_room"] < 0 else "holds" if e["mean_room"] <= 0.15 else "differs"
        ),
        measured=lambda e: (
            f"{100 * e['mean_room']:.0f} % left on average, {100 * e['smallest_room']:.0f} to "
            f"{100 * e['largest_room']:.0f} %"
        ),
        example={"mean_room": 0.06, "smallest_room": 0.01, "largest_room": 0.12},
        contrary={"mean_room": 0.06, "smallest_room": -0.01, "largest_room": 0.12},
    ),
    Statement(
        id="004.10",
        statement="Beyond: a comparison matrix certifies larger LSTMs than the paper's condition.",
        published="largest common gain, N = 16: .021 → .14; N = 64: .012 → .067",
        rule=lambda e: "holds" if min(c / p for p, c in zip(e["paper"], e["comparison"], strict=True)) > 2 else "differs",
        measured=lambda e: ", ".join(
            f"N = {n}: {p:.3f} → {c:.3f}"
            for n, p, c in zip(e["units"], e["paper"], e["comparison"], strict=True)
        ),
        example={"units": [16], "paper": [0.021], "comparison": [0.14]},
        contrary={"units": [16], "paper": [0.021], "comparison": [0.022]},
    ),
    Statement(
        id="004.11",
        statement="Beyond: no twin found by gradient ascent parts faster than the certified rate.",
        published="a proof that a twin passes is wrong",
        rule=lambda e: "holds" if e["nearest"] <= 1 + 1e-9 else "refuted",
        measured=lambda e: f"nearest twin at {e['nearest']:.3f} of the rate, of {e['cells']} cells",
        example={"nearest": 0.97, "cells": 4},
        contrary={"nearest": 1.01, "cells": 4},
    ),
    Statement(
        id="004.12",
        statement="Beyond: a stable model must fail to remember past the delay that its rate allows.",
        published="long memory requires exploding gradients (slide on Lemma 1)",
        rule=rules.costs,
        measured=rules.lengths,
        example={"symbol": {"least_excess": 0.1, "stable": 1.38, "free": 0.1, "floor": 1.2, "chance": 1.386, "length": 16}},
        contrary={"symbol": {"least_excess": -0.1, "stable": 0.5, "free": 0.1, "floor": 1.2, "chance": 1.386, "length": 16}},
    ),
    Statement(
        id="004.13",
        statement="Full history is unnecessary: gains fade after a context of some twenty tokens.",
        published="Dauphin et al.: diminishing after 20 words",
        rule=lambda e: "holds" if e["worst_loss"] <= 1.02 else "differs",
        measured=rules.faded,
        example={"window": 16, "worst_loss": 1.01},
        contrary={"window": 16, "worst_loss": 1.5},
    ),
)  # fmt: skip
