r"""A certificate: $\|\phi^k(h) - \phi^k(h')\|_2 \le C\,\lambda^k\,\|h - h'\|_2$ for every $k$.

Inputs are the same on both sides and stay within `input_bound`; both states are in
`domain`, which they then never leave. The statement is about the map in real numbers,
with the weights taken as the exact numbers that are stored.
"""

from collections.abc import Mapping
from typing import Any

import equinox as eqx
from jax.flatten_util import ravel_pytree

from ..._show import html_table
from ..._types import State
from .metric import Domain


class Contraction(eqx.Module):
    """`phi` shrinks distances by `rate` per step in the given metric, on its domain.

    Distances in the metric lie between the Euclidean one and `overshoot` times it.
    """

    rate: float
    """The proved factor per step; at 1 or above the certificate is vacuous."""
    overshoot: float
    """C, how far the Euclidean distance may grow before it shrinks."""
    metric: str
    """norm, infinity, diagonal, full or lyapunov."""
    domain: Domain
    """The states that the certificate speaks of: all, or a stated set round zero."""
    input_gain: float
    """L_x: a change of x by 1 in its largest component moves phi(h, x) by at most
    this, in the Euclidean norm."""
    input_bound: float | None
    """B_x: every component of every input lies between plus and minus this, which
    inputs of Euclidean norm up to B_x do; None: any input."""
    at_rest: float
    """An upper end of the norm of phi(0, 0), which Lemma 1 needs where it is not 0."""
    reach: float
    """A state in the orbit of zero, and the zero state in its place, are at most
    this far apart after zero steps, overshoot included: the gap of a window of k
    steps is at most `reach * rate**k`. Infinite where no bound is known."""
    limit: float
    """No certificate in any fixed metric can show a rate below this (a spectral
    radius that the slopes allow); 0 where it was not looked for."""
    verified: bool
    """Whether our own arithmetic, rounding counted, has confirmed every inequality."""
    evidence: Mapping[str, Any]
    """The norm itself, the metrics tried with their rates, those not tried and why."""

    @property
    def vacuous(self) -> bool:
        """Whether the certificate proves nothing about the past being forgotten."""
        return not (self.verified and self.rate < 1)

    def distance(self, h: State, other: State) -> Any:
        """How far two states of the domain are apart in the metric (traceable)."""
        self.domain.require(h, other)
        return self.evidence["norm"](ravel_pytree(h)[0] - ravel_pytree(other)[0])

    def __str__(self) -> str:
        bound = "" if self.input_bound is None else f"|x| up to {self.input_bound:g}, "
        if self.vacuous:
            return (
                f"vacuous: no metric tried proves a contraction, for {bound}{self.domain} "
                f"(best {self.rate:.4g})"
            )
        return (
            f"contracts by {self.rate:.4g} per step in the {self.metric} metric, "
            f"overshoot {self.overshoot:.3g}, for {bound}{self.domain}"
        )

    def _repr_html_(self) -> str:
        rows = [
            ("rate", f"{self.rate:.6g} a step"),
            ("overshoot", f"{self.overshoot:.4g}"),
            ("metric", self.metric),
            ("states", str(self.domain)),
            ("inputs", "any" if self.input_bound is None else f"|x| up to {self.input_bound:g}"),
            ("verified", "yes" if self.verified else "no"),
        ]
        return html_table("proves nothing" if self.vacuous else "contracts", rows)
