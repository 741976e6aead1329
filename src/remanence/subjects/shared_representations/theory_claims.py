"""Claims about the race, random matrices and the equivalences."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import xarray as xr

from ...report import Evidence, Statement, Verdict


def _race(e: Evidence) -> Verdict:
    good = e["largest_gap"] < 1e-2 and e["conservation"] < 1e-3
    return "holds" if good and e["final_gap"] < 2e-2 else "differs"


def _random(e: Evidence) -> Verdict:
    if max(abs(r - 1) for r in e["outlier_ratio"]) > 0.1:
        return "refuted"
    if max(abs(r - 1) for r in e["document_edge_ratio"]) < 0.1:
        return "holds"
    return "differs" if max(abs(r - 1) for r in e["edge_ratio"]) < 0.1 else "open"


def _same(e: Evidence) -> Verdict:
    small = max(v for k, v in e.items() if "gap" in k) < 1e-9
    return "holds" if small and e["loss_fell_to"] < 0.9 else "refuted"


STATEMENTS = (
    Statement(
        id="003.8",
        statement="A routing network reduces to b1, b2, b3 a mode, which keep b2² − M b1² and end at b2 = (M s)^(1/3).",
        published="M = 7, K = 4: 4.57, 3.55, 2.76, 2.76",
        rule=_race,
        measured=lambda e: (
            f"b2 = {', '.join(f'{b:.2f}' for b in e['final'])}; network against reduction within {e['largest_gap']:.0e}; "
            f"conserved to {e['conservation']:.0e}; random small starts end within {e['final_gap']:.0e}"
        ),
        example={
            "final": [4.57, 3.55, 2.76, 2.76],
            "largest_gap": 1e-6,
            "conservation": 1e-6,
            "final_gap": 1e-4,
        },
        contrary={
            "final": [4.0, 3.0, 2.0, 2.0],
            "largest_gap": 0.5,
            "conservation": 1e-6,
            "final_gap": 0.4,
        },
    ),
    Statement(
        id="003.9",
        statement="A Bernoulli(p) matrix T has an outlier singular value about pn, and the rest lie in [0, 2√(p(1−p))]. (The edge lacks a factor √n.)",
        published="pn and 2√(p(1−p))",
        rule=_random,
        measured=lambda e: (
            f"n = {e['size']}: outlier/pn {min(e['outlier_ratio']):.3f}–{max(e['outlier_ratio']):.3f}; "
            f"edge/2√(np(1−p)) {min(e['edge_ratio']):.3f}–{max(e['edge_ratio']):.3f}; "
            f"edge over the document's {min(e['document_edge_ratio']):.0f}–{max(e['document_edge_ratio']):.0f}"
        ),
        example={
            "size": 200,
            "outlier_ratio": [1.0, 1.01],
            "edge_ratio": [0.98, 1.0],
            "document_edge_ratio": [14.0, 14.1],
        },
        contrary={
            "size": 200,
            "outlier_ratio": [1.0, 1.01],
            "edge_ratio": [0.07, 0.07],
            "document_edge_ratio": [0.98, 1.0],
        },
    ),
    Statement(
        id="003.10",
        statement="Any dictionaries Π_k may be taken as the identity, and Gaussian inputs N(0, I/D) give the same loss as one-hot words.",
        published="assumed",
        rule=_same,
        measured=lambda e: (
            f"paths of training differ by {max(v for k, v in e.items() if 'gap' in k):.0e} at most, in losses and weights (the Gaussian inputs are a sample with exactly the moments of N(0, I/D))"
        ),
        example={
            "loss_gap_dictionaries": 1e-15,
            "weight_gap_dictionaries": 1e-15,
            "loss_gap_gaussian": 1e-15,
            "weight_gap_gaussian": 1e-14,
            "loss_fell_to": 0.3,
        },
        contrary={
            "loss_gap_dictionaries": 0.2,
            "weight_gap_dictionaries": 0.5,
            "loss_gap_gaussian": 1e-15,
            "weight_gap_gaussian": 1e-14,
            "loss_fell_to": 0.3,
        },
    ),
)


def _numbers(values: Any) -> list[float]:
    return [float(v) for v in np.asarray(values)]


def evidence(
    data: Mapping[str, xr.Dataset], same: Mapping[str, float]
) -> dict[str, Any]:
    """What the race, random matrices and the two trainings that should agree say."""
    race, drawn = data["race"], data["random"]
    values = drawn.singular_values.values
    kept = race.conserved_network
    return {
        "003.8": {
            "final": _numbers(race.network[-1]),
            "largest_gap": float(np.abs(race.network - race.theory).max()),
            "conservation": float(np.abs(kept - kept[0]).max()),
            "final_gap": float(np.abs(race.drawn / race.cube_root - 1).max()),
        },
        "003.9": {
            "size": int(values.shape[1]),
            "outlier_ratio": _numbers(values[:, 0] / drawn.outlier_law.values),
            "edge_ratio": _numbers(values[:, 1] / drawn.edge_law.values),
            "document_edge_ratio": _numbers(values[:, 1] / drawn.document_edge.values),
        },
        "003.10": dict(same),
    }
