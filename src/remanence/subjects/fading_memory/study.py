r"""Fading memory: weakly coupled residual networks, $h' = R h + \gamma\tanh(W_h h + W_x x + b)$.

Dubinin and Effenberger (2024) say that the residual sets the exponents, that the edge of chaos is the
best place to learn from, that a rotation should turn with the data, and that many
timescales beat one. Six experiments ask whether that is so: the spectrum over the
coupling; accuracy over the radius and over the angle, on pixels in order and
permuted; homogeneous, heterogeneous and informed residuals; nonlinear residuals, gated
cells, orthogonal initialisation and clipping on the same budget; the adding problem.

Chosen by us, since the summary that we have does not say: sizes, γ = 0.1, Adam with a
falling rate, the readout after the last step, residual and coupling not trained.
"""

import jax.numpy as jnp
import numpy as np
import xarray as xr

from ...cells import Residual
from ...measure import contraction
from ...report import Bench, cross_table, Headline, Outcome, Row, Study
from ...tasks import pixels
from ..references import REFERENCES
from .claims import CLAIMS
from .claims.kinds import accuracy_by_kind
from .config import Config, FULL, QUICK
from .figures import figures
from .networks import Case, informed_by, kinds_of_networks
from .residual_spectrum import spectral
from .training import train_networks, train_on_sums, WEIGHTS
from .weak_coupling import defective, exponents_over_coupling, gradients_over_radius


def run(config: Config, bench: Bench) -> Outcome:
    """Spectra, gradients, networks on pixels, the adding problem, in this order."""
    task = pixels(config.source)
    informed = informed_by(task, config)
    bench.tell("exponents over the coupling")
    spectra = exponents_over_coupling(config, bench)
    gradients = gradients_over_radius(config, bench, task.train_x.shape[1])
    bench.tell(f"networks on {config.source}")
    table = train_networks(config, bench, task, informed)
    bench.tell("the adding problem")
    sums = train_on_sums(config, bench)
    kinds = accuracy_by_kind(table)
    data = {
        "spectra": spectra,
        "defective": defective(),
        "gradients": gradients,
        "table": table.drop_vars(list(WEIGHTS)),
        "kinds": kinds.to_dataset(name="accuracy"),
        "adding": sums,
        "cross": _cross(config, table, kinds_of_networks(config, task, informed)),
    }
    by_kind = dict(zip(kinds.kind.values.tolist(), kinds.values, strict=True))
    results = data | {"kinds": by_kind, "config": config, "side": task.side}
    drawn = figures(results | {"spectrum": informed.spectrum})
    return Outcome(results=results, data=data, figures=drawn)


def _cross(config: Config, table: xr.Dataset, kinds: list[Case]) -> xr.Dataset:
    """Trained networks of the first seed as rows of the table of all studies."""
    rows, shown = [], ("homogeneous", "informed", "Elman: orthogonal")
    for kind in (kind for kind in kinds if kind.name in shown):
        found = table.isel(case=table.name.values.tolist().index(kind.name), seed=0)
        angles = np.unique(np.round(kind.angles[0], 2)) if kind.residual else ()
        W_h, W_x, b = (jnp.asarray(found[part].values) for part in WEIGHTS)
        R = spectral(kind.radii[0].tolist(), kind.angles[0].tolist()) if kind.residual else 0.0
        cell = Residual(R, W_h, W_x[:, None], b, config.coupling if kind.residual else 1.0)
        row = Row(
            network=f"{kind.name} ({config.source}, trained)",
            dimension=config.units,
            largest_exponent=float(found.after),
            certified_rate=contraction(cell, metric="norm").rate,
            rank=int(np.linalg.matrix_rank(found.W_h.values)),
            key_frequencies=", ".join(f"{angle:g}" for angle in angles),
        )
        rows.append(row)
    return cross_table(rows)


STUDY = Study(
    name="fading-memory",
    document="001",
    title="Fading memory: weakly coupled residual networks",
    reference=REFERENCES["fading-memory"].text,
    claims=CLAIMS,
    profiles={"quick": QUICK, "full": FULL},
    run=run,
    cost={
        "quick": "about a minute: 8 x 8 drawn digits, 200 steps a network, 3 seeds",
        "full": "hours: MNIST, 28 x 28 pixels, five epochs (kinds of networks: ten), 3 seeds",
    },
    headline=Headline(
        claim="001.Q5",
        number="{first_mean:.0%}",
        sentence="of test images are classified right by a residual network informed by their "
        "spectrum, {second_mean:.0%} by a homogeneous one.",
    ),
)
