r"""For how many steps a written memory is right, and why.

Three proofs, each from the weights and the word alone: `exactness` (integers that
return), `drift` (rotations whose error grows slower than the leads allow) and
`attraction` (boxes that the network maps into each other).
"""

import dataclasses
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from ..written import columns, Written


FOREVER = math.inf
UNIT = {"float32": 2.0**-24, "float64": 2.0**-53}
WHOLE = {"float32": 2**24, "float64": 2**53}


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
        said = {
            name: "for ever" if math.isinf(n) else f"for {int(n):,} steps"
            for name, n in self.steps.items()
        }
        return f"proved by {self.kind}: " + "; ".join(
            f"{name} {text}" for name, text in said.items()
        )


def first_state(written: Written) -> np.ndarray:
    """$h_1$, after whatever is heard first."""
    h = written.W_h @ written.h_0
    if written.W_x is not None:
        h = h + columns(written.W_x, written.inputs)[written.first]
    h = np.tanh(h) if written.activation == "tanh" else h
    # Equal up to rounding is meant to be equal: the box has room for it.
    return np.copysign(np.abs(h[0]), h) if np.ptp(np.abs(h)) < 1e-12 else h
