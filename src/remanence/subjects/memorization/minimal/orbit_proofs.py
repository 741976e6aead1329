r"""Proofs that serve a whole orbit of words, $v(t) = w(ut + r)$ with $u$ a unit of $\mathbb{Z}_p$."""

import dataclasses

from ..harmonics import folded
from .refutation import Refutation


@dataclasses.dataclass(frozen=True)
class Carried:
    """Refutations of $v(t) = w(ut + r)$, to be read as refutations of $w$."""

    found: tuple[Refutation, ...]
    unit: int = 1
    shift: int = 0

    def refuted(self, labels: tuple[int, ...]) -> tuple[Refutation, ...]:
        p = len(labels)
        back = pow(self.unit, -1, p) if p > 1 else 1
        at = [(self.unit * t + self.shift) % p for t in range(p)]
        original = list(dict.fromkeys(labels[t] for t in at))
        return tuple(
            dataclasses.replace(
                r,
                frequencies=folded(r.frequencies, back, p),
                pairs=tuple((at[t], original[k]) for t, k in r.pairs),
            )
            for r in self.found
        )
