r"""For how many steps a written memory is right, and why.

Four proofs, each from the weights and the word alone: `exactness` (integers that
return), `rotation_drift` (rotations whose error grows slower than the leads allow),
`attraction` (boxes that the network maps into each other) and `reading_margin`.
"""

import dataclasses
import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy.sparse import issparse

from ..constructions.harmonic import block_diagonal
from ..written import Written


FOREVER = math.inf
UNIT = {"float32": 2.0**-24, "float64": 2.0**-53}
WHOLE = {"float32": 2**24, "float64": 2**53}
TINY = 2.0**-100
"""Far above what underflow, in float32 too, does to a sum of a million terms."""


@dataclasses.dataclass(frozen=True)
class Certificate:
    """`steps[dtype]` steps from the start are right; `inf` means for ever.

    `lead` is the least proved lead of the right logit on the true orbit.
    """

    kind: str
    lead: float
    steps: Mapping[str, float]
    evidence: Mapping[str, Any]

    @property
    def sentence(self) -> str:
        said = (
            f"{name} for ever" if math.isinf(n) else f"{name} for {int(n):,} steps"
            for name, n in self.steps.items()
        )
        return f"proved by {self.kind}: " + "; ".join(said)


def first_state(written: Written) -> np.ndarray:
    """$h_1$, after whatever is heard first."""
    return next(written.run(1))[0]


def planes(W_h: Any) -> tuple[list[int], list[complex]]:
    """Where each block of a block-diagonal W_h begins, and its eigenvalue: single units,
    and planes that turn and stretch."""
    d, starts, found = W_h.shape[0], [], []
    along, below = W_h.diagonal(), np.append(W_h.diagonal(-1), 0.0)
    at = 0
    while at < d:
        starts.append(at)
        found.append(complex(along[at], below[at]))
        at += 2 if below[at] else 1
    if at > d or not same(W_h, block_diagonal(found)):
        raise ValueError("W_h is not made of planes and single units")
    return starts, found


def pulls(W: np.ndarray, starts: list[int]) -> np.ndarray:
    """What a unit of drift in each plane does to the difference of any two logits."""
    return np.array([np.sqrt(np.add.reduceat((row - W) ** 2, starts, axis=1)) for row in W])


def same(A: Any, B: Any) -> bool:
    """Whether two matrices, dense or sparse, hold the same numbers."""
    if A.shape != B.shape:
        return False
    differ = A != B
    return differ.nnz == 0 if issparse(differ) else not np.any(differ)
