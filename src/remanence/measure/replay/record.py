"""What `replay_window` found: one number, how it spreads, and what shorter windows cost."""

import dataclasses
import math
from typing import Literal

import numpy as np
from jaxtyping import Float, Int


Of = Literal["outputs", "states"]
CHEAP = 0.01
"""Nats a token (1 % of perplexity) below which `decision` calls a window's cost small."""
JUDGES = 0.05
"""The share of places that must have read more than a window, for it to be judged."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class WindowCost:
    """The mean cross-entropy of the targets when only the last inputs are replayed.

    It is over every position with a target, also those that a window does not shorten.
    """

    windows: Int[np.ndarray, " windows"]
    loss: Float[np.ndarray, " windows"]
    """Nats a target."""
    accuracy: Float[np.ndarray, " windows"]
    reset: Float[np.ndarray, " windows"]
    """The loss when the state is emptied every so many steps, averaged over the phase."""
    full_loss: float
    """With the whole history."""
    full_accuracy: float
    targets: int
    """How many positions have a target."""
    unit: str = "target"
    """"token" where each position is to predict the next one."""

    @property
    def excess(self) -> Float[np.ndarray, " windows"]:
        """Nats a target above the loss with the whole history."""
        return self.loss - self.full_loss

    @property
    def reset_excess(self) -> Float[np.ndarray, " windows"]:
        """The same for resets."""
        return self.reset - self.full_loss

    def sentence(self, unit: str = "steps") -> str:
        """What the shortest cheap window and reset cost, or the longest if none is cheap."""
        i, j = (_first_cheap(cost) for cost in (self.excess, self.reset_excess))
        unit = unit.removesuffix("s") if self.windows[j] == 1 else unit
        return (
            f"a window of {self.windows[i]} costs {self.excess[i]:.2g} nats a {self.unit}, "
            f"a reset every {self.windows[j]} {unit} {self.reset_excess[j]:.2g}, "
            f"of {self.full_loss:.4g} with the whole history"
        )


def _first_cheap(excess: np.ndarray) -> int:
    """Where the cost is small and stays so, or the last place."""
    dear = np.flatnonzero(~(excess <= CHEAP))
    return min(int(dear[-1]) + 1 if len(dear) else 0, len(excess) - 1)


@dataclasses.dataclass(frozen=True, kw_only=True)
class ReplayWindow:
    """How many of the last inputs must be replayed from the empty state.

    A window is judged by the positions that have read more inputs than it holds; at the
    others it is the whole history. Where fewer than 5 % of the positions could judge the
    window that is needed, it is inf: no window up to `longest` suffices. Where starts were
    sampled, `q95` and `median` are over them: the steps after which a start is right again.
    """

    error: float
    of: Of
    worst: float
    """At every position this window and every longer one is within `error`."""
    q95: float
    """The same at 95 % of the positions that have read more than this many inputs."""
    median: float
    """The same at half of them."""
    at: tuple[Int[np.ndarray, " _"], ...] | None = dataclasses.field(repr=False)
    """The window of every position of every sequence; None if starts were sampled.

    Position t has read t inputs and can show a window up to t, which is the whole
    history: a value of t says that nothing less serves there.
    """
    largest: Float[np.ndarray, " windows"] = dataclasses.field(repr=False)
    """The largest error of windows of 1, 2, ... inputs, in the Euclidean norm."""
    typical: Float[np.ndarray, " windows"] = dataclasses.field(repr=False)
    """Their root mean square over the positions that the window shortens."""
    scale: float
    """Root mean square of the norm of the outputs (states), to judge errors by."""
    positions: int
    sequences: int
    starts: int
    """Places where the state was emptied and the network followed from there on."""
    possible: int
    """All such places; fewer were followed where the work would have been too much."""
    longest: int
    """The longest window that 5 % of the positions can judge."""
    missed: float
    """With 95 % confidence at most this share of starts needs more than `worst`."""
    cost: WindowCost | None = dataclasses.field(default=None, repr=False)

    @property
    def window(self) -> float:
        """The headline, `worst`."""
        return self.worst

    @property
    def sampled(self) -> bool:
        """Whether only some starts, drawn from all sequences, were followed."""
        return self.starts < self.possible

    @property
    def decision(self) -> str:
        """What to do, in one sentence."""
        what = f"every {self.of[:-1]}"
        if math.isinf(self.worst):
            text = f"no window up to {self.longest} keeps {what} within {self.error:g}"
        else:
            text = (
                f"replay the last {self.worst:.0f} inputs: {what} is then within "
                f"{self.error:g} of the full run's ({self.relative_error:.2g} of its scale)"
            )
        return text if self.cost is None else f"{text}; {self.cost.sentence()}"

    @property
    def relative_error(self) -> float:
        """The allowed error over the scale of what it is an error of."""
        return self.error / self.scale if self.scale > 0 else math.inf

    @property
    def evidence(self) -> str:
        """Where it was measured, and what that may have missed."""
        plural = "" if self.sequences == 1 else "s"
        among = f"{self.positions:,} positions of {self.sequences} sequence{plural}"
        if not self.sampled:
            return f"at all {among}"
        return (
            f"from {self.starts:,} of {self.possible:,} starts drawn over {among}; at most "
            f"{self.missed:.2g} of starts need more, with 95 % confidence"
        )

    def __str__(self) -> str:
        steps = lambda window: f"{window:.0f}" if math.isfinite(window) else "none"
        spread = {"median": self.median, "95 %": self.q95, "worst": self.worst}
        shown = ", ".join(f"{name} {steps(window)}" for name, window in spread.items())
        return f"{self.decision}\n{shown}, {self.evidence}"


def window_of_share(windows: np.ndarray, room: np.ndarray, share: float) -> float:
    """The least window that fails at no more than a share of the places that judge it.

    A place judges windows up to its `room`, and fails those below its own window; inf
    if every window that enough places judge fails at more of them.

    >>> window_of_share(np.array([1, 2, 3, 3]), np.array([0, 1, 2, 3]), 0.0)
    3.0
    """
    K = longest_judged(room)
    failing = len(windows) - np.bincount(windows, minlength=K + 2).cumsum()[1 : K + 1]
    fine = np.flatnonzero(failing <= share * judges(room)[:K])
    return float(fine[0] + 1) if len(fine) else math.inf


def longest_judged(room: np.ndarray) -> int:
    """The longest window that at least `JUDGES` of the places judge."""
    return int(np.sum(judges(room) >= JUDGES * len(room)))


def judges(room: np.ndarray) -> np.ndarray:
    """How many places judge windows of 1, 2, ..."""
    return len(room) - np.bincount(room).cumsum()[:-1]
