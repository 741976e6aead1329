"""Recurrent language models: evidence for and against each claim."""

FORGETS = {"longest": 256, "models": 3}
REPLAY = {"tokens": 64, "models": 3, "one": 0.5}
LSTM = {"ratios": {}, "longer": 0, "kinds": 3}
LENGTH = {"models": 2, "spread": 0.05, "unforgotten": 0.1}
CASES = {
    "005.1": (
        {"models": 3, "largest": -0.001, "stderr": 0.0001},
        {"models": 3, "largest": 0.01, "stderr": 0.0001},
    ),
    "005.2": (
        FORGETS | {"window": 40.0, "reached": 3},
        FORGETS | {"window": float("inf"), "reached": 0},
    ),
    "005.3": ({"holds": 24, "judges": 24}, {"holds": 4, "judges": 24}),
    "005.4": ({"least": 1.4, "most": 2.0, "models": 3}, {"least": 0.5, "most": 0.8, "models": 3}),
    "005.5": (LENGTH | {"rise": 0.4}, LENGTH | {"rise": -0.4}),
    "005.6": (REPLAY | {"cost": 0.005}, REPLAY | {"cost": 0.4}),
    "005.7": (LSTM | {"least": 1.5, "most": 40.0}, LSTM | {"least": 0.2, "most": 0.5}),
}
