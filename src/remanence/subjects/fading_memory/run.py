"""The six experiments in order."""

import functools

import numpy as np
import xarray as xr

from ...report import Bench, Outcome
from ...tasks import pixels
from .cases import informed_by
from .comparison import first_crossing
from .config import Config
from .cross import trained_cross
from .edge import radius_evidence
from .evidence import accuracy_by_kind, angle_evidence, kind_evidence, spectral_evidence
from .figures import figures
from .sweep_figures import angle_figure
from .training import trained_adding, trained_others, trained_table
from .weak_coupling import (
    defective,
    exponents_over_coupling,
    gradients_over_radius,
    where_it_ends,
)


def run(config: Config, bench: Bench) -> Outcome:
    """Spectra, radii, angles, kinds, rivals, adding; then claims and figures."""
    images = functools.partial(pixels, config.source, samples=config.samples)
    task = images(shrink=config.shrink)
    same = config.angle_shrink == config.shrink
    turned = task if same else images(shrink=config.angle_shrink)
    informed = informed_by(task, config)
    peaks = informed if same else informed_by(turned, config)
    bench.tell("exponents over the coupling")
    spectra = exponents_over_coupling(config, bench)
    blocks = defective()
    gradients = gradients_over_radius(config, bench, task.train_x.shape[1])
    bench.tell(f"residual and Elman networks on {config.source}")
    found, table = trained_table(config, bench, task, turned, informed)
    bench.tell("the adding problem")
    sums = trained_adding(config, bench)
    bench.tell("bent residuals and gated cells")
    others = trained_others(config, bench, task, informed)
    kinds = accuracy_by_kind(table, others)
    evidence = {
        **spectral_evidence(config, spectra, blocks, gradients),
        **radius_evidence(config, table),
        **angle_evidence(table, turned, peaks),
        **kind_evidence(config, kinds, table, sums),
    }
    bench.tell("spectra of trained networks")
    cross = trained_cross(config, table, found, task)
    comparison = xr.Dataset(
        {"accuracy": (("kind", "seed"), np.stack(list(kinds.values())))},
        {"kind": list(kinds)},
    )
    data = {
        "spectra": spectra,
        "weak_coupling_ends": where_it_ends(spectra),
        "defective": blocks,
        "gradients": gradients,
        "table": table.drop_vars(["W_h", "W_x", "b"]),
        "others": others,
        "kinds": comparison,
        "adding": sums,
        "cross": cross,
    }
    speed = np.stack(
        [
            first_crossing(table.accuracy.values, config.every, target)
            for target in config.targets
        ],
        axis=-1,
    )
    data["table"] = data["table"].assign(
        steps_to_target=(("case", "seed", "target"), speed),
        target=("target", list(config.targets)),
    )
    drawn = figures(data, informed, angle_figure(data["table"], peaks, turned.side))
    return Outcome(evidence=evidence, data=data, figures=drawn)
