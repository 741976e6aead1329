"""The record of decaying gradients: the lag of 1/e, and where they stop falling."""

import dataclasses

import numpy as np
from jaxtyping import Float, Int


LEVEL = 1e-6  # of the first gradient: a plateau below it is none
KEPT = 1e-2  # of the first gradient: a level that stays above it is memory
FLAT = 0.1  # relative change over a quarter of the lags up to which a gradient is level


@dataclasses.dataclass(frozen=True)
class Plateau:
    """Where the median gradient stops falling: what is left then is not forgotten."""

    level: float
    """Relative to lag 0."""
    lag: int
    """From which the median is within a tenth of the level."""
    until: int
    """The longest lag looked at."""

    def __str__(self) -> str:
        if self.lag == 0:
            return f"nothing is forgotten up to lag {self.until}"
        return (
            f"levels off at {self.level:.2g} of its first size from lag {self.lag} on: "
            f"nothing more is forgotten up to lag {self.until}"
        )


@dataclasses.dataclass(frozen=True)
class GradientDecay:
    """The norms of gradients and of state perturbations, at every lag and position."""

    lags: Int[np.ndarray, " lags"]
    positions: Int[np.ndarray, " positions"]
    """The step of each position in its sequence."""
    sequences: Int[np.ndarray, " positions"]
    """The sequence of the batch that each position belongs to."""
    norms: Float[np.ndarray, "positions lags"]
    """Norm of the derivative of the state at lag i by the input at each position."""
    perturbations: Float[np.ndarray, "positions lags"]
    """Norm of a random unit perturbation of the state, at lag i."""
    directions: int
    """Directions of the input that were followed."""
    exact: bool
    """Whether these are all that matter, rather than some drawn for each position."""

    def quantile(self, q: float) -> Float[np.ndarray, " lags"]:
        """A quantile over positions at every lag, relative to lag 0 of each position."""
        return np.quantile(_relative(self.norms), q, axis=0)

    @property
    def fall(self) -> Float[np.ndarray, " positions"]:
        """Per position, the lag from which the gradient stays at or below 1/e of lag 0."""
        return _settling_lag(_relative(self.norms), np.exp(-1.0))

    @property
    def remembers(self) -> float:
        """The median of `fall`: what "remembers about n steps" means; inf if beyond the lags."""
        return float(np.quantile(self.fall, 0.5, method="lower"))

    @property
    def plateau(self) -> Plateau | None:
        """Where the median over positions levels off in the second half of the lags."""
        middle = self.quantile(0.5)
        third, last = (part.mean() for part in np.array_split(middle, 4)[2:])
        level = float(third + last) / 2
        if len(middle) < 8 or level < LEVEL or abs(last - third) > FLAT * third:
            return None
        near = middle <= (1 + FLAT) * level
        if middle[0] < level:
            near = middle >= (1 - FLAT) * level
        return Plateau(level, int(np.argmax(near)), int(self.lags[-1]))

    def sentence(self, unit: str = "steps") -> str:
        """How long the network remembers, in words: a level that stays is not forgotten."""
        most, level = int(self.lags[-1]), self.plateau
        if np.isinf(self.remembers):
            return f"remembers for more than {most} {unit}, the longest lag looked at"
        if level is not None and level.level >= KEPT:
            return (
                f"remembers for more than {most} {unit}: the gradient is below 1/e from lag "
                f"{self.remembers:.0f} on, but {level}"
            )
        unit = unit.removesuffix("s") if self.remembers == 1 else unit
        return f"remembers about {self.remembers:.0f} {unit}"

    @property
    def half_life(self) -> float:
        """Median lag from which a random perturbation of the state stays at or below half."""
        fall = _settling_lag(self.perturbations, 0.5)
        return float(np.quantile(fall, 0.5, method="lower"))


def _relative(norms: np.ndarray) -> np.ndarray:
    start = norms[:, :1]
    return np.divide(norms, start, out=np.zeros_like(norms), where=start > 0)


def _settling_lag(values: np.ndarray, level: float) -> np.ndarray:
    """The lag after the last value above the level; inf if the last lag is above it."""
    above = values > level * (1 + 1e-9)
    last = values.shape[1] - 1 - np.argmax(above[:, ::-1], axis=1)
    last = np.where(above.any(axis=1), last, -1).astype(float)
    return np.where(above[:, -1], np.inf, last + 1)
