"""Modular addition: evidence for and against each claim."""

SHARED = {"counts": [6, 6], "possible": 56}
RANKS = {"full": {"W_E": 113, "W_fc": 113, "W_ih": 128, "W_hh": 128}, "counts": [6]}
PUBLISHED = {"W_E": [12], "W_fc": [12], "W_ih": [12], "W_hh": [32]}
HIGH = {"W_E": [90], "W_fc": [90], "W_ih": [90], "W_hh": [90]}
CONTROLS = {"random_removed": 1.0, "key_removed": 0.02}
EXPONENTS = {"stderr": [0.01, 0.01], "unmeasured": 0}
COUNTS = {"error": {"fraction": 0.2, "weight_decay": 0.2, "units": 0.2}, "moved": 3}


def networks(sparse: int) -> dict:
    return {"trained": 2, "learned": 2, "sparse": sparse}


def adders(right: float) -> dict:
    row = {"modulus": 113, "right": right, "units": 24, "margin": 0.1}
    return {"tried": [row], "worst": right, "tables": 1, "last": row}


def span(value: float) -> dict:
    return {"span": {"fraction": value, "weight_decay": value, "units": value}}


CASES = {
    "002.1": (SHARED | {"least_overlap": 0.95}, SHARED | {"least_overlap": 0.2}),
    "002.2": (RANKS | {"ranks": PUBLISHED}, RANKS | {"ranks": HIGH}),
    "002.3": (
        {"paired": 1.0, "pairs": 12, "purity": 0.95},
        {"paired": 0.2, "pairs": 12, "purity": 0.5},
    ),
    "002.4": ({"median": 0.005, "squared": 2e-5}, {"median": 0.3, "squared": 0.09}),
    "002.5": (
        {"single": 0.97, "intact": 0.7, "several": 0.2},
        {"single": 0.1, "intact": 0.0, "several": 0.2},
    ),
    "002.6": (RANKS | {"ranks": PUBLISHED}, RANKS | {"ranks": HIGH}),
    "002.7": ({"least_change": 0.3, "most_left": 0.02}, {"least_change": 0.0, "most_left": 1.0}),
    "002.8": (
        CONTROLS | {"false_keys": 0.01, "random_fit": 0.99},
        CONTROLS | {"false_keys": 0.6, "random_fit": 0.3},
    ),
    "002.9": (networks(2), networks(0)),
    "002.10": (networks(2), networks(0)),
    "002.11": (adders(1.0), adders(0.9)),
    # The learned embedding lies no nearer than random frequencies do.
    "002.12": ({"embedding": 0.97, "random": 0.4}, {"embedding": 0.35, "random": 0.4}),
    "002.13": (
        EXPONENTS | {"exponents": [-0.5, -0.4], "largest": -0.4},
        EXPONENTS | {"exponents": [0.5, -0.4], "largest": 0.5},
    ),
    "002.14": (COUNTS | span(2.0), COUNTS | span(0.3)),
    "002.15": ({"largest": 0.1, "mean": 0.07}, {"largest": 0.6, "mean": 0.55}),
}
