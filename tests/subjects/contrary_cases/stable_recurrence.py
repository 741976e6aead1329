"""Stable recurrence: evidence for and against each claim."""

GRADIENT = {"slope": -0.4, "log_rate": -0.22}
DESCENT = {"decaying_ratio": 0.3, "instances": 5}
SCORES = {"pairs": 1, "worst": 0.01}
EXPONENTS = {"stderrs": [0.01], "converged": [True], "count": 1}
GAINS = {"units": 24, "norm": 0.56, "diagonal": 0.63, "full": 0.8}
ROOM = {"mean_room": 0.06, "largest_room": 0.12}
TASK = {"least_excess": 0.1, "free": 0.1, "floor": 1.2, "chance": 1.386, "length": 16}


def tasks(stable: float) -> dict:
    named = {name: TASK | {"stable": stable} for name in ("symbol", "string", "sum")}
    return {"tasks": named, "failed": 3 if stable > 1.2 else 0, "count": 3}


CASES = {
    "004.1": ({"largest_ratio": 0.2}, {"largest_ratio": 1.2}),
    "004.1-moving": (
        {"gap": 0.0, "printed": 0.0, "corrected": 0.25},
        {"gap": 0.25, "printed": 0.0, "corrected": 0.25},
    ),
    "004.2": (GRADIENT | {"largest_ratio": 0.01}, GRADIENT | {"largest_ratio": 2.0}),
    "004.3": (DESCENT | {"exceeding": 4}, DESCENT | {"exceeding": 0}),
    "004.4": ({"slope": -0.3, "log_rate": -0.1}, {"slope": -0.01, "log_rate": -0.1}),
    "004.5": (SCORES | {"gaps": {"rnn": (-0.01, 0.01)}}, SCORES | {"gaps": {"rnn": (0.6, 0.7)}}),
    "004.6": (
        EXPONENTS | {"exponents": [-0.1], "largest": -0.1},
        EXPONENTS | {"exponents": [0.1], "largest": 0.1},
    ),
    "004.7": (
        {"stable_gap": 0.001, "free_gap": 0.01, "norm": 2.0},
        {"stable_gap": 0.001, "free_gap": 0.9, "norm": 2.0},
    ),
    "004.8": (GAINS | {"least_gain": 1.4}, GAINS | {"least_gain": 1.0}),
    "004.9": (ROOM | {"smallest_room": 0.01}, ROOM | {"smallest_room": -0.01}),
    "004.10": (
        {"units": [16], "paper": [0.021], "comparison": [0.14], "least_ratio": 6.7},
        {"units": [16], "paper": [0.021], "comparison": [0.022], "least_ratio": 1.05},
    ),
    "004.11": ({"nearest": 0.97, "cells": 4}, {"nearest": 1.01, "cells": 4}),
    "004.12": (tasks(1.38), tasks(0.5)),
    "004.13": ({"window": 16, "worst_loss": 1.01}, {"window": 16, "worst_loss": 1.5}),
}
