"""A study that trains and measures, small: `python trained_study.py OUT SEED`.

It stands in for `memorization`, so that what is promised of a run's bytes is tested
on a real sweep, a real training and real exponents.
"""

import dataclasses
import pathlib
import sys
import types

import jax
import jax.numpy as jnp
import jax.random as jr
import optax

from remanence import subjects as studies, sweeps, train
from remanence.cells import Elman
from remanence.measure import lyapunov_spectrum
from remanence.report import Bench, Claim, Outcome, Study


@dataclasses.dataclass(frozen=True)
class Config:
    units: int = 8
    steps: int = 60


def lane(point, key, data):
    """The last loss of a network trained to repeat the input of two steps ago."""
    cell_key, train_key = jr.split(key)
    net = Elman.init(1, 8, key=cell_key), jr.normal(cell_key, (8,)) / 3

    def loss(net, xs, key):
        cell, w = net
        _, hs = jax.lax.scan(lambda h, x: (cell(h, x),) * 2, cell.initial_state(), xs[:, None])
        return jnp.mean((hs[2:] @ w - xs[:-2]) ** 2)

    _, history = train.trained(
        net, loss, optax.adam(point["rate"]), steps=60, key=train_key, data=data, every=20
    )
    return {"loss": history["loss"]}


def run(config: Config, bench: Bench) -> Outcome:
    xs = jr.normal(jr.key(bench.seed), (50,))
    axes = {"rate": [1e-3, 1e-2], "seed": range(3)}
    table = sweeps.sweep(
        lane, axes, seed=bench.seed, chunk=2, data=xs, folder=bench.folder / "losses"
    )
    cell = Elman.init(1, config.units, key=jr.key(bench.seed))
    found = lyapunov_spectrum(cell, jr.normal(jr.key(1), (200, 1)))
    evidence = {
        "losses": table.loss.values.ravel().tolist(),
        "exponents": found.exponents.tolist(),
        "errors": found.stderr.tolist(),
    }
    return Outcome(results={"training": evidence}, data={"losses": table}, figures=())


STUDY = Study(
    name="memorization",
    document="000",
    title="Trained and measured",
    reference="None.",
    claims=(
        Claim(
            id="000.1",
            says="Training lowers the loss.",
            published="yes",
            finding="{losses[0]:.6g} to {losses[2]:.6g}",
            evidence=lambda results: results["training"],
            rule=lambda e: "holds" if e["losses"][2] < e["losses"][0] else "refuted",
        ),
    ),
    profiles={"quick": Config()},
    run=run,
    cost={"quick": "seconds"},
)


if __name__ == "__main__":
    stand_in = types.ModuleType("remanence.subjects.memorization.study", __doc__)
    stand_in.STUDY = STUDY  # pyright: ignore[reportAttributeAccessIssue]
    sys.modules[stand_in.__name__] = stand_in
    studies.reproduce("memorization", out=pathlib.Path(sys.argv[1]), seed=int(sys.argv[2]))
