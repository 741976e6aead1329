r"""Lyapunov exponents with their errors, and by layer: what `lyapunov_spectrum` returns.

Kaplan and Yorke's dimension and Pesin's entropy follow from them,

$$D = j + \frac{\lambda_1 + \dots + \lambda_j}{|\lambda_{j+1}|}, \qquad
  H = \sum_{\lambda_i > 0} \lambda_i$$

with $j$ the last index whose partial sum is not negative.
"""

import dataclasses

import numpy as np
from jaxtyping import Bool, Float
from scipy.special import stdtrit

from ..._show import aligned, html_table


@dataclasses.dataclass(frozen=True, kw_only=True)
class LayerDecays:
    """The exponents of one recurrence, by channel or head, as it is driven by a text."""

    layer: int
    kind: str
    exponents: Float[np.ndarray, "..."]
    """Nats a step: channels x states, one a head, or heads x keys."""
    stderr: Float[np.ndarray, "..."]
    multiplicity: int
    """How many states share each."""
    low: Float[np.ndarray, "..."]
    """The 5 % quantile over windows of `window` steps: stretches that forget quickly."""
    high: Float[np.ndarray, "..."]
    """The 95 % quantile: stretches that keep nearly everything."""
    window: int
    steps: int

    @property
    def timescales(self) -> Float[np.ndarray, "..."]:
        """Steps in which a state fades by a factor e; inf where it does not."""
        with np.errstate(divide="ignore"):
            return np.where(self.exponents < 0, -1 / self.exponents, np.inf)

    @property
    def unforgotten(self) -> Bool[np.ndarray, "..."]:
        """Where less than a factor e is lost in all `steps`: the timescale is at least that."""
        return self.exponents * self.steps > -1


@dataclasses.dataclass(frozen=True, kw_only=True)
class Spectrum:
    """Lyapunov exponents in nats per step, largest first, with their errors.

    The exponent of a direction in which a Jacobian was exactly singular is -inf.
    """

    exponents: Float[np.ndarray, " k"]
    stderr: Float[np.ndarray, " k"]
    """From the scatter of batches, what is left of the start, and rounding."""
    converged: bool
    verdict: str
    """One sentence: what was found, and what stands against believing it."""
    running: Float[np.ndarray, "batches k"]
    """The estimate after each batch of steps, for plotting."""
    times: Float[np.ndarray, " batches"]
    """The steps after the warm-up at which `running` was taken."""
    dimension: int
    """How many exponents the map has; `exponents` holds the first of them."""
    steps: int
    warmup: int
    sequences: int
    dof: int
    """Degrees of freedom of the standard errors."""
    rounding: Float[np.ndarray, " k"]
    """About what rounding cost each exponent, in nats a step: an estimate, no bound.

    It is inf where rounding hides the exponent: see `below`.
    """
    interval: float = 1.0
    """Mean number of steps between factorisations."""
    diverged_at: int | None = None
    """The step at which the state left the range of floating point, if it did."""
    method: str = "frames"
    """How the exponents were found: by frames, or as means of log decays."""
    lost: int = 0
    """States of convolutions, shifts and local attention: -inf, counted and not listed."""
    layers: "tuple[LayerDecays, ...]" = ()
    """The exponents by layer, where the cell has layers with decays."""

    @property
    def complete(self) -> bool:
        """Whether every exponent of the map is there."""
        return len(self.exponents) + self.lost == self.dimension

    @property
    def below(self) -> Bool[np.ndarray, " k"]:
        """Where rounding hides an exponent: it is below the number given."""
        return np.isinf(self.rounding)

    @property
    def horizon(self) -> float:
        """Steps in which the slowest direction fades by a factor e; inf if it does not."""
        top = float(self.exponents[0])
        return -1.0 / top if top < 0 else float("inf")

    @property
    def entropy(self) -> float:
        """The sum of the positive exponents (Pesin's bound), in nats per step."""
        return float(self.exponents[self.exponents > 0].sum())

    @property
    def kaplan_yorke(self) -> float:
        """Kaplan and Yorke's dimension; inf when the first `k` exponents do not settle it."""
        sums = np.cumsum(self.exponents)
        if not sums[0] >= 0:
            return 0.0
        j = int(np.flatnonzero(sums >= 0)[-1]) + 1
        if j == len(self.exponents):
            return float(j) if self.complete else float("inf")
        return float(j + sums[j - 1] / abs(self.exponents[j]))

    def confidence(
        self, level: float = 0.95
    ) -> tuple[Float[np.ndarray, " k"], Float[np.ndarray, " k"]]:
        """The interval that holds each exponent with the given probability."""
        if not 0 < level < 1:
            raise ValueError(f"level must lie between 0 and 1, got {level}")
        reach = stdtrit(max(self.dof, 1), 0.5 + level / 2) * self.stderr
        low = np.where(self.below, -np.inf, self.exponents - reach)
        return low, self.exponents + reach

    @property
    def _rows(self) -> list[tuple[str, str]]:
        shown = [
            f"{value:.4g} ± {error:.1g}"
            for value, error in zip(self.exponents[:4], self.stderr[:4], strict=True)
        ]
        more = ", …" if len(self.exponents) > 4 else ""
        return [
            ("exponents", f"{', '.join(shown)}{more} nats a step"),
            ("how many", f"{len(self.exponents)} of {self.dimension}, by {self.method}"),
            ("horizon", f"{self.horizon:.4g} steps"),
            ("measured on", f"{self.sequences} × {self.steps:,} steps, {self.warmup:,} before"),
        ]

    def __str__(self) -> str:
        return aligned(self.verdict, self._rows)

    def _repr_html_(self) -> str:
        return html_table(self.verdict, self._rows)
