"""What the document says, and the rule that judges each sentence."""

from ...report import Evidence, Statement, Verdict


def _threshold(e: Evidence) -> Verdict:
    explained = e["connected_generalise"] >= 0.99 and e["disconnected_generalise"] == 0
    if not explained:
        return "open"
    return "holds" if 0.2 <= e["threshold_median"] <= 0.35 else "differs"


def _vanishing(e: Evidence) -> Verdict:
    floor = e["across_mean"] + 2 * e["across_stderr"] >= 0.5
    if floor and e["disconnected_generalise"] == 0:
        return "refuted"
    return "holds" if e["disconnected_generalise"] > 0.5 else "open"


def _spikes(e: Evidence) -> Verdict:
    real = e["real"] > 0 or e["toy_walls"] > 0
    if e["step_only"] > 0:
        return "differs" if real else "holds"
    return "refuted" if real else "open"


def _translates(e: Evidence) -> Verdict:
    if e["low_loss_runs"] == 0:
        return "open"
    return "holds" if e["accuracy_diagonal"] > 0.9 else "refuted"


def _aligns(e: Evidence) -> Verdict:
    gaps = [abs(m - p) for m, p in zip(e["exponents"], e["laws"], strict=True)]
    return "holds" if max(gaps) <= 0.06 else "differs"


def _clock(e: Evidence) -> Verdict:
    if e["three_factor_spread"] < 1.5 and e["two_factor_r2"] > 0.98:
        return "refuted"
    return "holds" if e["three_factor_spread"] > 5 else "open"


def _circulant(e: Evidence) -> Verdict:
    if e["success"][-1] >= 0.9 and e["success"][-1] > e["success"][0]:
        return "holds"
    return "refuted" if e["success"][-1] < 0.5 else "open"


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


def _foretold(e: Evidence) -> Verdict:
    return (
        "holds"
        if e["brier"] < 0.05 and e["brier"] < e["brier_of_the_mean"] / 2
        else "differs"
    )


def _wide(e: Evidence) -> Verdict:
    if e["disconnected_generalise"] > 0:
        return "refuted"
    share = e["connected_generalise"]
    return "holds" if share[-1] > 0.7 and share[-1] > share[0] + 0.2 else "differs"


def _again(e: Evidence) -> Verdict:
    if e["same_side"] < e["cells"]:
        return "differs"
    return "holds" if e["within_one_percent"] >= 0.7 * e["cells"] else "differs"


def _bounded(e: Evidence) -> Verdict:
    return "holds" if e["violations"] == 0 and e["runs"] > 0 else "refuted"


STATEMENTS = (
    Statement(
        id="003.1",
        statement="Generalisation emerges after roughly 30 % of the pairs are taught. (Why: from there on the graph of taught pairs is nearly always connected.)",
        published="about 30 %",
        rule=_threshold,
        measured=lambda e: (
            f"connected runs that generalise: {e['connected_generalise']:.0%} of {e['connected']}; "
            f"disconnected: {e['disconnected_generalise']:.0%} of {e['disconnected']}; "
            f"{e['unfinished']} runs did not reach the training loss; median threshold {e['threshold_median']:.0%}; "
            f"P(connected) is ½ at {e['half_connected']} pairs of 100 and .94 at 30"
        ),
        example={
            "connected_generalise": 1.0,
            "connected": 90,
            "disconnected_generalise": 0.0,
            "disconnected": 60,
            "unfinished": 40,
            "threshold_median": 0.26,
            "half_connected": 23,
        },
        contrary={
            "connected_generalise": 1.0,
            "connected": 90,
            "disconnected_generalise": 0.0,
            "disconnected": 60,
            "unfinished": 40,
            "threshold_median": 0.45,
            "half_connected": 23,
        },
    ),
    Statement(
        id="003.2",
        statement="As σ goes to 0 the threshold may go to zero as well.",
        published="suggested by the figure",
        rule=_vanishing,
        measured=lambda e: (
            f"loss between components {e['across_mean']:.2f} ± {e['across_stderr']:.2f} "
            f"(floor ½, proved), at every σ: {', '.join(f'{v:.2f}' for v in e['across_by_scale'])}"
        ),
        example={
            "across_mean": 0.95,
            "across_stderr": 0.05,
            "across_by_scale": [0.9, 1.0],
            "disconnected_generalise": 0.0,
        },
        contrary={
            "across_mean": 0.05,
            "across_stderr": 0.01,
            "across_by_scale": [0.1, 0.0],
            "disconnected_generalise": 0.9,
        },
    ),
    Statement(
        id="003.3",
        statement="The spikes of the test loss beyond the threshold are numerical.",
        published="an initial guess",
        rule=_spikes,
        measured=lambda e: (
            f"of {e['tried']} spikes tried again, {e['step_only']} came from the step, {e['real']} "
            f"are there under a safe step or the flow too; exact flow of the toy stands before a sign wall in {e['toy_walls']:.0%} "
            f"of starts (loss {e['toy_wall_loss']:.4f})"
        ),
        example={
            "tried": 3,
            "step_only": 1,
            "real": 2,
            "toy_walls": 0.4,
            "toy_wall_loss": 1.0,
        },
        contrary={
            "tried": 3,
            "step_only": 3,
            "real": 0,
            "toy_walls": 0.0,
            "toy_wall_loss": 0.0,
        },
    ),
    Statement(
        id="003.4",
        statement="A run whose test loss is low translates the pairs it was not taught.",
        published="implied by the figure",
        rule=_translates,
        measured=lambda e: (
            f"diagonal mask: argmax accuracy {e['accuracy_diagonal']:.2f} (chance {e['chance']:.2f}), rank {e['rank_diagonal']:.1f}; "
            f"full mask: {e['accuracy_full']:.2f}, rank {e['rank_full']:.1f}"
        ),
        example={
            "low_loss_runs": 9,
            "accuracy_diagonal": 0.1,
            "chance": 0.03,
            "rank_diagonal": 1.2,
            "accuracy_full": 1.0,
            "rank_full": 31.9,
        },
        contrary={
            "low_loss_runs": 9,
            "accuracy_diagonal": 0.99,
            "chance": 0.03,
            "rank_diagonal": 30.0,
            "accuracy_full": 1.0,
            "rank_full": 31.9,
        },
    ),
    Statement(
        id="003.5",
        statement="In the toy, u and v align with the top singular vectors of T as σ goes to 0. (The law: contamination ∝ σ^(1−σ2/σ1).)",
        published="aligned for small σ; no law given",
        rule=_aligns,
        measured=lambda e: (
            "exponents "
            + ", ".join(
                f"width {w}: {m:.2f} (law {p:.2f})"
                for w, m, p in zip(e["widths"], e["exponents"], e["laws"], strict=True)
            )
        ),
        example={"widths": [8, 2], "exponents": [0.76, 0.05], "laws": [0.76, 0.05]},
        contrary={"widths": [8, 2], "exponents": [0.4, 0.2], "laws": [0.76, 0.05]},
    ),
    Statement(
        id="003.6",
        statement="Alignment happens around t ~ −log σ.",
        published="t ~ −log σ (a footnote)",
        rule=_clock,
        measured=lambda e: (
            f"three factors: t·σ stays within a factor {e['three_factor_spread']:.2f} over {e['decades']:g} decades, so t ~ 1/σ; "
            f"two factors: t linear in −log σ (R² {e['two_factor_r2']:.3f})"
        ),
        example={"three_factor_spread": 1.1, "decades": 14.0, "two_factor_r2": 0.999},
        contrary={"three_factor_spread": 60.0, "decades": 14.0, "two_factor_r2": 0.999},
    ),
    Statement(
        id="003.7",
        statement="Any circulant T should generalise perfectly as σ goes to 0.",
        published="seen for wide circulants only",
        rule=_circulant,
        measured=lambda e: (
            f"width {e['width']}: success "
            + ", ".join(
                f"{s:.2f} at 1e{x:.0f}"
                for x, s in zip(e["log10_scales"], e["success"], strict=True)
            )
            + "; σ for 1 % contamination: "
            + ", ".join(
                f"width {w} 1e{x:.0f}"
                for w, x in zip(e["widths"], e["needed"], strict=True)
            )
        ),
        example={
            "width": 2,
            "log10_scales": [-1.0, -40.0],
            "success": [0.1, 0.98],
            "widths": [8, 2],
            "needed": [-3.0, -41.0],
        },
        contrary={
            "width": 2,
            "log10_scales": [-1.0, -40.0],
            "success": [0.1, 0.2],
            "widths": [8, 2],
            "needed": [-3.0, -41.0],
        },
    ),
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
            f"paths of training differ by {max(v for k, v in e.items() if 'gap' in k):.0e} at most, in losses and weights"
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
    Statement(
        id="003.11",
        statement="From T alone (components, σ2/σ1, wall probability) one can tell what will generalise and at which σ.",
        published="not in the document",
        rule=_foretold,
        measured=lambda e: (
            f"Brier score {e['brier']:.3f} on {e['graphs']} unseen graphs × {e['scales']} σ "
            f"(always foretelling the mean: {e['brier_of_the_mean']:.3f}); right side of ½ in {e['accuracy']:.0%}"
        ),
        example={
            "brier": 0.01,
            "brier_of_the_mean": 0.2,
            "accuracy": 0.97,
            "graphs": 24,
            "scales": 2,
        },
        contrary={
            "brier": 0.18,
            "brier_of_the_mean": 0.2,
            "accuracy": 0.6,
            "graphs": 24,
            "scales": 2,
        },
    ),
    Statement(
        id="003.12",
        statement="With H > D a smaller σ moves the threshold down to connectivity and never below it.",
        published="not in the document",
        rule=_wide,
        measured=lambda e: (
            "connected runs that generalise: "
            + ", ".join(
                f"{s:.0%} at σ = {x:g}"
                for x, s in zip(e["scales"], e["connected_generalise"], strict=True)
            )
            + f"; disconnected: {e['disconnected_generalise']:.0%}"
        ),
        example={
            "scales": [0.3, 0.03],
            "connected_generalise": [0.3, 1.0],
            "disconnected_generalise": 0.0,
        },
        contrary={
            "scales": [0.3, 0.03],
            "connected_generalise": [1.0, 0.3],
            "disconnected_generalise": 0.0,
        },
    ),
    Statement(
        id="003.13",
        statement="The cells of the author's own result file come out again.",
        published="18 cells of Figure 1",
        rule=_again,
        measured=lambda e: (
            f"{e['within_one_percent']} of {e['cells']} within 1 %, {e['same_side']} on the same side of 1e-3"
            + (f"; apart: {e['apart']}" if e["apart"] else "")
        ),
        example={"cells": 18, "within_one_percent": 15, "same_side": 18, "apart": ""},
        contrary={
            "cells": 18,
            "within_one_percent": 2,
            "same_side": 9,
            "apart": "many",
        },
    ),
    Statement(
        id="003.14",
        statement="For H = D an untaught block is no further from the identity than the path of taught blocks to it allows.",
        published="not in the document",
        rule=_bounded,
        measured=lambda e: (
            f"{e['violations']} violations in {e['runs']} connected runs; largest test loss over path-length bound {e['tightest']:.2f}"
        ),
        example={"violations": 0, "runs": 80, "tightest": 0.3},
        contrary={"violations": 5, "runs": 80, "tightest": 4.0},
    ),
)
