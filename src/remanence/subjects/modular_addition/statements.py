"""What document 002 says, and what is asked beyond it."""

from ...report import Evidence, Statement
from . import rules


def _list(values) -> str:
    return ", ".join(f"{v:.3g}" for v in values)


def _networks(e: Evidence) -> str:
    if not e["networks"]:
        return "none trained"
    return "; ".join(
        f"{name.replace('-', '−')}: held-out {100 * c['held_out']:.3g} %, {c['count']} frequencies with "
        f"{100 * c['share']:.0f} % of W_fc"
        for name, c in e["networks"].items()
    )


STATEMENTS = (
    Statement(
        id="002.1",
        statement="All tensors (W_E, h_1, h_2, h_3, W_fc) share the same few frequencies.",
        published="6 of 56: 6, 15, 20, 29, 47, 54",
        rule=rules.shared,
        measured=lambda e: (
            f"{_list(e['counts'])} of {e['possible']}; overlap {e['jaccard']:.2f}; "
            f"they hold {100 * e['energy']['W_E']:.0f} % of W_E, {100 * e['energy']['W_fc']:.0f} % of W_fc"
        ),
        example={
            "counts": [6, 6],
            "jaccard": 0.95,
            "possible": 56,
            "energy": {"W_E": 0.9, "W_fc": 0.9},
        },
        contrary={
            "counts": [6, 6],
            "jaccard": 0.2,
            "possible": 56,
            "energy": {"W_E": 0.9, "W_fc": 0.9},
        },
    ),
    Statement(
        id="002.2",
        statement="A low rank keeps 100 % accuracy: 12 for W_E, W_fc and W_ih, 32 for W_hh.",
        published="12, 12, 12, 32 (energy 85.4, 95.5, 91.4, 89.4 %)",
        rule=rules.ranks,
        measured=lambda e: "; ".join(
            f"{name} {_list(e['ranks'][name])} ({100 * e['energy'][name]:.0f} %)"
            for name in ("W_E", "W_fc", "W_ih", "W_hh")
        ),
        example={
            "ranks": {"W_E": [12], "W_fc": [12], "W_ih": [12], "W_hh": [32]},
            "full": {"W_E": 113, "W_fc": 113, "W_ih": 128, "W_hh": 128},
            "energy": {"W_E": 0.85, "W_fc": 0.95, "W_ih": 0.91, "W_hh": 0.89},
        },
        contrary={
            "ranks": {"W_E": [90], "W_fc": [12], "W_ih": [12], "W_hh": [32]},
            "full": {"W_E": 113, "W_fc": 113, "W_ih": 128, "W_hh": 128},
            "energy": {"W_E": 0.85, "W_fc": 0.95, "W_ih": 0.91, "W_hh": 0.89},
        },
    ),
    Statement(
        id="002.3",
        statement="Consecutive pairs of singular vectors of W_fc belong to one frequency each.",
        published="all six pairs",
        rule=rules.pairs,
        measured=lambda e: (
            f"{100 * e['paired']:.0f} % of {e['pairs']} pairs; a vector has "
            f"{100 * e['purity']:.0f} % of its energy at its frequency"
        ),
        example={"paired": 1.0, "pairs": 12, "purity": 0.95},
        contrary={"paired": 0.2, "pairs": 12, "purity": 0.5},
    ),
    Statement(
        id="002.4",
        statement="The last layer is Fourier multiplication: waves of ω_k(a+b) fit it.",
        published="relative errors 1e-3 to 1e-2",
        rule=rules.fit,
        measured=lambda e: (
            f"read-out waves {min(e['by_frequency']):.2g} to {max(e['by_frequency']):.2g} "
            f"(squared {min(e['by_frequency']) ** 2:.1g} to {max(e['by_frequency']) ** 2:.1g}); "
            f"logits {_list(e['logits'])}; h_3 itself {_list(e['h3'])}"
        ),
        example={"by_frequency": [0.005], "logits": [0.01], "h3": [0.01]},
        contrary={"by_frequency": [0.9], "logits": [0.9], "h3": [0.9]},
    ),
    Statement(
        id="002.5",
        statement="Removing one frequency often leaves accuracy intact; removing several destroys it.",
        published="robust to one, drastic with more",
        rule=rules.robust,
        measured=lambda e: (
            f"one removed: {100 * e['single']:.0f} % right, {100 * e['intact']:.0f} % of cases "
            f"above 99 %; half or more removed: {100 * e['several']:.0f} %"
        ),
        example={"single": 0.97, "intact": 0.7, "several": 0.2},
        contrary={"single": 0.1, "intact": 0.0, "several": 0.2},
    ),
    Statement(
        id="002.6",
        statement="The rank that W_E, W_ih and W_fc need is twice the number of key frequencies.",
        published="12 = 2 × 6 (noted, not claimed)",
        rule=rules.law,
        measured=lambda e: (
            f"twice the count {_list(2 * c for c in e['counts'])}; W_E {_list(e['ranks']['W_E'])}, "
            f"W_ih {_list(e['ranks']['W_ih'])}, W_fc {_list(e['ranks']['W_fc'])}"
        ),
        example={
            "counts": [6],
            "ranks": {"W_E": [12], "W_ih": [12], "W_fc": [12]},
        },
        contrary={
            "counts": [6],
            "ranks": {"W_E": [40], "W_ih": [40], "W_fc": [40]},
        },
    ),
    Statement(
        id="002.7",
        statement="A frequency cut from a state inside the recurrence is missed by all later states.",
        published="not in the document (beyond)",
        rule=rules.causal,
        measured=lambda e: (
            "relative change "
            + ", ".join(f"{k} {v:.2f}" for k, v in e["change"].items())
            + "; all key frequencies cut: "
            + ", ".join(f"{k} {100 * v:.0f} %" for k, v in e["all_removed"].items())
        ),
        example={"change": {"h1 to h3": 0.3}, "all_removed": {"h1": 0.02}},
        contrary={"change": {"h1 to h3": 0.0}, "all_removed": {"h1": 1.0}},
    ),
    Statement(
        id="002.8",
        statement="Shuffled weights have no key frequencies, and random ones are neither missed nor fitted.",
        published="not in the document (control)",
        rule=rules.null,
        measured=lambda e: (
            f"shuffled tables with a key frequency {100 * e['false_keys']:.1f} % (rule allows 1 %); "
            f"as many others removed {100 * e['random_removed']:.0f} % right, key ones "
            f"{100 * e['key_removed']:.0f} %; fit by random frequencies {e['random_fit']:.2f}"
        ),
        example={
            "false_keys": 0.01,
            "random_removed": 1.0,
            "key_removed": 0.02,
            "random_fit": 0.99,
        },
        contrary={
            "false_keys": 0.6,
            "random_removed": 0.1,
            "key_removed": 0.02,
            "random_fit": 0.3,
        },
    ),
    Statement(
        id="002.9",
        statement="Other cells (LSTM, GRU, residual) find a few shared frequencies too.",
        published="not in the document (beyond)",
        rule=rules.everywhere,
        measured=lambda e: _networks(e),
        example={"networks": {"gru": {"held_out": 1.0, "count": 4, "share": 0.8}}},
        contrary={"networks": {"gru": {"held_out": 1.0, "count": 0, "share": 0.0}}},
    ),
    Statement(
        id="002.10",
        statement="Subtraction and multiplication use the characters of their own group.",
        published="not in the document (beyond)",
        rule=rules.everywhere,
        measured=lambda e: _networks(e),
        example={"networks": {"×": {"held_out": 1.0, "count": 4, "share": 0.8}}},
        contrary={"networks": {"×": {"held_out": 1.0, "count": 0, "share": 0.0}}},
    ),
    Statement(
        id="002.11",
        statement="An exact adder can be written down from its frequencies, with 8 units each.",
        published="not in the document (beyond)",
        rule=rules.written,
        measured=lambda e: (
            f"{len(e['tried'])} tables all right, {min(r['right'] for r in e['tried']):.0%} at "
            f"worst; modulo {e['tried'][-1]['modulus']}: {e['tried'][-1]['units']} units, "
            f"margin {e['tried'][-1]['margin']:.3f}"
        ),
        example={"tried": [{"modulus": 113, "right": 1.0, "units": 24, "margin": 0.1}]},
        contrary={
            "tried": [{"modulus": 113, "right": 0.9, "units": 24, "margin": 0.1}]
        },
    ),
    Statement(
        id="002.12",
        statement="The learned adder lives in the subspaces of the written one.",
        published="not in the document (beyond)",
        rule=rules.alike,
        measured=lambda e: (
            "mean cosine of principal angles: "
            + ", ".join(f"{k} {v:.3f}" for k, v in e["mean_cosine"].items())
            + "; share of energy at other frequencies: "
            + ", ".join(f"{k} {v:.2f}" for k, v in e["spectra_apart"].items())
        ),
        example={
            "mean_cosine": {"W_E": 0.97, "W_fc": 0.99},
            "spectra_apart": {"W_fc": 0.1},
        },
        contrary={
            "mean_cosine": {"W_E": 0.2, "W_fc": 0.3},
            "spectra_apart": {"W_fc": 0.1},
        },
    ),
    Statement(
        id="002.13",
        statement="The network that learned to add forgets: driven by a stream of sums, its largest exponent is negative.",
        published="not in the document (beyond)",
        rule=rules.stable,
        measured=lambda e: (
            "exponents "
            + ", ".join("none" if x is None else f"{x:.3f}" for x in e["exponents"])
            + f" nats/step; certified rate {_list(e['rates'])} (1 or more proves nothing)"
        ),
        example={"exponents": [-0.5], "rates": [2.0]},
        contrary={"exponents": [0.5], "rates": [2.0]},
    ),
    Statement(
        id="002.14",
        statement="The number of frequencies depends on train fraction, weight decay and width.",
        published="6 at the document's settings",
        rule=rules.depends,
        measured=lambda e: "; ".join(
            f"{name} {_list(at)}: "
            + ", ".join("not learned" if m is None else f"{m:.1f}" for m in mean)
            for name, (at, mean) in e["means"].items()
        ),
        example={"span": {"width": 2.0}, "means": {"width": [[32, 64], [3.0, 5.0]]}},
        contrary={"span": {"width": 0.2}, "means": {"width": [[32, 64], [3.0, 3.2]]}},
    ),
    Statement(
        id="002.15",
        statement="Learned and written adders miss removed frequencies alike, in every place.",
        published="not in the document (beyond)",
        rule=rules.missed_alike,
        measured=lambda e: (
            "mean gap between the ablation curves: "
            + ", ".join(f"{k} {v:.2f}" for k, v in e["gap"].items())
        ),
        example={"gap": {"embedding": 0.05, "unembedding": 0.1}},
        contrary={"gap": {"embedding": 0.5, "unembedding": 0.6}},
    ),
)
