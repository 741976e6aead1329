r"""Fading memory: weakly coupled residual networks, $h' = R h + \gamma\tanh(W_h h + W_x x + b)$.

Dubinin and Effenberger (2024) say that the residual sets the exponents, that the edge of chaos is the
best place to learn from, that a rotation should turn with the data, and that many
timescales beat one. Six experiments ask whether that is so: the spectrum over the
coupling; accuracy over the radius and over the angle, on pixels in order and
permuted; homogeneous, heterogeneous and informed residuals; nonlinear residuals, gated
cells, orthogonal initialisation and clipping on the same budget; the adding problem.

Chosen by us, since the summary that we have does not say: 32 units, γ = 0.1, Adam,
batches of 64, the readout after the last step, residual and coupling not trained.
"""

import functools

import numpy as np
import xarray as xr

from ...report import Bench, Headline, Outcome, Study
from ...tasks import pixels
from ..references import REFERENCES
from .claims import CLAIMS
from .comparison import accuracy_by_kind, first_crossing
from .config import Config, FULL, QUICK
from .cross_rows import cross_rows
from .figures import figures
from .networks import informed_by
from .sweep_figures import angle_figure
from .training import trained_adding, trained_others, trained_table
from .weak_coupling import defective, exponents_over_coupling, gradients_over_radius, where_it_ends


def run(config: Config, bench: Bench) -> Outcome:
    """Spectra, radii, angles, kinds, rivals, adding, in this order."""
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
    networks, table = trained_table(config, bench, task, turned, informed)
    bench.tell("the adding problem")
    sums = trained_adding(config, bench)
    bench.tell("nonlinear residuals and gated cells")
    others = trained_others(config, bench, task, informed)
    kinds = accuracy_by_kind(table, others)
    bench.tell("spectra of trained networks")
    marks = [
        first_crossing(table.accuracy.values, config.every, target) for target in config.targets
    ]
    data = {
        "spectra": spectra,
        "weak_coupling_ends": where_it_ends(spectra),
        "defective": blocks,
        "gradients": gradients,
        "table": table.drop_vars(["W_h", "W_x", "b"]).assign(
            steps_to_target=(("case", "seed", "target"), np.stack(marks, axis=-1)),
            target=("target", list(config.targets)),
        ),
        "others": others,
        "kinds": xr.Dataset(
            {"accuracy": (("kind", "seed"), np.stack(list(kinds.values())))}, {"kind": list(kinds)}
        ),
        "adding": sums,
        "cross": cross_rows(config, table, networks, task),
    }
    results = {
        "config": config,
        "spectra": spectra,
        "defective": blocks,
        "gradients": gradients,
        "table": table,
        "kinds": kinds,
        "adding": sums,
        "angle_spectrum": peaks.spectrum,
        "side": turned.side,
    }
    drawn = figures(data, informed, angle_figure(data["table"], peaks, turned.side))
    return Outcome(results=results, data=data, figures=drawn)


STUDY = Study(
    name="fading-memory",
    document="001",
    title="Fading memory: weakly coupled residual networks",
    reference=REFERENCES["fading-memory"].text,
    claims=CLAIMS,
    profiles={"quick": QUICK, "full": FULL},
    run=run,
    cost={
        "quick": "about a minute: 8 x 8 digits, 200 steps a network, 3 seeds",
        "full": "about twenty minutes: MNIST shrunk to 14 x 14, 500 steps a network, 3 seeds",
    },
    headline=Headline(
        claim="001.Q5",
        number="{first_mean:.0%}",
        sentence="of held-out images are classified right by a residual network informed by their spectrum, {second_mean:.0%} by a homogeneous one.",
    ),
)
