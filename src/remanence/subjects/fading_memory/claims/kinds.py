"""Claims about kinds of networks against each other, and the adding problem."""

from collections.abc import Callable, Mapping
from typing import Any

from ....report import Claim, claim, Evidence, Verdict
from ..comparison import rows_of, summary, versus


Rule = Callable[[Evidence], Verdict]


def first_wins(e: Evidence) -> Verdict:
    """Holds if the first beats the second beyond the spread over seeds (mean of paired
    differences above twice its error, no seed against it); refuted if it is beaten."""
    return "holds" if e["first_beats"] else "refuted" if e["second_beats"] else "differs"


def answer(e: Evidence) -> Verdict:
    """An open question. Holds if the first beats the second beyond the spread over seeds,
    refuted if it is beaten, else open."""
    return "holds" if e["first_beats"] else "refuted" if e["second_beats"] else "open"


def _versus(id: str, first: str, second: str, rule: Rule = answer) -> Callable[[str, str], Claim]:
    """A claim that one kind of network beats another, each the best of its variants."""

    def evidence(results: Mapping[str, Any]) -> Evidence | None:
        kinds = results["kinds"]
        variants = lambda name: [k for k in kinds if k == name or k.startswith(f"{name}:")]
        best = [
            max(variants(n), key=lambda k: kinds[k].mean(), default="") for n in (first, second)
        ]
        return versus(kinds, *best) if all(best) else None

    finding = (
        "{first} {first_mean:.3f} ± {first_spread:.3f}, {second} "
        "{second_mean:.3f} ± {second_spread:.3f}"
    )
    judged = claim(id, evidence, rule, figure="kinds")
    return lambda says, published: judged(says, published=published, finding=finding)


SOLVED = 0.1 / 6
"""A tenth of the error of remembering nothing."""


def tasks_evidence(results: Mapping[str, Any]) -> Evidence:
    """Accuracy on pixels, in order and permuted, and errors on the adding problem."""
    ours = summary(results["kinds"]["informed"])
    errors = results["adding"].error.isel(mark=-1).sel(kind="heterogeneous")
    rows = rows_of(results["table"], "angle, permuted").isel(mark=-1)
    permuted = summary(rows.accuracy.values[int(rows.tuning.values.mean(1).argmax())])
    worst = errors.max("seed").values.tolist()
    lengths = [int(n) for n in errors.length]
    return {
        "source": results["config"].source,
        "accuracy": ours["mean"],
        "accuracy_spread": ours["spread"],
        "permuted": permuted["mean"],
        "permuted_spread": permuted["spread"],
        "lengths": lengths,
        "adding_error": errors.mean("seed").values.tolist(),
        "adding_worst": worst,
        "solved": max((n for n, e in zip(lengths, worst, strict=True) if e < SOLVED), default=0),
    }


def learns_both(e: Evidence) -> Verdict:
    """Holds if pixels in order are above 0.5 by twice the spread over seeds, and the
    adding problem is solved (a tenth of the error of no memory) at every length and
    seed; differs if only the first, refuted if not even that."""
    above = e["accuracy"] - 2 * e["accuracy_spread"] > 0.5
    solved = bool(e["adding_worst"]) and max(e["adding_worst"]) < SOLVED
    return "holds" if above and solved else "differs" if above else "refuted"


KINDS = (
    _versus("001.5", "heterogeneous", "homogeneous", first_wins)(
        "Heterogeneous residuals beat homogeneous ones.", "heterogeneous better"
    ),
    claim("001.6", tasks_evidence, learns_both, figure="adding")(
        "Such networks learn sequential pixels and the adding problem.",
        published="sMNIST, psMNIST, adding; accuracies not known to us",
        finding="{source} {accuracy:.3f} ± {accuracy_spread:.3f}, permuted "
        "{permuted:.3f}; adding solved up to T = {solved}",
    ),
    _versus("001.Q1", "nonlinear residual", "informed")(
        "A nonlinear residual ρ(Rh) loses nothing against the linear one.",
        "open question: ReLU, leaky ReLU, tanh",
    ),
    _versus("001.Q2-GRU", "GRU behind a residual", "GRU")(
        "A GRU gains from standing behind a residual.", "open question"
    ),
    _versus("001.Q2-LSTM", "LSTM behind a residual", "LSTM")(
        "An LSTM gains from standing behind a residual.", "open question"
    ),
    _versus("001.Q3", "informed", "Elman")(
        "Informed residuals beat orthogonal initialisation and clipping.",
        "open question, same budget",
    ),
    _versus("001.Q5", "informed", "homogeneous")(
        "A residual informed by the data's spectrum beats the homogeneous one.",
        "open question: R from the power spectrum in one call",
    ),
    _versus("001.Q6", "informed", "heterogeneous")(
        "A residual informed by the spectrum beats a heterogeneous one drawn blindly.", "not asked"
    ),
)
