"""The evidence for each statement, read off the tables of the experiments."""

import math
from typing import Any

import jax.numpy as jnp
import numpy as np
import xarray as xr

from ..._precision import as_double, double
from ...cells import Residual
from ...measure import exponents_along
from ...tasks import Pixels
from .comparison import beats, rows_of, summary, tuned, versus
from .config import Config
from .weak_coupling import coupling_evidence, fitted_slope, proved_ends, where_it_ends


def spectral_evidence(
    config: Config, spectra: xr.Dataset, blocks: xr.Dataset, gradients: xr.Dataset
) -> dict[str, Any]:
    """What the untrained networks show: exponents, slopes, gradients."""
    gamma = blocks.coupling.values
    weak, usual = (
        gradients.isel(coupling=i).left.transpose("seed", "radius") for i in (0, 1)
    )
    T, r = gradients.attrs["length"], gradients.radius.values
    with double():
        bare = as_double(
            Residual(0.97, jnp.eye(config.units), jnp.ones((config.units, 1)))
        )
        bare = Residual(0.97, bare.W_h, bare.W_x, None, 0.0)
        exact = exponents_along(bare, bare.initial_state(), jnp.ones((50, 1)))
        gap = float(jnp.abs(exact - math.log(0.97)).max())
    usual_gap = spectra.gap.sel(coupling=config.coupling, method="nearest")
    each, proof = where_it_ends(spectra).coupling, proved_ends(spectra)
    ends = each.mean("seed", skipna=False)
    proved = proof.transpose("units", "radius", "seed").mean("seed")
    slopes = [float(np.polyfit(T * np.log(r), row, 1)[0]) for row in weak.values]
    flat = lambda values: [float(v) for v in np.asarray(values).ravel()]
    units, radius = np.meshgrid(ends.units.values, ends.radius.values, indexing="ij")
    measured = [None if math.isnan(v) else v for v in flat(ends.values)]
    return {
        "001.1": coupling_evidence(spectra),
        "001.1-defective": {
            "units": [int(n) for n in blocks.units.values],
            "slopes": [fitted_slope(gamma, row) for row in blocks.moved.values],
        },
        "001.2": {
            "gap_without_coupling": gap,
            "count": int(exact.shape[0]),
            "units": config.units,
            "gap_coupled": float(usual_gap.max()),
            "coupling": config.coupling,
        },
        "001.3-gradient": {
            "slope_weak": float(np.mean(slopes)),
            "slope_least": min(slopes),
            "slope_most": max(slopes),
            "coupling": config.coupling,
            "even_radius": float(np.interp(0.0, usual.mean("seed").values, r)),
        },
        "001.Q4": {
            "units": [int(n) for n in units.ravel()],
            "radius": flat(radius),
            "measured": measured,
            "proved": flat(proved),
            "least_ratio": float((each / proof).min()),
        },
    }


def angle_evidence(table: xr.Dataset, task: Pixels, informed: Any) -> dict[str, Any]:
    """The best angle beside that of a row, with pixels in order and permuted."""
    row = 2 * math.pi / task.side
    falls, means, ranges = {}, {}, {}
    for where in ("sequential", "permuted"):
        rows = rows_of(table, f"angle, {where}")
        final, angles = rows.accuracy.isel(mark=-1).values, rows.value.values
        at, far = int(np.abs(angles - row).argmin()), int(angles.argmax())
        falls[where] = beats(final[at], final[far])
        means[where] = [float(final[at].mean()), float(final[far].mean())]
        ranges[where] = float(np.ptp(final[angles > 0].mean(1)))
    rows = rows_of(table, "angle, sequential")
    final, angles = rows.accuracy.isel(mark=-1).values, rows.value.values
    at, zero = int(np.abs(angles - row).argmin()), int(angles.argmin())
    best = int(rows.tuning.isel(mark=-1).values.mean(1).argmax())
    spectrum = informed.spectrum
    return {
        "001.4": {
            "characteristic": float(spectrum.angles[spectrum.power.argmax()]),
            "best": float(angles[best]),
            "row": float(angles[at]),
            "best_accuracy": float(final[best].mean()),
            "row_accuracy": float(final[at].mean()),
            "zero_accuracy": float(final[zero].mean()),
            "best_beats_angle_zero": beats(final[best], final[zero]),
            "row_beats_angle_zero": beats(final[at], final[zero]),
            "best_beats_row": beats(final[best], final[at]),
            "angle_zero_beats_row": beats(final[zero], final[at]),
        },
        "001.4-permuted": {
            "sequential": means["sequential"],
            "permuted": means["permuted"],
            "row_beats_far_sequential": falls["sequential"],
            "row_beats_far_permuted": falls["permuted"],
            "range_sequential": ranges["sequential"],
            "range_permuted": ranges["permuted"],
        },
    }


def accuracy_by_kind(table: xr.Dataset, others: xr.Dataset) -> dict[str, np.ndarray]:
    """Final accuracy by seed of each kind, at the rate that the tuning half prefers."""
    rows = rows_of(table, "kind")
    kinds = {}
    for name in dict.fromkeys(rows.name.values.tolist()):
        ours = rows.isel(case=np.flatnonzero(rows.name.values == name), mark=-1)
        kinds[name] = tuned(ours.tuning.values, ours.accuracy.values)[1]
    for name in others.kind.values.tolist():
        ours = others.sel(kind=name).isel(mark=-1).transpose("rate", "seed")
        kinds[name] = tuned(ours.tuning.values, ours.accuracy.values)[1]
    return kinds


def better_rate(sums: xr.Dataset) -> xr.DataArray:
    """The last errors on the adding problem, each kind and length at its better rate."""
    final = sums.error.isel(mark=-1)
    return final.isel(rate=final.mean("seed").argmin("rate")).drop_vars("rate")


def kind_evidence(
    config: Config, kinds: dict[str, np.ndarray], table: xr.Dataset, sums: xr.Dataset
) -> dict[str, Any]:
    """Kinds of network against each other, and the adding problem."""
    bent = [name for name in kinds if name.startswith("bent residual")]
    elman = [name for name in kinds if name.startswith("Elman")]
    best = lambda names: max(names, key=lambda name: kinds[name].mean())
    errors = better_rate(sums).sel(kind="heterogeneous").transpose("length", "seed")
    ours = summary(kinds["informed"])
    rows = rows_of(table, "angle, permuted").isel(mark=-1)
    permuted = rows.accuracy.values[int(rows.tuning.values.mean(1).argmax())]
    return {
        "001.5": versus(kinds, "heterogeneous", "homogeneous"),
        "001.6": {
            "source": config.source,
            "accuracy": ours["mean"],
            "accuracy_spread": ours["spread"],
            "lengths": [int(n) for n in sums.length.values],
            "adding_error": [float(e) for e in errors.mean("seed")],
            "adding_worst": [float(e) for e in errors.max("seed")],
            "permuted": summary(permuted)["mean"],
            "permuted_spread": summary(permuted)["spread"],
        },
        "001.Q1": versus(kinds, best(bent), "informed"),
        **{
            f"001.Q2-{gate}": versus(kinds, f"{gate} behind a residual", gate)
            for gate in config.gated
        },
        "001.Q3": versus(kinds, "informed", best(elman)),
        "001.Q5": versus(kinds, "informed", "homogeneous"),
        "001.Q6": versus(kinds, "informed", "heterogeneous"),
    }
