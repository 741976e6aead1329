"""Memorization: evidence for and against each claim."""

RECALLED = ({"tried": 9, "recalled": 9}, {"tried": 9, "recalled": 8})
POWERS = {"d": 12, "n": 3, "phi_d": 4, "phi_n": 2}
TANH = {"tried": 5, "recalled": 5, "one_hot": 0.69}
NECKLACES = {"period": 9, "words": 28, "example": "000010011", "needs": 4}
ATLAS = {"proved": 30, "checked": {"6": {"2": 3, "3": 2}}, "words": 30, "up_to": 8, "largest": 4}
GROWTH = {"largest": [2, 4, 6], "proved": [1, 2, 3], "slope": 0.4, "error": 0.02, "up_to": 14}
SETS = {"cheaper": 10, "optimal": 10}
ONE_UNIT = {
    "tried": 9,
    "recalled": 9,
    "bits_expected": 25.5,
    "bits_slack": 5,
    "exponent": 1.6094379,
    "log_n": 1.6094379,
}
TRADE = {"harmonic": 0.0, "contracting": -1.8, "harmonic_units": 2, "period": 11}
ROOTS = {"networks": 10, "median_radius": 1.0, "nearest": {}}
FACTORS = {"exact": True, "words": 60, "up_to": 9, "largest": 1.6, "contracting": 12}

CASES = {
    "000.1": RECALLED,
    "000.2": ({"steps": 8, "turns": 8}, {"steps": 8, "turns": 1}),
    "000.3": RECALLED,
    "000.4": (POWERS | {"serving": 2}, POWERS | {"serving": 4}),
    "000.5": (
        {"exceptions": 0, "up_to": 100, "least": 0.707, "at": 2},
        {"exceptions": 1, "up_to": 100, "least": 0.4, "at": 6},
    ),
    "000.6": RECALLED,
    "000.7": (TANH | {"attracting": -1.8}, TANH | {"attracting": 0.2}),
    "000.8": ({"exceptions": 0, "up_to": 10}, {"exceptions": 1, "up_to": 10}),
    "000.9": (
        {"counterexample": None, "coefficient": 0, "up_to": 104},
        {"counterexample": 105, "coefficient": -2, "up_to": 200},
    ),
    "000.10": ({"least": 4}, {"least": 3}),
    "000.11": ({"tried": 50, "orders": 50}, {"tried": 50, "orders": 49}),
    "000.12": (NECKLACES | {"served": 28}, NECKLACES | {"served": 10}),
    "000.13": (
        ATLAS | {"counts": {"6": {"2": 3, "3": 2}}},
        ATLAS | {"counts": {"6": {"2": 4, "3": 1}}},
    ),
    "000.14": (
        SETS | {"cheaper_spell": 0, "optimal_spell": 3},
        SETS | {"cheaper_spell": 1, "optimal_spell": 3},
    ),
    "000.15": (ONE_UNIT | {"bits": 26}, ONE_UNIT | {"bits": 60}),
    "000.16": (TRADE | {"one_unit": 1.6}, TRADE | {"one_unit": -0.1}),
    "000.17": ({"kept": 1, "words": 1, "margin": 1}, {"kept": 1, "words": 1, "margin": -1}),
    "000.18": (ROOTS | {"near": 9, "angles_near": 10}, ROOTS | {"near": 0, "angles_near": 2}),
    "000.20": (GROWTH, GROWTH | {"largest": [2, 4, 1]}),
    "000.19": (FACTORS | {"largest_of_period_7": 1.46557}, FACTORS | {"largest_of_period_7": 1.6}),
}
