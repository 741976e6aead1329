"""Claims about trained models of text and music, and about tasks that need memory."""

import math
from collections.abc import Mapping
from typing import Any

import xarray as xr

from ....report import Claim, Evidence, Results, Verdict
from .theory import short


SLACK = 0.01
"""Test batches are drawn: so far below a floor is their noise."""


def sound(models: Mapping[str, Any]) -> dict[str, Any]:
    """The first training of each model, without those that diverged."""
    return {name: draws[0] for name, draws in models.items() if "diverged" not in draws[0]}


def scores(results: Results) -> Evidence | None:
    """Perplexity (text) and nats a chord (chorales) of every training."""
    trained = lambda which, score: {
        name: values
        for name, draws in results[which].items()
        if (values := [short(draw[score]) for draw in draws if score in draw])
    }
    perplexity, chords = trained("language", "perplexity"), trained("music", "nll")
    if not perplexity:
        return None
    gaps = nats_lost(perplexity, chords)
    worst = max((most for _, most in gaps.values()), default=math.nan)
    scored = {"perplexity": perplexity, "jsb_nll": chords}
    return scored | {"gaps": gaps, "worst": worst, "pairs": len(gaps)}


def nats_lost(perplexity: Mapping, chords: Mapping) -> dict[str, tuple[float, float]]:
    """Stable minus free in nats a token, least and largest over draws.

    One draw has no spread: only pairs with more are judged. A chord has four voices, so
    it counts as four tokens.
    """
    nats = {n: [math.log(v) for v in vs] for n, vs in perplexity.items()}
    nats |= {n: [v / 4 for v in vs] for n, vs in chords.items()}
    found = {}
    for kind in sorted({name.rsplit(" ", 1)[0] for name in nats}):
        held, free = (nats.get(f"{kind} {end}", []) for end in ("stable", "free"))
        if min(len(held), len(free)) > 1:
            found[kind] = (min(held) - max(free), max(held) - min(free))
    return found


def matching(e: Evidence) -> Verdict:
    """Of every pair with several trainings: holds if the stable model never loses more
    than 5 % of perplexity, differs if it always loses more than 5 % in some pair, refuted
    if more than 30 %; open where the draws overlap or there is one draw only."""
    gaps = list(e["gaps"].values())
    if not gaps:
        return "open"
    if any(least > math.log(1.3) for least, _ in gaps):
        return "refuted"
    if any(least > math.log(1.05) for least, _ in gaps):
        return "differs"
    return "holds" if max(most for _, most in gaps) <= math.log(1.05) else "open"


def exponents(results: Results) -> Evidence | None:
    """Largest exponents of free language models along held-out text."""
    free = {n: v for n, v in sound(results["language"]).items() if n.endswith("free")}
    if not free:
        return None
    values = [short(v["exponent"]) for v in free.values()]
    return {
        "models": list(free),
        "exponents": values,
        "stderrs": [short(v["stderr"]) for v in free.values()],
        "converged": [v["converged"] for v in free.values()],
        "largest": max(values),
        "count": len(values),
    }


def effectively_stable(e: Evidence) -> Verdict:
    """Holds if every largest exponent is below 0 by two standard errors and has
    converged; refuted if one is above 0 by two; else open."""
    pairs = list(zip(e["exponents"], e["stderrs"], strict=True))
    if any(v - 2 * s > 0 for v, s in pairs):
        return "refuted"
    below = bool(pairs) and all(v + 2 * s < 0 for v, s in pairs)
    return "holds" if below and all(e["converged"]) else "open"


def memory(results: Results) -> Evidence | None:
    """Each task at its longest, and how far above its floor the worst stable loss stays."""
    tasks = {name: _longest(table) for name, table in results["memory"].items()}
    failed = sum(map(_must_fail, tasks.values()))
    return {"tasks": tasks, "failed": failed, "count": len(tasks)} if tasks else None


def _longest(table: xr.Dataset) -> dict[str, float]:
    """Of the stable tanh cell, which has the floor, and of the free model that loses least."""
    losses, last = table["loss"], table.isel(length=-1)
    free = [name for name in losses["model"].values if name.endswith("free")]
    return {
        "stable": short(last["loss"].sel(model="rnn stable")),
        "free": short(last["loss"].sel(model=free).min()),
        "floor": short(last["floor"]),
        "chance": short(table.attrs["chance"]),
        "least_excess": short((losses.sel(model="rnn stable") - table["floor"]).min() + SLACK),
    }


def _must_fail(task: Mapping[str, float]) -> bool:
    return task["stable"] > 0.8 * task["chance"] > task["free"]


def costs(e: Evidence) -> Verdict:
    """Refuted if a stable model beats its proved floor. On each of three tasks at its
    longest the stable model must lose 0.8 of what forgetting loses and the free one less:
    holds if on all, differs if not; open with fewer tasks."""
    tasks = e["tasks"].values()
    if any(task["least_excess"] < 0 for task in tasks):
        return "refuted"
    if len(tasks) < 3:
        return "open"
    return "holds" if all(map(_must_fail, tasks)) else "differs"


def history(results: Results) -> Evidence | None:
    """What a window of about twenty tokens costs."""
    costs, windows = {}, []
    for name, model in sound(results["language"]).items():
        at = max(i for i, k in enumerate(model["windows"]) if k <= 20)
        costs[name] = short(model["truncated"][at] / model["untruncated"])
        windows.append(model["windows"][at])
    if not costs:
        return None
    return {"window": max(windows), "worst_loss": max(costs.values()), "costs": costs}


def unnecessary(e: Evidence) -> Verdict:
    """Holds if a window of at most twenty tokens costs every language model at most 2 %
    of its perplexity on held-out text."""
    return "holds" if e["worst_loss"] <= 1.02 else "differs"


MODELS = (
    Claim(
        id="004.5",
        says="Stable models match unstable ones.",
        published="WikiText-2: RNN 146.7 free; LSTM 92.3 free; stable 143.5 and 113.2 recalled",
        finding="worst of {pairs} pairs loses at most {worst:.3f} nats a token",
        evidence=scores,
        rule=matching,
        figure="context",
    ),
    Claim(
        id="004.6",
        says="Trained free models are effectively stable: gradients vanish along real data.",
        published="Figure 2; called sketchy by the slides themselves",
        finding="largest of {count} largest exponents {largest:+.3f} nats a token",
        evidence=exponents,
        rule=effectively_stable,
        figure="decay",
    ),
    Claim(
        id="004.12",
        says="Beyond: a stable model must fail to remember past the delay that its rate allows.",
        published="long memory requires exploding gradients (slide on Lemma 1)",
        finding="fails where the free model does not on {failed} of {count} tasks",
        evidence=memory,
        rule=costs,
        figure="boundary",
    ),
    Claim(
        id="004.13",
        says="Full history is unnecessary: gains fade after a context of some twenty tokens.",
        published="Dauphin et al. (2017): diminishing after 20 words",
        finding=lambda e: (
            f"a window of {e['window']} costs at most "
            f"{100 * (e['worst_loss'] - 1):.2g} % of perplexity"
        ),
        evidence=history,
        rule=unnecessary,
        figure="context",
    ),
)
