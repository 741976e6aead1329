"""Made-up evidence for and against every claim of shared representations."""

THRESHOLD = {
    "connected_generalise": 1.0,
    "connected": 90,
    "disconnected_generalise": 0.0,
    "disconnected": 60,
    "threshold_median": 0.26,
}
ACROSS = {"across_mean": 0.95, "across_stderr": 0.05, "disconnected_generalise": 0.0}
SPIKES = {"tried": 20, "step_only": 20, "real": 0, "undecided": 0}
TRANSLATION = {"low_loss_runs": 9, "accuracy_diagonal": 0.1, "chance": 0.03, "accuracy_full": 1.0}
ALIGNED = {
    "count": 2,
    "worst": 0.004,
    "exponents": [0.765, 0.0491],
    "stderrs": [0.001, 0.0002],
    "laws": [0.762, 0.0489],
}
TIME = {"three_factor_spread": 1.1, "decades": 14.0, "two_factor_r2": 0.999}
CIRCULANT = {
    "width": 2,
    "log10_scales": [-1.0, -40.0],
    "success": [0.1, 0.98],
    "low": [0.07, 0.96],
    "high": [0.14, 0.99],
}
RACE = {"largest_gap": 1e-6, "conservation": 1e-6, "final_gap": 1e-4}
RANDOM = {
    "size": 200,
    "outlier_ratio": [1.0, 1.01],
    "edge_ratio": [0.98, 1.0],
    "document_edge_ratio": [14.0, 14.1],
}
EQUIVALENCE = {"loss_gap_dictionaries": 1e-15, "gradient_gap_gaussian": 1e-14}
EQUIVALENCE |= {"largest": 1e-14}
PREDICTION = {
    "brier": 0.01,
    "brier_of_the_mean": 0.2,
    "seen_at": [0.91, 0.7, 0.5],
    "seen_there": 0.91,
    "stderr_at": [0.02, 0.03, 0.1],
    "predicted_at": [0.9, 0.72, 0.51],
}
WIDE = {
    "scales": [0.3, 0.003],
    "above": [0.121, 0.002],
    "above_errors": [0.02, 0.002],
    "disconnected_generalise": 0,
}
AUTHOR = {"cells": 18, "within_one_percent": 16, "same_side": 18}
PATHS = {"violations": 0, "blocks": 900, "largest": 0.6}

CASES = {
    "003.1": (THRESHOLD, THRESHOLD | {"threshold_median": 0.45}),
    "003.2": ({"across_mean": 0.05, "across_stderr": 0.01, "disconnected_generalise": 0.9}, ACROSS),
    "003.3": (SPIKES, SPIKES | {"step_only": 7, "real": 25}),
    "003.4": (TRANSLATION | {"accuracy_diagonal": 0.99}, TRANSLATION),
    "003.5": (ALIGNED, ALIGNED | {"exponents": [0.76, 0.0]}),
    "003.6": (TIME | {"three_factor_spread": 60.0}, TIME),
    "003.7": (
        CIRCULANT,
        CIRCULANT | {"success": [0.1, 0.2], "low": [0.05, 0.15], "high": [0.15, 0.25]},
    ),
    "003.8": (RACE, RACE | {"largest_gap": 0.5, "final_gap": 0.4}),
    "003.9": (RANDOM | {"edge_ratio": [0.07, 0.07], "document_edge_ratio": [0.98, 1.0]}, RANDOM),
    "003.10": (EQUIVALENCE, EQUIVALENCE | {"loss_gap_dictionaries": 0.2}),
    "003.11": (PREDICTION, PREDICTION | {"seen_at": [0.6, 0.5, 0.4]}),
    "003.12": (WIDE, WIDE | {"above": [0.121, 0.051]}),
    "003.13": (AUTHOR, AUTHOR | {"within_one_percent": 2, "same_side": 9}),
    "003.14": (PATHS, PATHS | {"violations": 3, "largest": 1.3}),
}
