"""What document 000 says, sentence by sentence, its mistakes included."""

from ...report import Statement


def _all(evidence, of, count):
    return "holds" if evidence[of] == evidence[count] > 0 else "refuted"


SENTENCES = (
    Statement(
        id="000.1",
        statement="A rotation by 2π/(a+b) and one half-plane spell (0^a 1^b)+ with d = 2.",
        published="d = 2 for all a, b",
        rule=lambda e: _all(e, "recalled", "tried"),
        measured=lambda e: f"{e['recalled']} of {e['tried']} pairs (a, b)",
        example={"tried": 9, "recalled": 9},
        contrary={"tried": 9, "recalled": 8},
    ),
    Statement(
        id="000.2",
        statement="The state walks around the circle a + b times before returning.",
        published="a + b turns",
        rule=lambda e: "holds" if e["turns"] == e["steps"] else "refuted",
        measured=lambda e: f"{e['steps']} steps make {e['turns']} turn",
        example={"steps": 8, "turns": 1},
        contrary={"steps": 8, "turns": 8},
    ),
    Statement(
        id="000.3",
        statement="Any string of period d is spelled by the cyclic permutation of d units.",
        published="d = p",
        rule=lambda e: _all(e, "recalled", "tried"),
        measured=lambda e: f"{e['recalled']} of {e['tried']} drawn strings",
        example={"tried": 9, "recalled": 9},
        contrary={"tried": 9, "recalled": 3},
    ),
    Statement(
        id="000.4",
        statement="Any power of the cycle coprime to d serves; there are φ(n) of them.",
        published="φ(n), n the alphabet's size",
        rule=lambda e: (
            "holds"
            if e["serving"] == e["phi_n"]
            else ("differs" if e["serving"] == e["phi_d"] else "refuted")
        ),
        measured=lambda e: (
            f"{e['serving']} powers serve at d = {e['d']}, n = {e['n']}: "
            f"φ(d) = {e['phi_d']}, φ(n) = {e['phi_n']}"
        ),
        example={"d": 12, "n": 3, "serving": 4, "phi_d": 4, "phi_n": 2},
        contrary={"d": 12, "n": 3, "serving": 2, "phi_d": 4, "phi_n": 2},
    ),
    Statement(
        id="000.5",
        statement="φ(n) ≥ √n / 2.",
        published="for all n",
        rule=lambda e: "holds" if not e["exceptions"] else "refuted",
        measured=lambda e: (
            f"{e['exceptions']} exceptions up to {e['up_to']:,}; "
            f"least φ(n)/√n {e['least']:.3f} at n = {e['at']}"
        ),
        example={"exceptions": 0, "up_to": 100, "least": 0.707, "at": 2},
        contrary={"exceptions": 1, "up_to": 100, "least": 0.4, "at": 6},
    ),
    Statement(
        id="000.6",
        statement="<START> moves the state from the origin, and <END> makes a string finite.",
        published="without loss of generality",
        rule=lambda e: _all(e, "recalled", "tried"),
        measured=lambda e: f"{e['recalled']} of {e['tried']} networks spell and stop",
        example={"tried": 9, "recalled": 9},
        contrary={"tried": 9, "recalled": 0},
    ),
    Statement(
        id="000.7",
        statement="Small modifications make it work for the standard RNN (tanh).",
        published="not given",
        rule=lambda e: (
            "holds"
            if e["recalled"] == e["tried"] and e["attracting"] < 0 < e["one_hot"]
            else "refuted"
        ),
        measured=lambda e: (
            f"{e['recalled']} of {e['tried']}; sign pattern attracts "
            f"({e['attracting']:.2f}), one-hot pattern repels (+{e['one_hot']:.2f})"
        ),
        example={"tried": 5, "recalled": 5, "attracting": -1.8, "one_hot": 0.69},
        contrary={"tried": 5, "recalled": 5, "attracting": 0.2, "one_hot": 0.69},
    ),
    Statement(
        id="000.8",
        statement="x^p - 1 is the product of Φ_j over the divisors j of p.",
        published="over Q",
        rule=lambda e: "holds" if e["failures"] == 0 else "refuted",
        measured=lambda e: f"{e['failures']} failures for p up to {e['up_to']}",
        example={"failures": 0, "up_to": 10},
        contrary={"failures": 1, "up_to": 10},
    ),
    Statement(
        id="000.9",
        statement="Cyclotomic polynomials have coefficients in {-1, 0, 1}.",
        published="all of them",
        rule=lambda e: "holds" if e["counterexample"] is None else "refuted",
        measured=lambda e: (
            f"none found up to {e['up_to']}"
            if e["counterexample"] is None
            else f"Φ_{e['counterexample']} has a coefficient {e['coefficient']}"
        ),
        example={"counterexample": 105, "coefficient": -2, "up_to": 200},
        contrary={"counterexample": None, "coefficient": 0, "up_to": 104},
    ),
    Statement(
        id="000.10",
        statement="No rational 3 × 3 matrix has order 8.",
        published="by the factors of x^8 - 1",
        rule=lambda e: "holds" if e["least"] > 3 else "refuted",
        measured=lambda e: f"order 8 needs {e['least']} rational dimensions",
        example={"least": 4},
        contrary={"least": 3},
    ),
    Statement(
        id="000.11",
        statement="Over R, d = 2 admits a matrix of any order p.",
        published="rotation by 2π/p",
        rule=lambda e: "holds" if e["orders"] == e["tried"] else "refuted",
        measured=lambda e: f"order p for {e['orders']} of {e['tried']} periods",
        example={"tried": 50, "orders": 50},
        contrary={"tried": 50, "orders": 49},
    ),
    Statement(
        id="000.12",
        statement="In general the best hidden dimension to hope for is d = 2.",
        published="d = 2",
        rule=lambda e: (
            "holds"
            if e["served"] == e["words"]
            else ("differs" if e["served"] > 0 else "refuted")
        ),
        measured=lambda e: (
            f"d ≤ 2 serves {e['served']} of {e['words']} binary necklaces "
            f"of period {e['period']}; {e['example']} needs {e['needs']}"
        ),
        example={
            "period": 9,
            "words": 28,
            "served": 10,
            "example": "000010011",
            "needs": 4,
        },
        contrary={
            "period": 3,
            "words": 1,
            "served": 1,
            "example": "001",
            "needs": 2,
        },
    ),
)
