"""A full run that is interrupted again and again, beside quick runs into the same folder."""

import dataclasses
import os
import pathlib
import subprocess
import sys
import time
import types

import jax.numpy as jnp
import jax.random as jr
import numpy as np
import optax
import pytest

from remanence import _atomic_write, subjects, sweeps, train
from remanence.report import Bench, Claim, Outcome, Study
from remanence.report.stored_result import digest
from remanence.subjects import reproduce


MOMENTS = 10


@dataclasses.dataclass(frozen=True)
class Config:
    rates: int = 3
    steps: int = 40
    wait: float = 0.0


def lane(point, key, data):
    """Chaotic, so that a wrong key or a wrong part would be seen."""
    x = jr.uniform(key) + data
    for _ in range(20):
        x = point["rate"] * x * (1 - x)
    return {"end": x, "start": jr.uniform(key)}


def run(config: Config, bench: Bench) -> Outcome:
    axes = {"rate": [3.6 + 0.03 * i for i in range(config.rates)], "seed": range(3)}
    table = sweeps.sweep(
        lane, axes, seed=bench.seed, chunk=2, data=jnp.zeros(()), folder=bench.folder / "ends"
    )
    bench.tell("training")
    noisy = lambda w, batch, key: ((w - jr.normal(key, w.shape)) ** 2).sum()
    fitted = train.fit(
        *(jnp.zeros(3), noisy, optax.adam(0.1)),
        steps=config.steps,
        key=jr.key(bench.seed),
        every=4,
        folder=bench.folder / "training",
    )
    time.sleep(config.wait)
    evidence = {"ends": table.end.values.ravel().tolist(), "model": fitted.model.tolist()}
    data = {"ends": table, "training": fitted.history}
    return Outcome(results={"all": evidence}, data=data, figures=())


def study(wait: float = 0.0) -> Study:
    claim = Claim(
        id="000.1",
        says="It ends.",
        published="yes",
        finding="{model[0]:.6g}",
        evidence=lambda results: results["all"],
        rule=lambda e: "holds" if np.isfinite(e["ends"]).all() else "refuted",
    )
    return Study(
        name="memorization",
        document="000",
        title="Interrupted",
        reference="None.",
        claims=(claim,),
        profiles={"quick": Config(), "full": Config(rates=6, steps=80, wait=wait)},
        run=run,
        cost={"quick": "seconds", "full": "seconds"},
    )


def kept(out: pathlib.Path) -> dict[str, str]:
    """Digests of the claims and the tables of a result."""
    folder = out / "memorization"
    return {name: digest(folder / name) for name in ("claims.json", "data.zarr")}


def test_interrupted_at_ten_moments_beside_quick_runs_it_ends_as_one_left_alone(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(subjects, "study", lambda name: study())
    left = MOMENTS * 10

    def interrupt(path):  # between writing a file and its rename: the most delicate moment
        nonlocal left
        left -= 1
        if left == 0:
            raise KeyboardInterrupt

    reproduce("memorization", "full", out=tmp_path / "alone")
    monkeypatch.setattr(_atomic_write, "between_write_and_rename", interrupt)
    interrupted, out = 0, tmp_path / "beside"
    while interrupted < MOMENTS:
        left = 3 + interrupted % 2  # further and further: its finished parts stay
        with pytest.raises(KeyboardInterrupt):
            reproduce("memorization", "full", out=out)
        interrupted += 1
        left = 0
        if interrupted % 3 == 1:
            reproduce("memorization", "quick", out=out, seed=interrupted % 2)
            assert list((out / ".parts").rglob("chunk-*")), "the full run's parts are gone"
    reproduce("memorization", "full", out=out)
    assert kept(out) == kept(tmp_path / "alone")
    left_behind = [path for path in out.rglob("*") if path.name.endswith(_atomic_write.TEMPORARY)]
    assert not left_behind and not (out / ".parts").exists()


@pytest.mark.slow
def test_killed_at_ten_moments_beside_quick_runs_it_ends_as_one_left_alone(tmp_path):
    def command(out, profile):
        words = [sys.executable, "-W", "ignore", __file__, str(out), profile]
        return subprocess.Popen(words, env=os.environ | {"MPLBACKEND": "agg"})

    begun = time.monotonic()
    assert command(tmp_path / "alone", "full").wait() == 0
    whole = time.monotonic() - begun
    out = tmp_path / "beside"
    for moment in range(MOMENTS):
        full = command(out, "full")
        quick = command(out, "quick") if moment % 3 == 0 else None
        time.sleep(whole * (0.3 + 0.07 * moment))
        full.kill()
        full.wait()
        assert quick is None or quick.wait() == 0
    assert command(out, "full").wait() == 0
    assert kept(out) == kept(tmp_path / "alone")


if __name__ == "__main__":
    stand_in = types.ModuleType("remanence.subjects.memorization.study", "Interrupted.")
    stand_in.STUDY = study(wait=1.0)  # pyright: ignore[reportAttributeAccessIssue]
    sys.modules[stand_in.__name__] = stand_in
    reproduce("memorization", sys.argv[2], out=pathlib.Path(sys.argv[1]))
