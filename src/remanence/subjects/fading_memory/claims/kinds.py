"""Claims about kinds of networks against each other, and the adding problem.

One rule compares: A beats B if the mean of the paired differences exceeds twice its
standard error and no seed says the opposite. Seeds are paired: the same initial
weights, the same batches.
"""

from collections.abc import Callable

import numpy as np
import xarray as xr

from ....report import Claim, Evidence, Results, Verdict


def beats(a: np.ndarray, b: np.ndarray) -> bool:
    """Whether A is better than B beyond the spread over seeds."""
    mean, error = fall(a, b)
    return bool(mean > 2 * error and mean > 0 and np.all(np.asarray(a) >= b))


def fall(a: np.ndarray, b: np.ndarray) -> tuple[float, float]:
    """The mean of the paired differences A − B over seeds, and its standard error."""
    d = np.asarray(a, float) - np.asarray(b, float)
    error = d.std(ddof=1) / np.sqrt(len(d)) if len(d) > 1 else np.inf
    return float(d.mean()), float(error)


def summary(values: np.ndarray) -> dict[str, float]:
    """Mean and standard deviation over seeds."""
    values = np.asarray(values, float)
    return {"mean": float(values.mean()), "spread": float(values.std(ddof=1))}


def first_crossing(history: np.ndarray, every: int | np.ndarray, target: float) -> np.ndarray:
    """The first step at which each run reached the target; NaN if it never did."""
    reached = history >= target
    at = np.where(reached.any(-1), reached.argmax(-1) + 1.0, np.nan)
    return at * every


def rows_of(table: xr.Dataset, experiment: str) -> xr.Dataset:
    """The rows of the table of cases that belong to one experiment."""
    return table.isel(case=np.flatnonzero(table.experiment.values == experiment))


def accuracy_by_kind(table: xr.Dataset) -> xr.DataArray:
    """Final accuracy of each kind of network, over `kind` and `seed`."""
    rows = rows_of(table, "kind").accuracy.isel(mark=-1)
    return rows.swap_dims(case="name").rename(name="kind").reset_coords(drop=True)


def first_wins(e: Evidence) -> Verdict:
    """Holds if the first beats the second beyond the spread over seeds (mean of paired
    differences above twice its error, no seed against it); refuted if it is beaten."""
    return "holds" if e["first_beats"] else "refuted" if e["second_beats"] else "differs"


def answer(e: Evidence) -> Verdict:
    """An open question. Holds if the first beats the second beyond the spread over seeds,
    refuted if it is beaten, else open."""
    return "holds" if e["first_beats"] else "refuted" if e["second_beats"] else "open"


def _versus(
    id: str, says: str, published: str, kinds: tuple[str, str], rule: Callable = answer
) -> Claim:
    """A claim that one kind of network beats another, each the best of its variants."""

    def evidence(results: Results) -> Evidence | None:
        found, seen, best = results["kinds"], {}, []
        for name in kinds:
            variants = [k for k in found if k == name or k.startswith(f"{name}:")]
            if not variants:
                return None
            best.append(max(variants, key=lambda k: found[k].mean()))
        a, b = (found[name] for name in best)
        for which, name, ours, theirs in (("first", best[0], a, b), ("second", best[1], b, a)):
            seen |= {which: name, f"{which}_beats": beats(ours, theirs)}
            seen |= {f"{which}_{of}": value for of, value in summary(ours).items()}
        return seen

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


SOLVED = 0.1 / 6
"""A tenth of the error of remembering nothing."""


def tasks_evidence(results: Results) -> Evidence:
    """Accuracy on pixels, in order and permuted, and errors on the adding problem."""
    ours = summary(results["kinds"]["informed"])
    errors = results["adding"].error.isel(mark=-1).sel(kind="heterogeneous")
    rows = rows_of(results["table"], "angle, permuted").isel(mark=-1)
    permuted = summary(rows.accuracy.values[int(rows.tuning.values.mean(1).argmax())])
    worst = errors.max("seed")
    solved = worst.length.values[worst.values < SOLVED]
    return {
        "source": results["config"].source,
        "accuracy": ours["mean"],
        "accuracy_spread": ours["spread"],
        "permuted": permuted["mean"],
        "adding_worst": worst.values.tolist(),
        "solved": int(solved.max(initial=0)),
    }


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
        ("heterogeneous", "homogeneous"),
        first_wins,
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
        ("nonlinear residual", "informed"),
    ),
    _versus(
        "001.Q2-GRU",
        "A GRU gains from standing behind a residual.",
        "open question",
        ("GRU behind a residual", "GRU"),
    ),
    _versus(
        "001.Q2-LSTM",
        "An LSTM gains from standing behind a residual.",
        "open question",
        ("LSTM behind a residual", "LSTM"),
    ),
    _versus(
        "001.Q3",
        "Informed residuals beat orthogonal initialisation and clipping.",
        "open question, same budget",
        ("informed", "Elman"),
    ),
    _versus(
        "001.Q5",
        "A residual informed by the data's spectrum beats the homogeneous one.",
        "open question: R from the power spectrum in one call",
        ("informed", "homogeneous"),
    ),
    _versus(
        "001.Q6",
        "A residual informed by the spectrum beats a heterogeneous one drawn blindly.",
        "not asked",
        ("informed", "heterogeneous"),
    ),
)
