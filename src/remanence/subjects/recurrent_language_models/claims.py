"""What is claimed of recurrent language models, and the rules that judge it."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ...report import Claim, Evidence, Verdict


Models = list[dict[str, Any]]


def of_gated(measure: Callable[[Models], Evidence | None]) -> Callable[[Mapping], Evidence | None]:
    """Evidence of the gated models that did not diverge; None where there are none."""

    def evidence(results: Mapping[str, Any]) -> Evidence | None:
        found = [each for each in results["models"] if "after" in each and not each["diverged"]]
        return measure(found) if found else None

    return evidence


def _exponents(found: Models) -> Evidence:
    top = max((each["after"] for each in found), key=lambda after: after["largest"])
    return {"models": len(found), "largest": top["largest"], "stderr": top["stderr"]}


def never_grows(e: Evidence) -> Verdict:
    """Proved for these kinds, whose decays all lie between 0 and 1; this checks the measurement:
    holds if no largest exponent is above zero, refuted if one is, by two errors."""
    if e["largest"] <= 0:
        return "holds"
    return "refuted" if e["largest"] > 2 * e["stderr"] else "differs"


def window_95(model: Mapping[str, Any]) -> float:
    """The window that serves 95 % of the restarts."""
    return float(np.quantile(model["windows"], 0.95, method="higher"))


def _windows(found: Models) -> Evidence:
    q95 = [window_95(each) for each in found]
    return {
        "longest": min(each["longest"] for each in found),
        "window": max(q95),
        "reached": sum(bool(np.isfinite(q)) for q in q95),
        "models": len(found),
    }


def forgets(e: Evidence) -> Verdict:
    """Holds if 95 % of restarts come within the error in every model, within half of the
    longest window followed; refuted if no model gets there at all."""
    if e["reached"] == 0:
        return "refuted"
    whole = e["reached"] == e["models"]
    return "holds" if whole and e["window"] <= e["longest"] / 2 else "differs"


def _law(found: Models) -> Evidence:
    low, stack, high = np.concatenate([each["stack_bounds"] for each in found]).T
    return {"holds": int(((low <= stack) & (stack <= high)).sum()), "judges": len(stack)}


def between(e: Evidence) -> Verdict:
    """Holds if at least 95 % of at least eight restarts obey the law, up to a tenth of a
    window; refuted if fewer than half do; with fewer restarts it stays open."""
    if e["judges"] < 8:
        return "open"
    share = e["holds"] / e["judges"]
    return "holds" if share >= 0.95 else "refuted" if share < 0.5 else "differs"


def _training(found: Models) -> Evidence:
    slow = lambda times: float(np.quantile(times, 0.9, method="higher"))
    pairs = [(slow(e["before"]["timescales"]), slow(e["after"]["timescales"])) for e in found]
    ratios = [after / before for before, after in pairs]
    return {"least": min(ratios), "most": max(ratios)}


def lengthens(e: Evidence) -> Verdict:
    """Holds if the slowest tenth of the channels becomes slower in every model, by a tenth at
    least; refuted if it becomes quicker in every model; differs if models disagree."""
    if e["least"] > 1.1:
        return "holds"
    return "refuted" if e["most"] < 1 / 1.1 else "differs"


def _length(found: Models) -> Evidence | None:
    found = [each for each in found if each["after"]["unforgotten"] > 0]
    if not found:
        return None
    mean = lambda key: float(np.mean([each[key] for each in found]))
    return {
        "rise": mean("lost_at_length"),
        "spread": mean("lost_error"),  # one text for all models: their errors do not average out
        "unforgotten": float(np.mean([each["after"]["unforgotten"] for each in found])),
    }


def fails_at_length(e: Evidence) -> Verdict:
    """Of the same tokens, read with more history than was trained on, or with at most that:
    holds if models with channels that do not forget lose more with the longer one, by two
    errors; refuted if they lose less by as much; else the text cannot tell and it stays open."""
    if e["rise"] > 2 * e["spread"]:
        return "holds"
    return "refuted" if e["rise"] < -2 * e["spread"] else "open"


def _replay(found: Models) -> Evidence:
    at = min(64, min(each["longest"] for each in found))
    cost = lambda each, k: float(np.abs(each["excess"][:, k - 1]).mean())
    return {
        "tokens": at,
        "cost": max(cost(each, at) for each in found),
        "one": min(cost(each, 1) for each in found),
    }


def replay_serves(e: Evidence) -> Verdict:
    """Holds if the replay moves the price of a token by at most 0.02 nats in every model,
    and one token moves it by ten times that; refuted above 0.2 nats."""
    if e["cost"] <= 0.02 and e["one"] >= 10 * e["cost"]:
        return "holds"
    return "refuted" if e["cost"] > 0.2 else "differs"


def median_windows(models: Models) -> dict[tuple[str, str], float]:
    """By text and kind, over restarts and seeds; a restart that does not get there counts as
    the longest window followed."""
    rows: dict[tuple[str, str], list[np.ndarray]] = {}
    for each in models:
        if not each["diverged"]:
            windows = np.minimum(each["windows"], each["longest"])
            rows.setdefault((each["source"], each["kind"]), []).append(windows)
    return {key: float(np.median(np.concatenate(row))) for key, row in rows.items()}


def _lstm(results: Mapping[str, Any]) -> Evidence | None:
    medians = median_windows(results["models"])
    ratios = {
        f"{kind}, {source}": window / medians[source, "lstm"]
        for (source, kind), window in medians.items()
        if kind != "lstm" and (source, "lstm") in medians
    }
    if not ratios:
        return None
    return {
        "ratios": ratios,
        "least": min(ratios.values()),
        "most": max(ratios.values()),
        "longer": sum(ratio > 1.25 for ratio in ratios.values()),
        "kinds": len(ratios),
    }


def longer_than_lstm(e: Evidence) -> Verdict:
    """Holds if the median window of every gated kind is above 1.25 times that of the LSTM on
    the same text; refuted if every one is below 0.8 times; differs where kinds disagree."""
    if e["least"] > 1.25:
        return "holds"
    return "refuted" if e["most"] < 0.8 else "differs"


CLAIMS = (
    Claim(
        id="005.1",
        says="The largest Lyapunov exponent of a Mamba-like model is not positive.",
        published="at most 0 (arXiv:2406.00209)",
        finding="largest of {models} models {largest:.2g} ± {stderr:.1g} nats a token",
        evidence=of_gated(_exponents),
        rule=never_grows,
        figure="timescales",
    ),
    Claim(
        id="005.2",
        says="Trained models forget: a short replay from an empty state gives the output back.",
        published="Miller and Hardt's question, asked of gated recurrences",
        finding="{reached} of {models} models within 1e-3 nats; longest window {window:.0f} of {longest}",
        evidence=of_gated(_windows),
        rule=forgets,
        figure="divergence",
    ),
    Claim(
        id="005.3",
        says="A stack's window lies between the largest and the sum of its layers' own windows.",
        published="a consequence of equal inputs, layer by layer",
        finding="{holds} of {judges} restarts obey it",
        evidence=of_gated(_law),
        rule=between,
        figure="stack-law",
    ),
    Claim(
        id="005.4",
        says="Training lengthens the timescales of the slowest channels.",
        published="expected of language, not proved",
        finding="slowest tenth: {least:.2f} to {most:.2f} times the initial timescale",
        evidence=of_gated(_training),
        rule=lengthens,
        figure="timescales",
    ),
    Claim(
        id="005.5",
        says="Models with channels that do not forget fail beyond the length they were trained on.",
        published="state collapse (arXiv:2410.07145, 2406.14528)",
        finding="{rise:+.2g} ± {spread:.1g} nats by the longer history; {unforgotten:.0%} of channels keep",
        evidence=of_gated(_length),
        rule=fails_at_length,
        figure="losses",
    ),
    Claim(
        id="005.6",
        says="Replaying a tail of tokens costs next to nothing against a kept state.",
        published="budgeted tail replay, as serving engines do it",
        finding="{tokens} tokens move the price by {cost:.2g} nats, one by {one:.2g}",
        evidence=of_gated(_replay),
        rule=replay_serves,
        figure="divergence",
    ),
    Claim(
        id="005.7",
        says="Gated linear recurrences need longer windows than LSTMs of the same size.",
        published="a question of this study",
        finding="{longer} of {kinds}: {least:.2g} to {most:.2g} times the LSTM's median window",
        evidence=_lstm,
        rule=longer_than_lstm,
        figure="windows",
    ),
)
