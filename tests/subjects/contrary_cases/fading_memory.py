"""Fading memory: evidence for and against each claim."""


def pair(wins: bool) -> dict:
    high, low = (0.9, 0.8) if wins else (0.8, 0.9)
    return {
        "first": "one",
        "first_mean": high,
        "first_spread": 0.01,
        "first_beats": wins,
        "second": "other",
        "second_mean": low,
        "second_spread": 0.01,
        "second_beats": not wins,
    }


LAW = {"slope": 1.0, "slope_most": 1.02, "first_order_ratio": 1.0, "bound_broken": 0}
GRADIENT = {"slope_weak": 1.0, "coupling": 0.1, "even_radius": 0.95}
ENDS = {"earliest": 0.02, "latest_proved": 0.005}
EDGE = {"best_radius": 0.9, "best_accuracy": 0.8, "beats_most_supercritical": True}
SPEED = {"target": 0.7, "radii": [0.4, 0.9], "steps": [None, 150.0]}
ANGLES = {
    "best": 0.785,
    "row": 0.785,
    "best_accuracy": 0.9,
    "row_accuracy": 0.9,
    "zero_accuracy": 0.7,
    "row_beats_angle_zero": True,
    "row_beats_neighbours": True,
    "best_beats_row": False,
    "angle_zero_beats_row": False,
}
FALLS = {"sequential": 0.36, "sequential_error": 0.02, "permuted_error": 0.02}
TASKS = {
    "source": "digits",
    "accuracy": 0.9,
    "accuracy_spread": 0.01,
    "permuted": 0.7,
    "solved": 50,
}

CASES = {
    "001.1": (LAW | {"slope_least": 0.99}, LAW | {"slope_least": 0.5}),
    "001.1-defective": (
        {"units": [2, 8], "slopes": [1.0, 1.0]},
        {"units": [2, 8], "slopes": [0.5, 0.125]},
    ),
    "001.2": (
        {"gap": 0.1, "coupling": 0.1, "largest_ratio": 0.8},
        {"gap": 0.1, "coupling": 0.1, "largest_ratio": 1.2},
    ),
    "001.3-gradient": (
        GRADIENT | {"slope_least": 0.99, "slope_most": 1.01},
        GRADIENT | {"slope_least": 0.5, "slope_most": 1.3},
    ),
    "001.Q4": (ENDS | {"least_ratio": 2.5}, ENDS | {"least_ratio": 0.5}),
    "001.3": (
        EDGE | {"best_exponent": 0.01, "beats_most_subcritical": True, "unbeaten_far": []},
        EDGE | {"best_exponent": -0.5, "beats_most_subcritical": False, "unbeaten_far": [0.75]},
    ),
    "001.3-speed": (
        SPEED | {"near_faster": True, "far_faster": False},
        SPEED | {"near_faster": False, "far_faster": True},
    ),
    "001.4": (ANGLES, ANGLES | {"best": 0.6, "best_beats_row": True}),
    "001.4-permuted": (FALLS | {"permuted": 0.02}, FALLS | {"permuted": 0.35}),
    "001.6": (TASKS | {"adding_worst": [0.002]}, TASKS | {"adding_worst": [0.17]}),
    **{
        f"001.{number}": (pair(True), pair(False))
        for number in ("5", "Q1", "Q2-GRU", "Q2-LSTM", "Q3", "Q5", "Q6")
    },
}
