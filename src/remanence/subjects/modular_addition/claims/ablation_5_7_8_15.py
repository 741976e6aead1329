"""Claims 002.5, 002.7, 002.8 and 002.15: networks without some of their frequencies."""

import statistics

import numpy as np

from ....measure.fourier import key_frequencies, wave_fit_error
from ....report import Claim, Evidence, Results, Verdict
from ..dissection import node_tables


def robustness(results: Results) -> Evidence:
    """Accuracy with one key frequency removed, and with half of them or more."""
    single, several = [], []
    for cut in results["ablations"]:
        single += cut.single.values()
        half = max(2, (len(cut.single) + 1) // 2)
        left = cut.growing.sel(place="embedding")[half:].values.ravel()
        several += left[np.isfinite(left)].tolist()
    return {
        "single": statistics.fmean(single),
        "intact": statistics.fmean(a >= 0.99 for a in single),
        "several": statistics.fmean(several),
    }


def robust(e: Evidence) -> Verdict:
    """Holds if half of the single removals keep 99 % and half or more removed leave at
    most 50 %; differs if one removed is at least less harmful than several."""
    if e["intact"] >= 0.5 and e["several"] <= 0.5:
        return "holds"
    return "differs" if e["single"] > e["several"] else "refuted"


def causality(results: Results) -> Evidence:
    """The least change of later states, and the accuracy with all key frequencies cut."""
    cuts = results["ablations"]
    left = [cut.growing.sel(place=["h1", "h2", "h3"])[:, -1, 0].max() for cut in cuts]
    changes = [change for cut in cuts for change in cut.causal.values()]
    return {"least_change": min(changes), "most_left": float(max(left))}


def causal(e: Evidence) -> Verdict:
    """Holds if every later state moves by more than 1 % and, with all key frequencies cut,
    fewer than half of the answers are right; else refuted."""
    return "holds" if e["least_change"] > 0.01 and e["most_left"] < 0.5 else "refuted"


def controls(results: Results) -> Evidence:
    """Shuffled weights through the same rule; random frequencies through the same fit."""
    cuts, random = results["ablations"], np.random.default_rng(0)
    false, fitted, mean = [], [], statistics.fmean
    for d, fit in zip(results["cut dissections"], results["fits"], strict=True):
        tables = node_tables(fit.model, d.task)
        for trial in range(20):
            shuffled = random.permutation(tables["W_E" if trial % 2 else "W_fc"])
            false.append(len(key_frequencies(shuffled, seed=trial).frequencies) > 0)
        others = [k for k in range(1, d.task.period // 2 + 1) if k not in d.key]
        drawn = random.choice(others, min(len(d.key), len(others)), replace=False).tolist()
        logits = tables["h3"] @ tables["W_fc"].T
        fitted.append(wave_fit_error(logits, d.task.phases, drawn))
    return {
        "false_keys": mean(false),
        "random_fit": mean(fitted),
        "random_removed": mean(a for cut in cuts for a in cut.control[-1].values.tolist()),
        "key_removed": mean(float(cut.growing.sel(place="embedding")[-1, 0]) for cut in cuts),
    }


def quiet(e: Evidence) -> Verdict:
    """Refuted if more than 5 % of shuffled tables have a key frequency or random
    frequencies fit (error below 0.9); holds if removing key frequencies costs 0.3 more
    accuracy than removing as many others; else differs."""
    if e["false_keys"] > 0.05 or e["random_fit"] < 0.9:
        return "refuted"
    return "holds" if e["random_removed"] - e["key_removed"] >= 0.3 else "differs"


def ablation_gap(results: Results) -> Evidence:
    """Distance of the ablation curves of learned and exact adders, by place."""
    curves = results["comparison"]["ablation"]
    gap = np.abs(curves.diff("adder")).mean(("adder", "removed"))
    by_place = gap.to_series().to_dict()
    return {"gap": by_place, "largest": float(gap.max()), "mean": float(gap.mean())}


def alike(e: Evidence) -> Verdict:
    """Holds if the curves are at most 0.1 apart in every place, differs if 0.25 on average
    over places, else refuted."""
    return "holds" if e["largest"] <= 0.1 else "differs" if e["mean"] <= 0.25 else "refuted"


ABLATION = (
    Claim(
        id="002.5",
        says="Removing one frequency often leaves accuracy intact; removing several destroys it.",
        published="robust to one, drastic with more",
        finding="{intact:.0%} of single removals keep 99 %; half removed leaves {several:.0%}",
        evidence=robustness,
        rule=robust,
        figure="ablation",
    ),
    Claim(
        id="002.7",
        says="A frequency cut from a state inside the recurrence is missed by all later states.",
        published="not in the paper (beyond)",
        finding="later states move by {least_change:.2f} or more; all cut leaves {most_left:.0%}",
        evidence=causality,
        rule=causal,
        figure="ablation",
    ),
    Claim(
        id="002.8",
        says="Shuffled weights have no key frequencies, and random ones are neither missed nor fitted.",
        published="not in the paper (control)",
        finding="{false_keys:.1%} false; others removed {random_removed:.0%} right, "
        "key ones {key_removed:.0%}",
        evidence=controls,
        rule=quiet,
        figure="ablation",
    ),
    Claim(
        id="002.15",
        says="Learned and exact adders miss removed frequencies alike, in every place.",
        published="not in the paper (beyond)",
        finding="mean gap between ablation curves at most {largest:.2f}, {mean:.2f} on average",
        evidence=ablation_gap,
        rule=alike,
        figure="learned-and-exact",
    ),
)
