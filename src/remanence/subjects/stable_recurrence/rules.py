"""The rules that judge document 004, and what they say was measured."""

import math


def within(e):
    """Bounds hold when no measured gap passes them."""
    return "holds" if e["largest_ratio"] <= 1 else "refuted"


def lemma_1(e):
    """The bound holds; as printed it fails where the map moves zero."""
    if e["largest_ratio"] > 1 or e["moving_gap"] > e["moving_corrected"]:
        return "refuted"
    return "differs" if e["moving_gap"] > e["moving_printed"] else "holds"


def proposition(e):
    """Bounded with steps α/t, and not without."""
    if e["decaying_ratio"] > 1:
        return "refuted"
    # The claim has two halves: the bound holds with alpha/t, and fails without.
    return "holds" if e["constant_over_bound"] > 1 else "differs"


def gaps(e):
    """Stable minus free in nats a token, least and largest over draws."""
    nats = {n: [math.log(v) for v in vs] for n, vs in e["perplexity"].items()}
    # A chord has four voices, so it counts as four tokens.
    nats |= {n: [v / 4 for v in vs] for n, vs in e.get("jsb_nll", {}).items()}
    found = {}
    for kind in sorted({name.rsplit(" ", 1)[0] for name in nats}):
        held, free = (nats.get(f"{kind} {end}", []) for end in ("stable", "free"))
        if min(len(held), len(free)) > 1:
            found[kind] = (min(held) - max(free), max(held) - min(free))
    return found


def matching(e):
    """Stable models lose at most a twentieth of perplexity, whatever the draws."""
    # One draw has no spread: only pairs with more are judged.
    found = gaps(e).values()
    if not found:
        return "open"
    if any(least > math.log(1.3) for least, _ in found):
        return "refuted"
    if any(least > math.log(1.05) for least, _ in found):
        return "differs"
    most = max(largest for _, largest in found)
    return "holds" if most <= math.log(1.05) else "open"


def scores(e):
    """Every score, with its range over draws."""
    told = e["perplexity"] | e.get("jsb_nll", {})
    said = [
        f"{name} {sum(v) / len(v):.4g}"
        + (f" ({min(v):.4g} to {max(v):.4g}, {len(v)} draws)" if len(v) > 1 else "")
        for name, v in told.items()
    ]
    return ", ".join(said + [f"{name} diverged" for name in e.get("diverged", ())])


def close(e):
    """Weights of truncated and full training; on text, at the longest window."""
    text = [v[-1] for name, v in e.get("text", {}).items() if name.endswith("free")]
    worst = max([e["free_apart"], *text])
    return "holds" if worst < 0.1 else "differs" if worst < 0.5 else "refuted"


def weights_apart(e):
    """The distance of truncated from full training, in words."""
    said = (
        f"longest window: {e['stable_apart']:.2g} of the way moved when stable, "
        f"{e['free_apart']:.2g} when W starts at norm {e['norm']:g}"
    )
    if "text" not in e:
        return said
    k = e["text_windows"][-1]
    text = ", ".join(f"{name} {v[-1]:.2g}" for name, v in e["text"].items())
    return f"{said}; on text, {k} of {e['text_length']} tokens: {text}"


def costs(e):
    """Stable models fail at the longest length and never below their floor."""
    if any(task["least_excess"] < 0 for task in e.values()):
        return "refuted"
    fails = [t["stable"] > 0.8 * t["chance"] > t["free"] for t in e.values()]
    return "holds" if all(fails) else "differs"


def lengths(e):
    """Losses at the longest length, in words."""
    return "; ".join(
        f"{name} at {t['length']}: stable {t['stable']:.3g}, free {t['free']:.3g}, proved "
        f"floor {t['floor']:.3g}, forgetting {t['chance']:.3g}"
        for name, t in e.items()
    )


def faded(e):
    """What a short window costs, in words."""
    said = f"a window of {e['window']} costs at most {100 * (e['worst_loss'] - 1):.2g} % of perplexity"
    if "jsb" in e:
        said += f"; chorales {max(e['jsb'].values()):+.2g} nats"
    if "adding_full" in e:
        said += (
            f"; the adding problem by half its inputs: mse {e['adding_window']:.3f} "
            f"against {e['adding_full']:.3f}"
        )
    return said


def effectively_stable(e):
    """The largest exponents of free models are below zero, errors counted.

    Refuted by one that is above zero beyond its error; what its error or an unsettled
    exponent leaves undecided is open.
    """
    pairs = list(zip(e["exponents"], e["stderrs"], strict=True))
    if any(v - 2 * s > 0 for v, s in pairs):
        return "refuted"
    settled = all(e["converged"])
    return "holds" if settled and all(v + 2 * s < 0 for v, s in pairs) else "open"
