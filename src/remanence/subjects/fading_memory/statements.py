"""What document 001 says, and the questions it leaves, each with the rule that judges it."""

from ...report import Evidence, Statement
from . import rules


def _side_by_side(e: Evidence) -> str:
    return (
        f"{e['first']} {e['first_mean']:.3f} ± {e['first_spread']:.3f}, "
        f"{e['second']} {e['second_mean']:.3f} ± {e['second_spread']:.3f}"
    )


def _pair(first: str, second: str, wins: bool) -> dict:
    high, low = (0.9, 0.8) if wins else (0.8, 0.9)
    return {
        "first": first, "first_mean": high, "first_spread": 0.01, "first_beats": wins,
        "second": second, "second_mean": low, "second_spread": 0.01,
        "second_beats": not wins,
    }  # fmt: skip


def _statement(
    id, statement, published, rule, measured, example, contrary
) -> Statement:
    return Statement(
        id=id,
        statement=statement,
        published=published,
        rule=rule,
        measured=measured,
        example=example,
        contrary=contrary,
    )


def _versus(id, statement, published, rule, first, second) -> Statement:
    return _statement(
        id, statement, published, rule, _side_by_side,
        _pair(first, second, True), _pair(first, second, False),
    )  # fmt: skip


_ANGLES = {
    "best": 0.6, "row": 0.785, "characteristic": 0.785, "best_accuracy": 0.9,
    "row_accuracy": 0.89, "zero_accuracy": 0.7, "best_beats_angle_zero": True,
    "row_beats_angle_zero": True, "best_beats_row": False, "angle_zero_beats_row": False,
}  # fmt: skip

STATEMENTS = (
    _statement(
        "001.1",
        "Exponents tend to log|eig R| as the coupling goes to 0, with an error O(γ).",
        "V = ∏ J_R + O(γ)",
        rules.law,
        lambda e: (
            f"gap ∝ γ^{e['slope']:.2f} ({e['slope_least']:.2f} to {e['slope_most']:.2f}); slope {e['first_order_ratio']:.2f} of first order; "
            f"bound broken {e['bound_broken']} times"
        ),
        {"slope": 1.0, "slope_least": 0.99, "slope_most": 1.02, "first_order_ratio": 1.0,
         "bound_broken": 0},
        {"slope": 1.0, "slope_least": 0.5, "slope_most": 1.5, "first_order_ratio": 1.0,
         "bound_broken": 0},
    ),
    _statement(
        "001.1-defective",
        "The error is O(γ) also for a residual that cannot be diagonalised.",
        "O(γ), without conditions on R",
        rules.defective,
        lambda e: ", ".join(
            f"N = {n}: γ^{s:.3f}" for n, s in zip(e["units"], e["slopes"], strict=True)
        ),
        {"units": [2, 8], "slopes": [1.0, 1.0]},
        {"units": [2, 8], "slopes": [0.5, 0.125]},
    ),
    _statement(
        "001.2",
        "The residual r·I gives N exponents log r.",
        "N exponents equal to log r",
        rules.multiplicity,
        lambda e: (
            f"{e['count']} exponents within {e['gap_without_coupling']:.0e} of log r at γ = 0; "
            f"within {e['gap_coupled']:.3f} at γ = {e['coupling']:g}"
        ),
        {"gap_without_coupling": 1e-14, "count": 32, "units": 32, "gap_coupled": 0.05,
         "coupling": 0.1},
        {"gap_without_coupling": 1e-2, "count": 32, "units": 32, "gap_coupled": 0.05,
         "coupling": 0.1},
    ),
    _statement(
        "001.3",
        "Networks close to the edge of chaos learn best: largest exponent near 0.",
        "best at the edge; subcritical slow, supercritical unstable",
        rules.edge,
        lambda e: (
            f"best at r = {e['best_radius']:g} ({e['best_accuracy']:.3f}), where the "
            f"largest exponent is {e['best_exponent']:+.3f}"
            + (
                "; no better, beyond the spread, than far from the edge at r = "
                + ", ".join(f"{r:g}" for r in e["unbeaten_far"])
                if e["unbeaten_far"]
                else ""
            )
        ),
        {"best_radius": 0.9, "best_exponent": 0.01, "best_accuracy": 0.8,
         "beats_most_subcritical": True, "beats_most_supercritical": True,
         "unbeaten_far": []},
        {"best_radius": 0.4, "best_exponent": -0.5, "best_accuracy": 0.8,
         "beats_most_subcritical": False, "beats_most_supercritical": True,
         "unbeaten_far": [0.75]},
    ),
    _statement(
        "001.3-speed",
        "Networks close to the edge of chaos learn fastest.",
        "speed of convergence best at the edge",
        rules.fastest,
        lambda e: (
            f"steps to {e['target']:.0%}: "
            + ", ".join(
                f"{'never' if steps is None else format(steps, '.0f')} at r = {r:g}"
                for steps, r in zip(e["steps"], e["radii"], strict=True)
            )
        ),
        {"target": 0.7, "radii": [0.4, 0.9], "exponents": [-0.9, 0.01],
         "steps": [None, 150.0], "near_faster": True, "far_faster": False},
        {"target": 0.7, "radii": [0.4, 0.9], "exponents": [-0.9, 0.01],
         "steps": [100.0, 150.0], "near_faster": False, "far_faster": False},
    ),
    _statement(
        "001.3-gradient",
        "The gradient norm goes as r^T: it vanishes below the edge and explodes above.",
        "∝ r^T",
        rules.gradient,
        lambda e: (
            f"log norm = {e['slope_weak']:.3f} ({e['slope_least']:.3f} to {e['slope_most']:.3f}) · T log r at γ = 0.001; at γ = "
            f"{e['coupling']:g} it is even at r = {e['even_radius']:.3f}, not 1"
        ),
        {"slope_weak": 1.0, "slope_least": 0.99, "slope_most": 1.01, "coupling": 0.1, "even_radius": 0.95},
        {"slope_weak": 0.9, "slope_least": 0.5, "slope_most": 1.3, "coupling": 0.1, "even_radius": 0.95},
    ),
    _statement(
        "001.4",
        "Rotational residuals do best at the data's characteristic frequency.",
        "φ ≈ 2π/28 = 0.22 on 28 × 28 pixels, the peak of the mean power spectrum",
        rules.peak,
        lambda e: (
            f"peak of the power at {e['characteristic']:.3f}; best on the tuning half at {e['best']:.3g} "
            f"({e['best_accuracy']:.3f}), {e['row_accuracy']:.3f} at {e['row']:.3f}, "
            f"{e['zero_accuracy']:.3f} at 0"
        ),
        _ANGLES,
        {**_ANGLES, "row_beats_angle_zero": False, "angle_zero_beats_row": True},
    ),
    _statement(
        "001.4-permuted",
        "On permuted pixels the characteristic frequency of a row brings nothing.",
        "prediction: no such peak",
        rules.no_peak,
        lambda e: (
            "from the row's angle to the largest: {:.3f} to {:.3f} in order, "
            "{:.3f} to {:.3f} permuted".format(*e["sequential"], *e["permuted"])
        ),
        {"sequential": [0.8, 0.6], "permuted": [0.7, 0.7],
         "row_beats_far_sequential": True, "row_beats_far_permuted": False},
        {"sequential": [0.8, 0.6], "permuted": [0.8, 0.6],
         "row_beats_far_sequential": True, "row_beats_far_permuted": True},
    ),
    _versus("001.5", "Heterogeneous residuals beat homogeneous ones.",
            "heterogeneous better", rules.first_wins, "heterogeneous", "homogeneous"),
    _statement(
        "001.6",
        "Such networks learn sequential pixels and the adding problem.",
        "sMNIST, psMNIST, adding; accuracies not known to us",
        rules.tasks,
        lambda e: (
            f"{e['source']}: {e['accuracy']:.3f} ± {e['accuracy_spread']:.3f}, permuted "
            f"{e['permuted']:.3f} ± {e['permuted_spread']:.3f}; adding error "
            + ", ".join(
                f"{error:.4f} (at most {worst:.4f}) at T = {length}"
                for error, worst, length in zip(
                    e["adding_error"], e["adding_worst"], e["lengths"], strict=True
                )
            )
        ),
        {"source": "digits", "accuracy": 0.9, "accuracy_spread": 0.01, "permuted": 0.7,
         "permuted_spread": 0.02, "adding_error": [0.001], "adding_worst": [0.002],
         "lengths": [50]},
        {"source": "digits", "accuracy": 0.9, "accuracy_spread": 0.01, "permuted": 0.7,
         "permuted_spread": 0.02, "adding_error": [0.01], "adding_worst": [0.17],
         "lengths": [50]},
    ),
    _versus("001.Q1", "A bent residual ρ(Rh) loses nothing against the linear one.",
            "open question: ReLU, leaky ReLU, tanh", rules.answered,
            "best bent residual", "informed"),
    _versus("001.Q2-GRU", "A GRU gains from standing behind a residual.",
            "open question", rules.answered, "GRU behind a residual", "GRU"),
    _versus("001.Q2-LSTM", "An LSTM gains from standing behind a residual.",
            "open question", rules.answered, "LSTM behind a residual", "LSTM"),
    _versus("001.Q3", "Informed residuals beat orthogonal initialisation and clipping.",
            "open question, same budget", rules.answered, "informed", "best Elman"),
    _statement(
        "001.Q4",
        "Weak coupling ends no earlier than γ = r(1 − e^−0.01)/‖W‖ (0.01 nats).",
        "open question: where does weak coupling end?",
        rules.ends,
        lambda e: "; ".join(
            f"N = {n}, r = {r:g}: γ = {m:.3g} (proved {p:.2g})"
            for n, r, m, p in zip(
                e["units"], e["radius"], e["measured"], e["proved"], strict=True
            )
            if m is not None
        ),
        {"units": [8], "radius": [0.9], "measured": [0.02], "proved": [0.005],
         "least_ratio": 2.5},
        {"units": [8], "radius": [0.9], "measured": [0.02], "proved": [0.005],
         "least_ratio": 0.5},
    ),
    _versus("001.Q5", "A residual informed by the data's spectrum beats the homogeneous one.",
            "open question: R from the power spectrum in one call", rules.answered,
            "informed", "homogeneous"),
    _versus("001.Q6", "A residual informed by the spectrum beats a heterogeneous one drawn blindly.",
            "not asked", rules.answered, "informed", "heterogeneous"),
)  # fmt: skip
