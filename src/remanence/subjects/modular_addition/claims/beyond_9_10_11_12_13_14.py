"""Claims 002.9 to 002.14, beyond the paper: cells, operations, exact adder, exponents, recipes."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from ....report import Claim, Evidence, Results, Verdict
from ..recipes import one_dial


def other_networks(networks: Mapping[str, Any]) -> Evidence:
    """What other cells or operations reached, and which frequencies they use."""
    learned = [c for c in networks.values() if c["held_out"] >= 0.99]
    sparse = sum(c["count"] >= 1 and c["share"] >= 0.5 for c in learned)
    return {
        "networks": dict(networks),
        "trained": len(networks),
        "learned": len(learned),
        "sparse": sparse,
    }


def everywhere(e: Evidence) -> Verdict:
    """Of networks that reach 99 % of held-out pairs: holds if all were learned and all have
    key frequencies with half the energy of W_fc; differs if some, refuted if none; open
    if none was learned."""
    if not e["learned"]:
        return "open"
    all_sparse = e["sparse"] == e["learned"] == e["trained"]
    return "holds" if all_sparse else "differs" if e["sparse"] else "refuted"


def exact_adders(results: Results) -> Evidence:
    """Adders in closed form: answers, units and margins."""
    rows = [
        {"modulus": built.task.modulus, "right": built.accuracy, "units": built.units}
        | {"margin": built.margin, "frequencies": list(built.frequencies)}
        for built in results["exact adders"]
    ]
    worst = min(row["right"] for row in rows)
    return {"tried": rows, "tables": len(rows), "worst": worst, "last": rows[-1]}


def all_right(e: Evidence) -> Verdict:
    """Holds if every answer of every table is right and, from modulus 17 on, there are
    fewer units than residues; else refuted."""
    below = all(row["units"] < row["modulus"] for row in e["tried"] if row["modulus"] >= 17)
    right = bool(e["tried"]) and e["worst"] == 1.0
    return "holds" if right and below else "refuted"


def subspaces(results: Results) -> Evidence:
    """Cosines between learned and exact subspaces, beside those of random frequencies."""
    found = results["comparison"]
    return {
        "embedding": float(np.mean(found["cosines"]["W_E"])),
        "unembedding": float(np.mean(found["cosines"]["W_fc"])),
        "random": found["random_cosine"],
    }


def same_subspace(e: Evidence) -> Verdict:
    """The frequencies are read off W_fc, so W_E is judged: its cosine with the exact
    adder's subspace must exceed that of 95 % of as many random frequencies (else refuted);
    holds from 0.9, else differs."""
    if e["embedding"] <= e["random"]:
        return "refuted"
    return "holds" if e["embedding"] >= 0.9 else "differs"


def exponents(results: Results) -> Evidence:
    """Largest exponents of the learned adders along a stream of sums, and their certificates."""
    found = results["dynamics"]
    finite = lambda name: [f[name] if math.isfinite(f[name]) else None for f in found]
    known = [v for v in finite("exponent") if v is not None]
    return {
        "exponents": finite("exponent"),
        "stderr": finite("stderr"),
        "largest": max(known, default=None),
        "unmeasured": len(found) - len(known),
    }


def negative(e: Evidence) -> Verdict:
    """Refuted if the exponent of one network is above zero by two standard errors; holds
    if all are below by two; open if one could not be measured or lies within its error."""
    pairs = list(zip(e["exponents"], e["stderr"], strict=True))
    measured = [(v, s or 0.0) for v, s in pairs if v is not None]
    if any(v - 2 * s > 0 for v, s in measured):
        return "refuted"
    below = bool(pairs) and all(v + 2 * s < 0 for v, s in measured)
    return "holds" if below and len(measured) == len(pairs) else "open"


CLAIMED = ("fraction", "weight_decay", "units")


def dependence(results: Results) -> Evidence:
    """Mean counts as one dial is moved round the first centre, how far they differ, their error."""
    means, span, error = {}, {}, {}
    for name, centres in one_dial(results["recipes"]).items():
        known = [row[np.isfinite(row)] for row in centres[0].values]
        each = [float(row.mean()) if len(row) else None for row in known]
        means[name] = [centres[0][name].values.tolist(), each]
        seen = [mean for mean in each if mean is not None]
        span[name] = max(seen) - min(seen) if len(seen) > 1 else None
        errors = [float(c.std(ddof=1) / len(c) ** 0.5) for c in known if len(c) > 1]
        error[name] = max(errors, default=None)
    moved = sum(_moved(span[name], error[name]) for name in CLAIMED if name in span)
    return {"means": means, "span": span, "error": error, "moved": moved}


def _moved(span: float | None, error: float | None) -> bool:
    return span is not None and error is not None and span >= 1 and span > 2 * error


def depends(e: Evidence) -> Verdict:
    """For each of fraction, decay and width: do mean counts differ by one or more, and by
    more than twice their standard error over seeds? Holds if for all three, differs if
    for some, refuted if for none; open where one was not moved or has no spread."""
    dials = [(e["span"].get(name), e["error"].get(name)) for name in CLAIMED]
    if any(span is None or error is None for span, error in dials):
        return "open"
    moved = sum(_moved(span, error) for span, error in dials)
    return "holds" if moved == len(dials) else "differs" if moved else "refuted"


BEYOND = (
    Claim(
        id="002.9",
        says="Other cells (LSTM, GRU, residual) find a few shared frequencies too.",
        published="not in the paper (beyond)",
        finding="{sparse} of {trained} cells, {learned} learned",
        evidence=lambda results: other_networks(results["cells"]),
        rule=everywhere,
    ),
    Claim(
        id="002.10",
        says="Subtraction and multiplication use the characters of their own group.",
        published="not in the paper (beyond)",
        finding="{sparse} of {trained} operations, {learned} learned",
        evidence=lambda results: other_networks(results["operations"]),
        rule=everywhere,
    ),
    Claim(
        id="002.11",
        says="An exact adder can be written down from its frequencies, with 8 units each.",
        published="not in the paper (beyond)",
        finding="{worst:.0%} right at worst of {tables} tables; modulo {last[modulus]}: "
        "{last[units]} units",
        evidence=exact_adders,
        rule=all_right,
    ),
    Claim(
        id="002.12",
        says="The learned embedding lives in the subspace of the exact adder's.",
        published="not in the paper (beyond)",
        finding="mean cosine {embedding:.3f}; random frequencies {random:.2f} (95 %)",
        evidence=subspaces,
        rule=same_subspace,
        figure="exact-adder",
    ),
    Claim(
        id="002.13",
        says="Driven by a stream of sums, the learned adder's largest exponent is negative.",
        published="not in the paper (beyond)",
        finding=lambda e: (
            "no exponent could be measured"
            if e["largest"] is None
            else f"largest {e['largest']:+.3f} nats a step; {e['unmeasured']} not measured"
        ),
        evidence=exponents,
        rule=negative,
    ),
    Claim(
        id="002.14",
        says="The number of frequencies depends on train fraction, weight decay and width.",
        published="6 at the paper's settings",
        finding="{moved} of 3 settings move the mean count beyond its error",
        evidence=dependence,
        rule=depends,
        figure="counts",
    ),
)
