"""The study of document 000: each sentence tried, then the open question answered."""

import collections
import math

import numpy as np
import xarray as xr

from ...report import Bench, Evidence, Outcome
from ...report.cross import cross_table
from . import checks
from .atlas import atlas, distribution
from .config import Config
from .cross import cross_rows
from .figures import figures
from .frontier import frontier, Point
from .learned import learned, needed, smallest
from .readings import NEAR, Reading, readings
from .stability import least_factors, one_unit_evidence
from .words import word


CHECKED = {
    6: {"2": 3, "3": 2},
    7: {"2": 7, "4": 2},
    8: {"2": 7, "3": 4, "4": 5},
    9: {"2": 10, "4": 18},
}
"""Counts that an independent prototype had found before."""


def run(config: Config, bench: Bench) -> Outcome:
    """Everything of one profile."""
    bench.tell("the document's sentences")
    evidence: dict[str, Evidence] = {
        "000.1": checks.half_planes(config),
        "000.2": checks.turns(),
        "000.3": checks.strings(config, "permutation", bench.seed),
        "000.4": checks.powers(),
        "000.5": checks.totients(),
        "000.6": checks.tokens(config, bench.seed + 1),
        "000.7": checks.standard(config, bench.seed + 2),
        "000.8": checks.factors(),
        "000.9": checks.coefficients(),
        "000.10": checks.rational_order(),
        "000.11": checks.rotations(),
        "000.12": checks.two_units(),
        "000.14": checks.drawn_matrices(config, bench.seed + 3),
    }
    table = atlas(config.periods, bench)
    counts = {str(p): distribution(table, p) for p in CHECKED if p <= config.periods}
    evidence["000.13"] = {
        "proved": bool(table.proved.all()),
        "counts": counts,
        "checked": {str(p): c for p, c in CHECKED.items() if p <= config.periods},
        "words": int(table["real"].sum()),
        "up_to": config.periods,
        "largest": int(table.dimension[(table["real"].sum("period") > 0).values].max()),
    }
    least = least_factors(config.feedback_periods, bench)
    evidence["000.19"] = one_unit_evidence(least)
    bench.tell(
        f"the frontier of {config.word!r}: every construction, {config.steps:,} steps"
    )
    points = frontier(
        config.word, steps=config.steps, directions=config.directions, seed=bench.seed
    )
    by_method = {p.method: p for p in points}
    evidence["000.15"] = _one_unit(config, bench, by_method["shift"])
    evidence["000.16"] = {
        "one_unit": by_method["shift"].exponent,
        "harmonic": by_method["harmonic"].exponent,
        "harmonic_units": by_method["harmonic"].dimension,
        "contracting": by_method["tanh"].exponent,
        "period": by_method["tanh"].dimension,
    }
    bench.tell("learned memory: one batch of words, kinds, sizes and seeds")
    trained = learned(config, bench)
    read = readings(trained)
    evidence["000.17"] = _sizes(config, trained)
    evidence["000.18"] = _roots(read)
    bench.tell("the cross table")
    data = {
        "atlas": table,
        "stability": least,
        "frontier": frontier_table(points),
        "learned": trained.drop_vars(["W_h", "W_y", "h_0"]),
        "cross": cross_table(cross_rows(config.word)),
    }
    return Outcome(
        evidence=evidence,
        data=data,
        figures=figures(config, table, least, points, trained, read),
    )


def _one_unit(config: Config, bench: Bench, point: Point) -> Evidence:
    w = word(config.word)
    n = len(w.used)
    return {
        **checks.strings(config, "shift", bench.seed + 4),
        "bits": point.bits,
        "bits_expected": w.period * math.log2(n),
        "bits_slack": math.ceil(2 * math.log2(n)),
        "exponent": point.exponent,
        "log_n": math.log(n),
        "error_float32": point.error_float32,
        "error_float64": point.error_float64,
    }


def _sizes(config: Config, table: xr.Dataset) -> Evidence:
    words = config.learned_words
    kept = table.assign(learned=table.kept)
    return {
        "needed": {w: needed(w) for w in words},
        "learned_by": {w: smallest(table, w, "linear") for w in words},
        "kept_by": {w: smallest(kept, w, "linear") for w in words},
        "tanh_by": {w: smallest(table, w, "tanh") for w in words},
    }


def _roots(read: list[tuple[str, int, int, Reading]]) -> Evidence:
    radii = [abs(z) for *_, r in read for z in r.eigenvalues]
    return {
        "networks": len(read),
        "near": sum(r.distance <= NEAR for *_, r in read if r.eigenvalues),
        "angles_near": sum(r.nearest != "none" for *_, r in read),
        "median_radius": float(np.median(radii)) if radii else math.nan,
        "nearest": dict(
            sorted(collections.Counter(r.nearest for *_, r in read).items())
        ),
    }


def frontier_table(points: list[Point]) -> xr.Dataset:
    """The frontier as a dataset along `method`; NaN where nothing went wrong."""
    number = lambda value: math.nan if value is None else float(value)
    names = [f for f in Point.__dataclass_fields__ if f != "method"]
    return xr.Dataset(
        {
            name: ("method", np.array([number(getattr(p, name)) for p in points]))
            for name in names
        },
        coords={"method": np.array([p.method for p in points], dtype=np.str_)},
    )
