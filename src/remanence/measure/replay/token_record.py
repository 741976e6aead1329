"""What `replay_window` finds of a recurrent language model: two windows, and layer by layer."""

import dataclasses
import math

import numpy as np
from jaxtyping import Float, Int
from scipy.special import betaincinv

from .record import window_of_share


@dataclasses.dataclass(frozen=True, kw_only=True)
class TokenReplay:
    """How many of the last tokens must be read again from an empty state.

    The model was emptied at positions drawn from the whole of the texts and followed beside
    the full run, for `longest` tokens or to the end: a position judges windows up to its
    `room`, and errors beyond it are NaN. What the output needs and what the states need are
    two windows: an output may be right long before a state is. A window counts if every
    longer one is as good; inf says that none is.
    """

    error: float
    """Nats for distributions (KL divergence), relative for states."""
    positions: Int[np.ndarray, " starts"]
    """Where the state was emptied: before the second token of the first text, then drawn."""
    texts: Int[np.ndarray, " starts"]
    """In which text."""
    room: Int[np.ndarray, " starts"]
    """For how many tokens it was followed."""
    divergence: Float[np.ndarray, "starts windows"] = dataclasses.field(repr=False)
    """KL divergence of the next-token distribution from the full run's, after 1, 2, ... tokens."""
    log_probability: Float[np.ndarray, "starts windows"] = dataclasses.field(repr=False)
    """The largest difference of a token's log-probability."""
    excess: Float[np.ndarray, "starts windows"] = dataclasses.field(repr=False)
    """Nats by which the next token costs more than with the whole history."""
    gaps: Float[np.ndarray, "layers starts windows"] = dataclasses.field(repr=False)
    """Of each layer's recurrent state, relative to the full run's."""
    decayed: Float[np.ndarray, "layers starts windows"] = dataclasses.field(repr=False)
    """The same if the layer's inputs were right from the start: what its decays leave."""
    layers: tuple[int, ...]
    """Which layers have a recurrence."""
    memory: Int[np.ndarray, " all_layers"]
    """What convolutions, shifts and local attention of every layer need, exactly."""
    loss: float
    """Nats a token with the whole history, over the same positions."""

    @property
    def longest(self) -> int:
        """The longest window that was followed."""
        return self.divergence.shape[1]

    @property
    def windows(self) -> Float[np.ndarray, " starts"]:
        """The tokens after which the distribution is within `error`, from each start."""
        return first_good(self.divergence, self.error)

    @property
    def state_windows(self) -> Float[np.ndarray, "layers starts"]:
        """The same for the state of each layer."""
        return first_good(self.gaps, self.error)

    @property
    def own_windows(self) -> Float[np.ndarray, "layers starts"]:
        """What each layer would need by itself, from its decays and its convolution."""
        own = first_good(self.decayed, self.error)
        return own + self.memory[list(self.layers)][:, None]

    def quantile(self, share: float, windows: Float[np.ndarray, " starts"] | None = None) -> float:
        """The window that serves at a share of the positions that can judge it."""
        windows = self.windows if windows is None else windows
        reached = np.minimum(windows, self.room + 1).astype(int)
        return window_of_share(reached, self.room, 1 - share)

    @property
    def median(self) -> float:
        """At half of the positions."""
        return self.quantile(0.5)

    @property
    def q95(self) -> float:
        """At 95 % of them."""
        return self.quantile(0.95)

    @property
    def worst(self) -> float:
        """At all of them."""
        return self.quantile(1.0)

    @property
    def window(self) -> float:
        """The headline: the window that serves at 95 % of the positions."""
        return self.q95

    @property
    def missed(self) -> float:
        """With 95 % confidence at most this share of the positions needs more than `window`:
        of all positions of the texts with so many tokens after them."""
        judges = self.windows[1:][self.room[1:] >= self.window]
        more = int((judges > self.window).sum())
        return float(betaincinv(more + 1, len(judges) - more, 0.95)) if more < len(judges) else 1.0

    @property
    def evidence(self) -> str:
        """Where it was measured, and what that may have missed."""
        among = f"from {len(self.positions)} positions drawn over the whole text"
        if math.isinf(self.window):
            return among
        return (
            f"{among}; of all with {self.window:.0f} tokens after them at most {self.missed:.2g} "
            "need more, with 95 % confidence"
        )

    @property
    def bottleneck(self) -> int:
        """The layer whose own decays ask for the longest window."""
        ends = self.decayed[:, np.arange(len(self.room)), self.room - 1]
        reached = np.log(np.maximum(ends, 1e-300)).mean(axis=1)
        windows = [self.quantile(0.5, own) for own in self.own_windows]
        # Among layers that never get there, the one that is furthest off.
        order = np.lexsort((reached, windows))
        return self.layers[int(order[-1])]

    @property
    def stack_bounds(self) -> Float[np.ndarray, "starts three"]:
        """The largest own window, the states' window, and the sum of the own ones, the outer two
        a tenth wider, for each start that can say: every own window was reached.

        The largest is taken without convolutions, which may be exact already.
        """
        stack = self.state_windows.max(axis=0)
        own = first_good(self.decayed, self.error)
        spare = self.memory.sum()
        can = np.isfinite(own).all(axis=0) & np.isfinite(stack)
        own, stack = own[:, can], stack[can]
        slack = 1 + 0.1 * own.max(axis=0, initial=0)
        low, high = own.max(axis=0, initial=0) - spare - slack, own.sum(axis=0) + spare + slack
        return np.stack([low, stack, high], axis=1)

    @property
    def stack_law(self) -> tuple[int, int]:
        """From how many starts the states' window lies within its bounds, of how many that say."""
        low, stack, high = self.stack_bounds.T
        return int(((low <= stack) & (stack <= high)).sum()), len(stack)

    @property
    def first_token(self) -> float:
        """After how many tokens the distribution no longer shows the first one."""
        return float(self.windows[0])

    def cost(self, window: int) -> float:
        """The mean excess, in nats a token, of replaying so many tokens."""
        if not 1 <= window <= self.longest:
            raise ValueError(f"windows of 1 to {self.longest} were followed, got {window}")
        return float(np.nanmean(self.excess[:, window - 1]))

    @property
    def decision(self) -> str:
        """What to do, in one sentence."""
        within = f"next-token distribution within {self.error:g} nats"
        if math.isinf(self.q95):
            return (
                f"no replay of up to {self.longest} tokens gives the {within} at 95 % of positions"
            )
        return f"replay {self.q95:.0f} tokens: {within} at 95 % of positions"

    def __str__(self) -> str:
        states = self.quantile(0.5, self.state_windows.max(axis=0))
        shown = lambda w: f"{w:.0f}" if math.isfinite(w) else f"≥ {self.longest}"
        return (
            f"{self.decision}\nmedian {shown(self.median)}, 95 % {shown(self.q95)}, worst "
            f"{shown(self.worst)}, {self.evidence}; states within "
            f"{self.error:g}: median {shown(states)}, slowest layer "
            f"{self.bottleneck}; first token lost after {shown(self.first_token)}"
        )


def first_good(errors: np.ndarray, allowed: float) -> np.ndarray:
    """The least window from which on errors stay within what is allowed, else inf.

    NaN stands where a run had ended.
    """
    bad = errors > allowed
    last = errors.shape[-1] - np.argmax(bad[..., ::-1], axis=-1)
    windows = np.where(bad.any(axis=-1), last + 1, 1).astype(float)
    room = errors.shape[-1] - np.isnan(errors).sum(axis=-1)
    return np.where(windows > room, np.inf, windows)
