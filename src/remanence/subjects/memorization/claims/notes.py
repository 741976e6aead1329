"""Claims of the notes on memorization."""

from ....report import Claim, Evidence, Verdict
from .. import experiments


def all_recalled(e: Evidence) -> Verdict:
    """Holds if every network tried recalls its string; refuted if one does not."""
    return "holds" if e["recalled"] == e["tried"] > 0 else "refuted"


def as_many_turns(e: Evidence) -> Verdict:
    """Holds if the state goes round as often as it makes steps; else refuted."""
    return "holds" if e["turns"] == e["steps"] else "refuted"


def powers_serve(e: Evidence) -> Verdict:
    """Holds if φ(n) powers serve, as printed; differs if φ(d) do; else refuted."""
    if e["serving"] == e["phi_n"]:
        return "holds"
    return "differs" if e["serving"] == e["phi_d"] else "refuted"


def no_exception(e: Evidence) -> Verdict:
    """Refuted by one exception."""
    return "holds" if e["up_to"] > 0 and e["exceptions"] == 0 else "refuted"


def attracts(e: Evidence) -> Verdict:
    """Holds if all strings are recalled, the sign pattern attracts (negative exponent) and
    the one-hot pattern repels."""
    right = e["recalled"] == e["tried"] > 0
    return "holds" if right and e["attracting"] < 0 < e["one_hot"] else "refuted"


def no_counterexample(e: Evidence) -> Verdict:
    """Refuted by one counterexample."""
    return "holds" if e["counterexample"] is None else "refuted"


def above_three(e: Evidence) -> Verdict:
    """Holds if the least dimension is above 3; else refuted."""
    return "holds" if e["least"] > 3 else "refuted"


def every_order(e: Evidence) -> Verdict:
    """Holds if a matrix of every order tried was found; else refuted."""
    return "holds" if e["orders"] == e["tried"] > 0 else "refuted"


def two_units_serve(e: Evidence) -> Verdict:
    """Holds if two units serve every necklace, differs if some, refuted if none."""
    if e["served"] == e["words"] > 0:
        return "holds"
    return "differs" if e["served"] > 0 else "refuted"


NOTES = (
    Claim(
        id="000.1",
        says="A rotation by 2π/(a+b) and one half-plane spell (0^a 1^b)+ with d = 2.",
        published="d = 2 for all a, b",
        finding="{recalled} of {tried} pairs (a, b)",
        evidence=lambda r: experiments.half_planes(r["config"].blocks),
        rule=all_recalled,
        figure="polygons",
    ),
    Claim(
        id="000.2",
        says="The state walks around the circle a + b times before returning.",
        published="a + b turns",
        finding="{steps} steps make {turns} turn",
        evidence=lambda r: experiments.turns(),
        rule=as_many_turns,
        figure="polygons",
    ),
    Claim(
        id="000.3",
        says="Any string of period d is spelled by the cyclic permutation of d units.",
        published="d = p",
        finding="{recalled} of {tried} drawn strings",
        evidence=lambda r: experiments.strings(r["config"].drawn, "permutation", r["seed"]),
        rule=all_recalled,
    ),
    Claim(
        id="000.4",
        says="Any power of the cycle coprime to d serves; there are φ(n) of them.",
        published="φ(n), n the alphabet's size",
        finding="{serving} powers at d = {d}: φ(d) = {phi_d}, φ(n) = {phi_n}",
        evidence=lambda r: experiments.powers(),
        rule=powers_serve,
    ),
    Claim(
        id="000.5",
        says="φ(n) ≥ √n / 2.",
        published="for all n",
        finding="{exceptions} exceptions up to {up_to:,}; least φ(n)/√n {least:.3f}",
        evidence=lambda r: experiments.totients(),
        rule=no_exception,
    ),
    Claim(
        id="000.6",
        says="<START> moves the state from the origin, and <END> makes a string finite.",
        published="without loss of generality",
        finding="{recalled} of {tried} networks spell and stop",
        evidence=lambda r: experiments.tokens(r["config"].drawn // 2, r["seed"] + 1),
        rule=all_recalled,
    ),
    Claim(
        id="000.7",
        says="Small modifications make it work for the standard RNN (tanh).",
        published="not given",
        finding="{recalled} of {tried}; exponents {attracting:.2f} (signs), +{one_hot:.2f} (one-hot)",
        evidence=lambda r: experiments.standard(r["config"].drawn, r["seed"] + 2),
        rule=attracts,
    ),
    Claim(
        id="000.8",
        says="x^p - 1 is the product of Φ_j over the divisors j of p.",
        published="over Q",
        finding="{exceptions} failures for p up to {up_to}",
        evidence=lambda r: experiments.factors(),
        rule=no_exception,
    ),
    Claim(
        id="000.9",
        says="Cyclotomic polynomials have coefficients in {-1, 0, 1}.",
        published="all of them",
        finding=lambda e: (
            f"none found up to {e['up_to']}"
            if e["counterexample"] is None
            else f"Φ_{e['counterexample']} has a coefficient {e['coefficient']}"
        ),
        evidence=lambda r: experiments.coefficients(),
        rule=no_counterexample,
    ),
    Claim(
        id="000.10",
        says="No rational 3 × 3 matrix has order 8.",
        published="by the factors of x^8 - 1",
        finding="order 8 needs {least} rational dimensions",
        evidence=lambda r: experiments.rational_order(),
        rule=above_three,
    ),
    Claim(
        id="000.11",
        says="Over R, d = 2 admits a matrix of any order p.",
        published="rotation by 2π/p",
        finding="order p for {orders} of {tried} periods",
        evidence=lambda r: experiments.rotations(),
        rule=every_order,
        figure="polygons",
    ),
    Claim(
        id="000.12",
        says="In general the best hidden dimension to hope for is d = 2.",
        published="d = 2",
        finding="d ≤ 2 serves {served} of {words} necklaces of period {period}; one needs {needs}",
        evidence=lambda r: experiments.two_units(),
        rule=two_units_serve,
        figure="atlas",
    ),
)
