"""Everything that a run of the study depends on."""

import dataclasses
import math
from typing import Any, Literal

from ...report import Bench


@dataclasses.dataclass(frozen=True, kw_only=True)
class Config:
    """One profile: sizes, grids and budgets; every network has the same budget."""

    source: Literal["digits", "mnist"]
    shrink: int
    angle_shrink: int
    """Of the images that the angles are tried on: where a row lies is the question."""
    samples: int | None
    held_out: int
    """Held-out images: the first half tunes, the second half is reported."""
    units: int
    coupling: float
    radius: float
    """Where an experiment does not vary it."""
    steps: int
    batch: int
    every: int
    rates: tuple[float, ...]
    """Learning rates of Adam, tried for every kind of network; the one that is best on
    the tuning half is reported. Sweeps over a radius take the last."""
    angle_rate: float
    """For sweeps over an angle, whose sequences may be longer."""
    seeds: int
    radii: tuple[float, ...]
    angles: tuple[float, ...]
    permuted_angles: tuple[float, ...]
    targets: tuple[float, ...]
    """Accuracies whose first crossings measure the speed of convergence."""
    gated: tuple[str, ...]
    nonlinear: tuple[str, ...]
    """Activations round the residual."""
    couplings: tuple[float, ...]
    spectrum_radii: tuple[float, ...]
    spectrum_units: tuple[int, ...]
    spectrum_steps: int
    """At most; the time grows as one over the coupling."""
    lengths: tuple[int, ...]
    adding_steps: int
    chunk: int
    """Lanes a batch; part of the plan, since it changes bits."""
    fast_compile: bool
    """Compile in half the time: for networks that train no longer than they compile."""

    def sweep_options(
        self, bench: Bench, name: str, title: str, lanes: int | None = None
    ) -> dict[str, Any]:
        """What every sweep of the study is given alike.

        The last chunk of a program is padded, so programs of few lanes say how few.
        """
        return {
            "seed": bench.seed,
            "chunk": min(self.chunk, lanes or self.chunk),
            "fast_compile": self.fast_compile,
            "folder": bench.folder / name,
            "title": title,
            "quiet": bench.quiet,
            "time_limit": bench.time_limit,
            "on": bench.on,
        }


ROW = 2 * math.pi / 8
QUICK = Config(
    source="digits",
    shrink=1,
    angle_shrink=1,
    samples=None,
    held_out=500,
    units=32,
    coupling=0.1,
    radius=0.99,
    steps=200,
    batch=64,
    every=25,
    rates=(1e-2,),
    angle_rate=1e-2,
    seeds=3,
    radii=(0.4, 0.75, 0.88, 1.0, 1.1),
    angles=(0.0, 0.2, 0.4, 0.6, ROW, 1.0, 1.8),
    permuted_angles=(0.0, 0.4, ROW, 1.8),
    targets=(0.3, 0.4, 0.5, 0.6),
    gated=("GRU",),
    nonlinear=("tanh", "ReLU", "leaky ReLU"),
    couplings=(3e-3, 1e-2, 3e-2, 0.1, 0.3),
    spectrum_radii=(0.9, 0.99),
    spectrum_units=(8, 32),
    spectrum_steps=12_000,
    lengths=(10, 20),
    adding_steps=300,
    chunk=16,
    fast_compile=True,
)
TURN = 2 * math.pi / 28
FULL = Config(
    source="mnist",
    shrink=2,
    angle_shrink=1,
    samples=20_000,
    held_out=1_000,
    units=32,
    coupling=0.1,
    radius=0.99,
    steps=500,
    batch=64,
    every=50,
    rates=(3e-3, 1e-2),
    angle_rate=3e-3,
    seeds=3,
    radii=(0.4, 0.75, 0.88, 0.95, 1.0, 1.03),
    angles=(0.0, 0.05, 0.1, 0.16, TURN, 0.3, 2 * TURN, 0.6, 0.9, 1.8),
    permuted_angles=(0.0, 0.1, TURN, 0.9, 1.8),
    targets=(0.3, 0.4, 0.5, 0.6),
    gated=("GRU", "LSTM"),
    nonlinear=("tanh", "ReLU", "leaky ReLU"),
    couplings=(3e-3, 1e-2, 3e-2, 0.1, 0.3, 1.0),
    spectrum_radii=(0.8, 0.9, 0.99),
    spectrum_units=(8, 16, 32),
    spectrum_steps=30_000,
    lengths=(25, 50, 100),
    adding_steps=1_500,
    chunk=16,
    fast_compile=False,
)
