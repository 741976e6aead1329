"""The experiments in order, and the evidence that they give."""

from typing import Any

import numpy as np
import xarray as xr

from ...measure.connectivity import probability_connected
from ...report import Bench, Outcome
from ...report.cross import cross_table, Row
from .config import Config
from .figure_one import figure_one, GENERALISES, samples, spikes, thresholds
from .figures import figures
from .graphs import halves, square, wide
from .theory import equivalences, random_spectrum
from .toys import alignment, clocks, predictor, race, walls


def run(config: Config, bench: Bench) -> Outcome:
    """Figure 1, spikes, graphs, toys, theory; then claims and figures."""
    data: dict[str, Any] = {}
    bench.tell("random matrices, equivalences and the race")
    data["random"] = random_spectrum(config.random_size, bench.seed)
    same = equivalences(bench.seed)
    data["race"] = race(config)
    bench.tell("the toy: alignment, clocks, walls, the predictor")
    data["alignment"] = alignment(config, bench.seed)
    data["clocks"] = clocks(config, bench.seed)
    data["walls"] = walls(config, bench.seed)
    data["predictor"] = predictor(config, bench.seed)
    bench.tell("hundreds of graphs, H = D and H > D")
    data["graphs"] = square(config, bench)
    data["wide"] = wide(config, bench)
    bench.tell("Figure 1 under both masks")
    data["diagonal"], data["full"] = figure_one(config, bench)
    bench.tell("spikes again, with a safe step and by the flow")
    again = spikes(config, data["diagonal"], bench)
    if again is not None:
        data["spikes"] = again
    found = samples(config, bench)
    if found is not None:
        data["samples"] = found
    evidence = {
        **_graphs(config, data),
        **_masks(config, data),
        **_toy(data),
        "003.10": same,
    }
    if found is not None:
        evidence["003.13"] = _samples(found)
    data["cross"] = _cross(config, data)
    return Outcome(evidence, data, figures(data))


def _generalises(part: xr.Dataset) -> float:
    return float((part.test_loss < GENERALISES).mean()) if part.sizes["cell"] else 0.0


def _graphs(config: Config, data: dict[str, Any]) -> dict[str, Any]:
    done = data["graphs"].where(data["graphs"].ending == 0, drop=True)
    joined = done.where(done.connected == 1, drop=True)
    apart = done.where(done.connected == 0, drop=True)
    mean, stderr = halves(apart.across.values)
    # In Frobenius norm a block's error is at most its path length times the worst
    # taught block's, to first order; losses are squares of these.
    pairs = np.floor(joined.fraction * config.languages**2)
    worst = 2 * joined.words * joined.train_loss * pairs
    bound = (joined.longest_path**2) * worst / (2 * joined.words)
    over = joined.test_loss / bound
    wide_done = data["wide"].where(data["wide"].ending == 0, drop=True)
    by_scale = [
        wide_done.where((wide_done.scale == s) & (wide_done.connected == 1), drop=True)
        for s in config.wide_scales
    ]
    apart_wide = wide_done.where(wide_done.connected == 0, drop=True)
    finite = [t for t in thresholds(data["full"]) if np.isfinite(t)]
    chance = [probability_connected(10, n) for n in range(10, 40)]
    return {
        "003.1": {
            "connected": int(joined.sizes["cell"]),
            "connected_generalise": _generalises(joined),
            "disconnected": int(apart.sizes["cell"]),
            "disconnected_generalise": _generalises(apart),
            "unfinished": int(data["graphs"].sizes["cell"] - done.sizes["cell"]),
            "threshold_median": float(np.median(finite)) if finite else float("inf"),
            "half_connected": 10 + int(np.argmax(np.array(chance) >= 0.5)),
        },
        "003.2": {
            "across_mean": mean,
            "across_stderr": stderr,
            "across_by_scale": [
                halves(apart.across.values[apart.scale.values == s])[0]
                for s in config.graph_scales
            ],
            "disconnected_generalise": float(np.mean(apart.across.values < 0.05)),
        },
        "003.12": {
            "scales": list(config.wide_scales),
            "connected_generalise": [_generalises(part) for part in by_scale],
            "disconnected_generalise": float(np.mean(apart_wide.across.values < 0.05)),
        },
        "003.14": {
            "runs": int(joined.sizes["cell"]),
            "violations": int((over > 1).sum()),
            "tightest": float(over.max()),
        },
    }


def _masks(config: Config, data: dict[str, Any]) -> dict[str, Any]:
    diagonal, full = data["diagonal"], data["full"]
    low = diagonal.where(diagonal.test_loss < GENERALISES, drop=True)
    low_full = full.where(full.test_loss < GENERALISES, drop=True)
    again = data.get("spikes")
    walls_ = data["walls"]
    real = step = 0
    if again is not None:
        others = np.minimum(again.descent.values, again.flow.values)
        real = int((others >= GENERALISES).sum())
        step = int((others < GENERALISES).sum())
    middle = int(np.argmin(np.abs(walls_.wall.values - 0.5)))
    mean = lambda part, name: float(part[name].mean()) if part.sizes["cell"] else 0.0
    return {
        "003.3": {
            "tried": 0 if again is None else int(again.sizes["cell"]),
            "step_only": step,
            "real": real,
            "toy_walls": float(walls_.wall[middle]),
            "toy_wall_loss": float(np.nan_to_num(walls_.wall_loss[middle])),
        },
        "003.4": {
            "low_loss_runs": int(low.sizes["cell"]),
            "accuracy_diagonal": mean(low, "accuracy_untrained"),
            "rank_diagonal": mean(low, "rank"),
            "accuracy_full": mean(low_full, "accuracy_untrained"),
            "rank_full": mean(low_full, "rank"),
            "chance": 1 / config.words,
        },
    }


def _toy(data: dict[str, Any]) -> dict[str, Any]:
    aligned, clock, stuck = data["alignment"], data["clocks"], data["walls"]
    guess, race_, drawn = data["predictor"], data["race"], data["random"]
    x = clock.log10_scale.values
    two, three = clock.time.sel(factors=2).values, clock.time.sel(factors=3).values
    seen, foretold = guess.seen.values.ravel(), guess.foretold.values.ravel()
    values = drawn.singular_values.values
    numbers = lambda a: [float(v) for v in np.asarray(a)]
    return {
        "003.5": {
            "widths": [int(w) for w in aligned.width.values],
            "exponents": numbers(aligned.exponent),
            "laws": numbers(aligned.law),
        },
        "003.6": {
            "three_factor_spread": float(three.max() / three.min()),
            "decades": float(x.max() - x.min()),
            "two_factor_r2": float(np.corrcoef(x, two)[0, 1] ** 2),
        },
        "003.7": {
            "width": int(stuck.attrs.get("width", 2)),
            "log10_scales": numbers(stuck.log10_scale),
            "success": numbers(stuck.success),
            "widths": [int(w) for w in aligned.width.values],
            "needed": numbers(aligned.needed_log10_scale),
        },
        "003.8": {
            "final": numbers(race_.network[-1]),
            "largest_gap": float(np.abs(race_.network - race_.theory).max()),
            "conservation": float(
                np.abs(race_.conserved_network - race_.conserved_network[0]).max()
            ),
            "final_gap": float(np.abs(race_.drawn / race_.cube_root - 1).max()),
        },
        "003.9": {
            "size": int(values.shape[1]),
            "outlier_ratio": numbers(values[:, 0] / drawn.outlier_law.values),
            "edge_ratio": numbers(values[:, 1] / drawn.edge_law.values),
            "document_edge_ratio": numbers(values[:, 1] / drawn.document_edge.values),
        },
        "003.11": {
            "graphs": int(guess.sizes["graph"]),
            "scales": int(guess.sizes["log10_scale"]),
            "brier": float(np.mean((seen - foretold) ** 2)),
            "brier_of_the_mean": float(np.var(seen)),
            "accuracy": float(np.mean((seen > 0.5) == (foretold > 0.5))),
        },
    }


def _samples(found: xr.Dataset) -> dict[str, Any]:
    names = [
        f"frac={float(c.fraction):g} sigma={float(c.scale):g} seed={int(c.seed)}"
        for i in range(found.sizes["cell"])
        if not bool((c := found.isel(cell=i)).same_side)
    ]
    return {
        "cells": int(found.sizes["cell"]),
        "within_one_percent": int((found.relative < 0.01).sum()),
        "same_side": int(found.same_side.sum()),
        "relative": [float(v) for v in found.relative.values],
        "apart": "; ".join(names),
    }


def _cross(config: Config, data: dict[str, Any]) -> xr.Dataset:
    """A gated linear network has no time: only its dimension and rank have a meaning."""
    rows = []
    for mask in ("full", "diagonal"):
        low = data[mask].where(data[mask].test_loss < GENERALISES, drop=True)
        if low.sizes["cell"]:
            rows.append(
                Row(
                    network=f"gated linear, {mask} mask, D = {config.words}",
                    dimension=config.units,
                    rank=round(float(low["rank"].median()), 1),
                )
            )
    return cross_table(rows)
