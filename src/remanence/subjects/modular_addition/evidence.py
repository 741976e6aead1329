"""What was found, as plain numbers for the rules of the statements."""

from typing import Any

import numpy as np
import xarray as xr

from ...measure.fourier import key_frequencies, wave_fit_error
from .ablations import Ablations
from .dissection import Dissection, node_tables, NODES
from .fit_modular import ModularFit


def sharing(found: list[Dissection]) -> dict[str, Any]:
    """Key frequencies of every node and how far they are those of the unembedding."""
    common = {
        n: mean(overlap(d.nodes[n].frequencies, d.key) for d in found) for n in NODES
    }
    energy = {
        n: mean(sum(d.nodes[n].shares[k - 1] for k in d.key) for d in found)
        for n in NODES
    }
    return {
        "counts": [len(d.key) for d in found],
        "frequencies": [list(d.key) for d in found],
        "by_node": [{n: list(d.nodes[n].frequencies) for n in NODES} for d in found],
        "overlap": common,
        "jaccard": mean(common.values()),
        "energy": energy,
        "energy_of_drives": [d.driven for d in found],
        "possible": found[0].task.period // 2,
        "accuracy": [d.accuracy for d in found],
    }


def ranks(found: list[Dissection], fits: list[ModularFit]) -> dict[str, Any]:
    """Smallest ranks that keep every answer, by matrix and seed."""
    names = tuple(found[0].ranks)
    least = lambda r: len(r.singular_values) if r.rank is None else r.rank
    return {
        "ranks": {n: [least(d.ranks[n]) for d in found] for n in names},
        "settled": {n: [d.ranks[n].settled for d in found] for n in names},
        "energy": {n: mean(d.ranks[n].energy or 1.0 for d in found) for n in names},
        "full": {n: len(found[0].ranks[n].singular_values) for n in names},
        "held_out": [float(fit.history.held_out[-1]) for fit in fits],
    }


def pairing(found: list[Dissection]) -> dict[str, Any]:
    """Do consecutive singular vectors of the unembedding share their frequency?"""
    same, purity = [], []
    for d in found:
        _, frequencies, shares = d.vectors
        same += [bool(x == y) for x, y in frequencies.reshape(-1, 2)]
        purity += shares.tolist()
    return {
        "paired": mean(same),
        "pairs": len(same),
        "purity": mean(purity),
        "frequencies": [d.vectors[1].tolist() for d in found],
        "by_matrix": {
            name: {
                "paired": mean(
                    x == y
                    for d in found
                    for x, y in np.reshape(d.directions[name][0], (-1, 2))
                ),
                "purity": mean(s for d in found for s in d.directions[name][1]),
                "frequencies": [d.directions[name][0] for d in found],
            }
            for name in found[0].directions
        },
    }


def fitting(found: list[Dissection]) -> dict[str, Any]:
    """Relative errors of the fits by waves of the answer."""
    return {
        "by_frequency": [e for d in found for e in d.fits_by_frequency.values()],
        "logits": [d.fits["logits"] for d in found],
        "h3": [d.fits["h3"] for d in found],
        "h3_averaged": [d.fits["h3 averaged"] for d in found],
    }


def robustness(cuts: list[Ablations], found: list[Dissection]) -> dict[str, Any]:
    """Accuracy with one key frequency removed, and with half of them or more."""
    single, several = [], []
    for cut, d in zip(cuts, found, strict=True):
        single += [cut.single["embedding"][k] for k in d.key]
        half = max(2, (len(d.key) + 1) // 2)
        several += [a for size in cut.growing["embedding"][half:] for a in size]
    places = {
        place: [mean(mean(cut.growing[place][s]) for cut in cuts) for s in (1, -1)]
        for place in cuts[0].growing
    }
    return {
        "single": mean(single),
        "intact": mean(a >= 0.99 for a in single),
        "several": mean(several),
        "one_and_all_removed": places,
        "single_by_place": {
            place: {
                "key": [
                    [cut.single[place][k] for k in d.key]
                    for cut, d in zip(cuts, found, strict=True)
                ],
                "worst_other": [
                    min(
                        (a for k, a in cut.single[place].items() if k not in d.key),
                        default=None,
                    )
                    for cut, d in zip(cuts, found, strict=True)
                ],
            }
            for place in cuts[0].single
        },
        "pairs": _pairs_removed(cuts[0], found[0].key),
    }


def _pairs_removed(cut: Ablations, key: tuple[int, ...]) -> dict[str, Any]:
    """Mean accuracy over all pairs of frequencies by how many of the two are key."""
    if cut.pairs is None:
        return {}
    is_key = np.isin(cut.pairs.frequency.values, key).astype(int)
    several = is_key[:, None] + is_key
    upper = np.triu(np.ones(several.shape, dtype=bool), 1)
    means = {}
    for place in cut.pairs.place.values:
        table = cut.pairs.sel(place=place).values
        chosen = [table[(several == n) & upper] for n in range(3)]
        means[str(place)] = [mean(a) if len(a) else None for a in chosen]
    return means


def causality(cuts: list[Ablations]) -> dict[str, Any]:
    """The least change of later states, and the accuracy with all key frequencies cut."""
    return {
        "change": {k: min(cut.causal[k] for cut in cuts) for k in cuts[0].causal},
        "all_removed": {
            place: max(cut.growing[place][-1][0] for cut in cuts)
            for place in ("h1", "h2", "h3")
        },
    }


def controls(
    found: list[Dissection], fits: list[ModularFit], cuts: list[Ablations]
) -> dict[str, Any]:
    """Shuffled weights through the same rule; random frequencies through the same fit."""
    false, fitted, random = [], [], np.random.default_rng(0)
    for d, fit in zip(found, fits, strict=True):
        tables = node_tables(fit.net, d.task)
        for trial in range(20):
            shuffled = random.permutation(tables["W_E" if trial % 2 else "W_fc"])
            false.append(len(key_frequencies(shuffled, seed=trial).frequencies) > 0)
        others = [k for k in range(1, d.task.period // 2 + 1) if k not in d.key]
        count = min(len(d.key), len(others))
        drawn = random.choice(others, count, replace=False).tolist()
        logits = tables["h3"] @ tables["W_fc"].T
        fitted.append(wave_fit_error(logits, d.task.phases, drawn))
    return {
        "false_keys": mean(false),
        "shuffles": len(false),
        "random_fit": mean(fitted),
        "random_removed": mean(a for cut in cuts for a in cut.control[-1]),
        "key_removed": mean(a for cut in cuts for a in cut.growing["embedding"][-1]),
    }


def dependence(counts: xr.Dataset) -> dict[str, Any]:
    """Mean counts along each axis of the sweep, and how far they differ."""
    means, span = {}, {}
    for name in ("fraction", "decay", "width"):
        values = counts[f"count by {name}"].transpose(name, "seed").values
        each = [
            float(np.nanmean(row)) if np.isfinite(row).any() else None for row in values
        ]
        known = [m for m in each if m is not None]
        means[name] = [[float(x) for x in counts[name].values], each]
        span[name] = max(known) - min(known) if known else None
    which = counts["key"].values.reshape(-1, counts.sizes["frequency"])
    learned = np.isfinite(counts["count"].values).ravel()
    return {
        "means": means,
        "span": span,
        "learned": [int(learned.sum()), len(learned)],
        "which": [counts.frequency.values[row].tolist() for row in which[learned]],
        "chosen": which[learned].sum(0).tolist(),
    }


def overlap(one: tuple[int, ...], other: tuple[int, ...]) -> float:
    """Size of the intersection over that of the union."""
    return len({*one} & {*other}) / max(len({*one} | {*other}), 1)


def mean(values: Any) -> float:
    """The mean as a plain number."""
    return float(np.mean([float(v) for v in values]))


def number(value: Any) -> float | None:
    """A plain number, or None for what is not finite."""
    return None if value is None or not np.isfinite(value) else float(value)
