"""Claims 003.8, 003.9 and 003.10: the race reduction, random matrices, equivalent tasks."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from ....report import Claim, Evidence, Verdict


def race_evidence(results: Mapping[str, Any]) -> Evidence:
    """The routing network against its reduction."""
    race = results["race"]
    return {
        "final": race.network[-1].values.tolist(),
        "largest_gap": float(np.abs(race.network - race.theory).max()),
        "conservation": float(np.abs(race.conserved - race.conserved[0]).max()),
        "final_gap": float(np.abs(race.drawn / race.cube_root - 1).max()),
    }


def network_races(e: Evidence) -> Verdict:
    """Holds if the network follows the reduction within 0.01, conserves b2² − M b1² within
    0.001, and random small starts end within 2 % of (M s)^(1/3)."""
    good = e["largest_gap"] < 1e-2 and e["conservation"] < 1e-3
    return "holds" if good and e["final_gap"] < 2e-2 else "differs"


def random_evidence(results: Mapping[str, Any]) -> Evidence:
    """First and second singular values of random matrices over their laws."""
    drawn = results["random"]
    first, second = drawn.singular_values.values[:, :2].T
    return {
        "size": int(drawn.sizes["order"]),
        "outlier_ratio": (first / drawn.outlier_law.values).tolist(),
        "edge_ratio": (second / drawn.edge_law.values).tolist(),
        "document_edge_ratio": (second / drawn.document_edge.values).tolist(),
    }


def outlier_and_edge(e: Evidence) -> Verdict:
    """Refuted if an outlier is more than 10 % from pn; holds if every edge is within 10 %
    of the document's; differs if it is within 10 % of √n times that."""
    far = lambda name: max(abs(r - 1) for r in e[name])
    if far("outlier_ratio") > 0.1:
        return "refuted"
    if far("document_edge_ratio") < 0.1:
        return "holds"
    return "differs" if far("edge_ratio") < 0.1 else "open"


def equivalence_evidence(results: Mapping[str, Any]) -> Evidence:
    """How far loss and gradient of a drawn network move under the two substitutions."""
    gaps = results["equivalences"]
    return {**gaps, "largest": max(gaps.values())}


def equivalent(e: Evidence) -> Verdict:
    """Proved: renaming words leaves every ‖A − I‖ as it is, and one-hot words and N(0, I/D)
    have the same second moments, on which alone the loss depends. Refuted if loss or
    gradient of a drawn network moves by 1e-9 (sample whitened to those moments)."""
    gaps = [value for name, value in e.items() if "gap" in name]
    return "holds" if gaps and max(gaps) < 1e-9 else "refuted"


THEORY = (
    Claim(
        id="003.8",
        says="A routing network reduces to b1, b2, b3 a mode, which keep b2² − M b1² and end at b2 = (M s)^(1/3).",
        published="M = 7, K = 4: 4.57, 3.55, 2.76, 2.76",
        finding="network and reduction within {largest_gap:.0e}; random starts end within {final_gap:.0e}",
        evidence=race_evidence,
        rule=network_races,
        figure="race",
    ),
    Claim(
        id="003.9",
        says="A Bernoulli(p) matrix T has an outlier singular value about pn, and the rest lie in [0, 2√(p(1−p))]. (The edge lacks a factor √n.)",
        published="pn and 2√(p(1−p))",
        finding=lambda e: (
            f"n = {e['size']}: outlier {max(e['outlier_ratio']):.2f} pn, edge "
            f"{min(e['edge_ratio']):.2f} to {max(e['edge_ratio']):.2f} of 2√(np(1−p))"
        ),
        evidence=random_evidence,
        rule=outlier_and_edge,
        figure="random-pairs",
    ),
    Claim(
        id="003.10",
        says="Any dictionaries Π_k may be taken as the identity, and Gaussian inputs N(0, I/D) give the same loss as one-hot words.",
        published="assumed",
        finding="proved; loss and gradient of a drawn network move by {largest:.0e}",
        evidence=equivalence_evidence,
        rule=equivalent,
    ),
)
