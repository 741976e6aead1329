"""Claims about kinds of networks against each other, and the adding problem."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ....report import Claim, Evidence, Verdict
from ..comparison import better_rate, rows_of, summary, versus


Rule = Callable[[Evidence], Verdict]


def first_wins(e: Evidence) -> Verdict:
    """Holds if the first beats the second beyond the spread over seeds (mean of paired
    differences above twice its error, no seed against it); refuted if it is beaten."""
    return "holds" if e["first_beats"] else "refuted" if e["second_beats"] else "differs"


def answered(e: Evidence) -> Verdict:
    """An open question. Holds if the first beats the second beyond the spread over seeds,
    refuted if it is beaten, else open."""
    return "holds" if e["first_beats"] else "refuted" if e["second_beats"] else "open"


def _best(start: str) -> Callable[[Mapping[str, np.ndarray]], str]:
    def best(kinds: Mapping[str, np.ndarray]) -> str:
        names = [name for name in kinds if name.startswith(start)]
        return max(names, key=lambda name: kinds[name].mean())

    return best


def _versus(id: str, says: str, published: str, rule: Rule, first: Any, second: Any) -> Claim:
    """A claim that one kind of network beats another; a kind by name, or the best of some."""

    def evidence(results: Mapping[str, Any]) -> Evidence | None:
        kinds = results["kinds"]
        names: list[Any] = [k(kinds) if callable(k) else k for k in (first, second)]
        return versus(kinds, *names) if all(n in kinds for n in names) else None

    return Claim(
        id=id,
        says=says,
        published=published,
        finding="{first} {first_mean:.3f} ± {first_spread:.3f}, {second} "
        "{second_mean:.3f} ± {second_spread:.3f}",
        evidence=evidence,
        rule=rule,
        figure="kinds",
    )


def tasks_evidence(results: Mapping[str, Any]) -> Evidence:
    """Accuracy on pixels, in order and permuted, and errors on the adding problem."""
    ours = summary(results["kinds"]["informed"])
    errors = better_rate(results["adding"]).sel(kind="heterogeneous")
    errors = errors.transpose("length", "seed")
    rows = rows_of(results["table"], "angle, permuted").isel(mark=-1)
    permuted = summary(rows.accuracy.values[int(rows.tuning.values.mean(1).argmax())])
    solved = [int(n) for n, e in zip(errors.length, errors, strict=True) if e.max() < SOLVED]
    return {
        "source": results["config"].source,
        "accuracy": ours["mean"],
        "accuracy_spread": ours["spread"],
        "permuted": permuted["mean"],
        "permuted_spread": permuted["spread"],
        "lengths": [int(n) for n in errors.length],
        "adding_error": [float(e) for e in errors.mean("seed")],
        "adding_worst": [float(e) for e in errors.max("seed")],
        "solved": max(solved, default=0),
    }


SOLVED = 0.1 / 6
"""A tenth of the error of remembering nothing."""


def learns_both(e: Evidence) -> Verdict:
    """Holds if pixels in order are above 0.5 by twice the spread over seeds, and the
    adding problem is solved (a tenth of the error of no memory) at every length and
    seed; differs if only the first, refuted if not even that."""
    above = e["accuracy"] - 2 * e["accuracy_spread"] > 0.5
    solved = bool(e["adding_worst"]) and max(e["adding_worst"]) < SOLVED
    return "holds" if above and solved else "differs" if above else "refuted"


KINDS = (
    _versus(
        "001.5",
        "Heterogeneous residuals beat homogeneous ones.",
        "heterogeneous better",
        first_wins,
        "heterogeneous",
        "homogeneous",
    ),
    Claim(
        id="001.6",
        says="Such networks learn sequential pixels and the adding problem.",
        published="sMNIST, psMNIST, adding; accuracies not known to us",
        finding="{source} {accuracy:.3f} ± {accuracy_spread:.3f}, permuted "
        "{permuted:.3f}; adding solved up to T = {solved}",
        evidence=tasks_evidence,
        rule=learns_both,
        figure="adding",
    ),
    _versus(
        "001.Q1",
        "A nonlinear residual ρ(Rh) loses nothing against the linear one.",
        "open question: ReLU, leaky ReLU, tanh",
        answered,
        _best("nonlinear residual"),
        "informed",
    ),
    _versus(
        "001.Q2-GRU",
        "A GRU gains from standing behind a residual.",
        "open question",
        answered,
        "GRU behind a residual",
        "GRU",
    ),
    _versus(
        "001.Q2-LSTM",
        "An LSTM gains from standing behind a residual.",
        "open question",
        answered,
        "LSTM behind a residual",
        "LSTM",
    ),
    _versus(
        "001.Q3",
        "Informed residuals beat orthogonal initialisation and clipping.",
        "open question, same budget",
        answered,
        "informed",
        _best("Elman"),
    ),
    _versus(
        "001.Q5",
        "A residual informed by the data's spectrum beats the homogeneous one.",
        "open question: R from the power spectrum in one call",
        answered,
        "informed",
        "homogeneous",
    ),
    _versus(
        "001.Q6",
        "A residual informed by the spectrum beats a heterogeneous one drawn blindly.",
        "not asked",
        answered,
        "informed",
        "heterogeneous",
    ),
)
