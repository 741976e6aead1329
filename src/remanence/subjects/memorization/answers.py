"""What we add to document 000: its open question, answered and measured."""

from ...report import Statement


def _units(least: int | None) -> str:
    return "by none" if least is None else str(least)


ANSWERS = (
    Statement(
        id="000.13",
        statement="Ours: the smallest d without feedback is the cheapest set of harmonics, "
        "every cheaper one refuted by proof.",
        published="open question",
        rule=lambda e: (
            "holds" if e["proved"] and e["counts"] == e["checked"] else "refuted"
        ),
        measured=lambda e: (
            f"all {e['words']:,} necklaces up to period {e['up_to']} proved; "
            f"largest d {e['largest']}"
        ),
        example={
            "proved": True,
            "counts": {"6": {"2": 3, "3": 2}},
            "checked": {"6": {"2": 3, "3": 2}},
            "words": 30,
            "up_to": 8,
            "largest": 4,
        },
        contrary={
            "proved": True,
            "counts": {"6": {"2": 4, "3": 1}},
            "checked": {"6": {"2": 3, "3": 2}},
            "words": 30,
            "up_to": 8,
            "largest": 3,
        },
    ),
    Statement(
        id="000.14",
        statement="Ours: no real W_h, of any order or none, beats that optimum for a periodic "
        "string (theorem; here tried with drawn matrices).",
        published="open question",
        rule=lambda e: "refuted" if e["beaten"] else "holds",
        measured=lambda e: f"{e['beaten']} of {e['attempts']} drawn W_h did better",
        example={"attempts": 10, "beaten": 0},
        contrary={"attempts": 10, "beaten": 1},
    ),
    Statement(
        id="000.15",
        statement="Ours: with feedback one unit spells every string, at exponent log n and "
        "p·log2 n bits of state.",
        published="open question",
        rule=lambda e: (
            "holds"
            if e["recalled"] == e["tried"]
            and abs(e["bits"] - e["bits_expected"]) <= e["bits_slack"]
            and abs(e["exponent"] - e["log_n"]) < 1e-6
            else "refuted"
        ),
        measured=lambda e: (
            f"{e['recalled']} of {e['tried']}; {e['bits']} bits "
            f"(p·log2 n = {e['bits_expected']:.1f}), exponent {e['exponent']:.4f}; "
            f"float32 errs at step {e['error_float32']}, float64 at {e['error_float64']}"
        ),
        example={
            "tried": 9,
            "recalled": 9,
            "bits": 26,
            "bits_expected": 25.5,
            "bits_slack": 5,
            "exponent": 1.6094379,
            "log_n": 1.6094379,
            "error_float32": 11,
            "error_float64": 23,
        },
        contrary={
            "tried": 9,
            "recalled": 9,
            "bits": 60,
            "bits_expected": 25.5,
            "bits_slack": 5,
            "exponent": 1.6094379,
            "log_n": 1.6094379,
            "error_float32": 11,
            "error_float64": 23,
        },
    ),
    Statement(
        id="000.16",
        statement="Ours: dimension trades against stability: one unit is chaotic, rotations "
        "are marginal, d = p can contract.",
        published="open question",
        rule=lambda e: (
            "holds"
            if e["one_unit"] > 0 >= e["harmonic"] > e["contracting"]
            else "refuted"
        ),
        measured=lambda e: (
            f"exponents {e['one_unit']:.2f} (d = 1), {e['harmonic']:.2f} "
            f"(d = {e['harmonic_units']}), {e['contracting']:.2f} (d = {e['period']})"
        ),
        example={
            "one_unit": 1.6,
            "harmonic": 0.0,
            "contracting": -1.8,
            "harmonic_units": 2,
            "period": 11,
        },
        contrary={
            "one_unit": -0.1,
            "harmonic": 0.0,
            "contracting": -1.8,
            "harmonic_units": 2,
            "period": 11,
        },
    ),
    Statement(
        id="000.17",
        statement="Ours: gradient descent on a linear network needs at least d* units to keep "
        "a string.",
        published="not asked",
        rule=lambda e: (
            "open"
            if not any(e["kept_by"].values())
            else (
                "holds"
                if all(
                    k is None or k >= e["needed"][w] for w, k in e["kept_by"].items()
                )
                else "refuted"
            )
        ),
        measured=lambda e: "; ".join(
            f"{w}: d* {e['needed'][w]}, shown {_units(e['learned_by'][w])}, "
            f"kept {_units(e['kept_by'][w])}, tanh {_units(e['tanh_by'][w])}"
            for w in e["needed"]
        ),
        example={
            "needed": {"0001": 2},
            "learned_by": {"0001": 2},
            "kept_by": {"0001": 3},
            "tanh_by": {"0001": 2},
        },
        contrary={
            "needed": {"0001": 2},
            "learned_by": {"0001": 1},
            "kept_by": {"0001": 1},
            "tanh_by": {"0001": 2},
        },
    ),
    Statement(
        id="000.18",
        statement="Ours: what a linear network learns lies at the p-th roots of unity.",
        published="not asked",
        rule=lambda e: (
            "holds"
            if e["near"] >= 0.9 * e["networks"] > 0
            else (
                "differs" if e["angles_near"] >= 0.5 * e["networks"] > 0 else "refuted"
            )
        ),
        measured=lambda e: (
            f"{e['near']} of {e['networks']} networks near roots of unity, "
            f"{e['angles_near']} in angle only; median radius {e['median_radius']:.3f}; "
            f"nearest: {', '.join(f'{kind} ({n})' for kind, n in e['nearest'].items())}"
        ),
        example={
            "networks": 10,
            "near": 9,
            "angles_near": 10,
            "median_radius": 1.0,
            "nearest": {"harmonic": 9},
        },
        contrary={
            "networks": 10,
            "near": 0,
            "angles_near": 2,
            "median_radius": 1.1,
            "nearest": {"none": 10},
        },
    ),
    Statement(
        id="000.19",
        statement="Ours: per word one unit does with less than log n. Every binary word of "
        "period 7 is said with |a| ≤ 1.47, and some words by a contracting unit.",
        published="open question",
        rule=lambda e: (
            "holds"
            if e["exact"]
            and 1.46 < e["largest_of_period_7"] < 1.47
            and e["contracting"] > 0
            else "refuted"
        ),
        measured=lambda e: (
            f"least |a| exact for all {e['words']:,} necklaces up to period {e['up_to']}: "
            f"at most {e['largest_of_period_7']:.5f} at period 7 and {e['largest']:.5f} at "
            f"all; {e['contracting']} have contracting memories"
        ),
        example={
            "exact": True,
            "words": 60,
            "up_to": 9,
            "largest_of_period_7": 1.46557,
            "largest": 1.6,
            "contracting": 12,
        },
        contrary={
            "exact": True,
            "words": 60,
            "up_to": 9,
            "largest_of_period_7": 1.6,
            "largest": 1.6,
            "contracting": 12,
        },
    ),
)
