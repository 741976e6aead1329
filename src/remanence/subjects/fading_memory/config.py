"""Everything that a run of the study depends on."""

import dataclasses
import math
from typing import Any, Literal

from ...report import Bench


@dataclasses.dataclass(frozen=True, kw_only=True)
class Config:
    """One profile: sizes, grids and budgets; by default those of the quick one."""

    source: Literal["digits", "mnist"] = "digits"
    validation: int = 250
    """The last training images are not trained on: they choose rates, and the best of a sweep."""
    units: int = 32
    coupling: float = 0.1
    radius: float = 0.99
    """Where an experiment does not vary it."""
    steps: int = 200
    """Of the sweeps over a radius or an angle."""
    kind_steps: int = 200
    """Of the kinds of networks that are compared, each with the same."""
    batch: int = 64
    marks: int = 8
    """How often accuracy is looked at."""
    rates: tuple[float, ...] = (1e-2,)
    """Of Adam, falling to a twentieth along half a cosine. Each kind of network takes the one
    that is best on the validation images after `pilot_steps` with the first seed; radii take the
    homogeneous residual's, angles the rotational's."""
    pilot_steps: int = 0
    seeds: int = 3
    radii: tuple[float, ...] = (0.4, 0.75, 0.88, 0.95, 1.1)
    angles: tuple[float, ...] = (0.0, 0.2, 0.4, 0.6, math.tau / 8, 1.0, 1.8)
    permuted_angles: tuple[float, ...] = (0.0, 0.4, math.tau / 8, 1.8)
    targets: tuple[float, ...] = (0.3, 0.4, 0.5, 0.6)
    """Accuracies whose first crossings measure the speed of convergence."""
    gated: tuple[str, ...] = ("GRU",)
    couplings: tuple[float, ...] = (3e-3, 1e-2, 3e-2, 0.1, 0.3)
    spectrum_radii: tuple[float, ...] = (0.9, 0.99)
    spectrum_units: tuple[int, ...] = (8, 32)
    spectrum_steps: int = 12_000
    """At most; the time grows as one over the coupling."""
    lengths: tuple[int, ...] = (10, 20)
    adding_steps: int = 600
    adding_rate: float = 1e-2
    chunk: int = 16
    """Lanes a batch; part of the plan, since it changes bits."""
    fast_compile: bool = True
    """Compile in half the time: for networks that train no longer than they compile."""

    def sweep_options(self, bench: Bench, name: str, lanes: int = 0) -> dict[str, Any]:
        """What every sweep is given alike; the last chunk is padded, so few lanes say how few."""
        given = {each: getattr(bench, each) for each in ("seed", "quiet", "time_limit", "on")}
        kept = {"folder": bench.folder / name, "title": name}
        chunk = min(self.chunk, lanes or self.chunk)
        return given | kept | {"chunk": chunk, "fast_compile": self.fast_compile}


QUICK = Config()
EPOCH = 430
"""Steps of 128 images that see 55,000 of them."""
FULL = Config(
    source="mnist",
    validation=5_000,
    units=64,
    steps=5 * EPOCH,
    kind_steps=10 * EPOCH,
    batch=128,
    marks=10,
    rates=(1e-3, 3e-3, 1e-2),
    pilot_steps=EPOCH,
    radii=(0.4, 0.75, 0.88, 0.95, 1.0, 1.03),
    angles=(0.0, 0.1, 0.16, math.tau / 28, 0.3, 2 * math.tau / 28, 0.9, 1.8),
    permuted_angles=(0.0, 0.16, math.tau / 28, 1.8),
    targets=(0.3, 0.5, 0.7, 0.8, 0.9, 0.95),
    gated=("GRU", "LSTM"),
    couplings=(3e-3, 1e-2, 3e-2, 0.1, 0.3, 1.0),
    spectrum_radii=(0.8, 0.9, 0.99),
    spectrum_units=(8, 16, 32),
    spectrum_steps=30_000,
    lengths=(100, 200, 400),
    adding_steps=6_000,
    adding_rate=3e-3,
    chunk=2,
    fast_compile=False,
)
