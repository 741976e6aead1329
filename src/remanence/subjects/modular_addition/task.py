r"""Modular arithmetic, $[a, b, =] \mapsto a \circ b \bmod P$ with $\circ$ one of $+, -, \times$.

Each operation is addition in disguise: there is an order of the tokens in which
the answer's index is $\pm i_a \pm i_b$ modulo the `period`. For $+$ and $-$ it is
the order of the integers; for $\times$ the powers $g^0, g^1, \dots$ of a primitive
root, without 0. The frequencies of a network are read in that order.
"""

import dataclasses
import functools

import jax.random as jr
import numpy as np
from jaxtyping import Bool, Int

from ..._types import Key


OPERATIONS = ("+", "-", "×")


@dataclasses.dataclass(frozen=True)
class Modular:
    """All sums, differences or products of two residues; `=` is token `modulus`.

    >>> Modular(7, "×").answers[3, 5]
    np.int64(1)
    >>> Modular(7, "×").elements.tolist()
    [1, 3, 2, 6, 4, 5]
    """

    modulus: int
    operation: str = "+"

    def __post_init__(self):
        if self.modulus < 3:
            raise ValueError(f"modulus must be at least 3, got {self.modulus}")
        if self.operation not in OPERATIONS:
            raise ValueError(f"operation must be +, - or ×, got {self.operation!r}")
        if self.operation == "×" and not _is_prime(self.modulus):
            raise ValueError(f"× needs a prime modulus for its characters, got {self.modulus}")

    @property
    def tokens(self) -> int:
        """Size of the vocabulary: the residues and `=`."""
        return self.modulus + 1

    @property
    def period(self) -> int:
        """Order of the cyclic group whose characters are the frequencies."""
        return self.modulus - 1 if self.operation == "×" else self.modulus

    @functools.cached_property
    def elements(self) -> Int[np.ndarray, " period"]:
        """The tokens in the order in which the operation is addition."""
        if self.operation != "×":
            return np.arange(self.modulus)
        root = primitive_root(self.modulus)
        return np.array([pow(root, i, self.modulus) for i in range(self.period)])

    @functools.cached_property
    def answers(self) -> Int[np.ndarray, "modulus modulus"]:
        """The whole table, row a, column b."""
        a, b = np.ogrid[: self.modulus, : self.modulus]
        results = {"+": a + b, "-": a - b, "×": a * b}
        return results[self.operation] % self.modulus

    @functools.cached_property
    def phases(self) -> Int[np.ndarray, "period period"]:
        """Index of the answer for the elements at two indices."""
        i, j = np.ogrid[: self.period, : self.period]
        return (i - j if self.operation == "-" else i + j) % self.period

    def training_pairs(self, fraction: float, *, key: Key) -> Bool[np.ndarray, "modulus modulus"]:
        """A random choice of that fraction of the table to train on; the rest is held out."""
        pairs = self.modulus**2
        chosen = round(fraction * pairs) if 0 < fraction < 1 else 0
        if not 0 < chosen < pairs:
            raise ValueError(
                f"train fraction must leave pairs on both sides of 0 and 1, got {fraction}"
            )
        mask = np.zeros(pairs, dtype=bool)
        mask[np.asarray(jr.permutation(key, pairs))[:chosen]] = True
        return mask.reshape(self.modulus, self.modulus)


def primitive_root(prime: int) -> int:
    """The smallest generator of the units modulo a prime.

    >>> primitive_root(113)
    3
    """
    powers = lambda g: {pow(g, i, prime) for i in range(1, prime)}
    return next(g for g in range(1, prime) if len(powers(g)) == prime - 1)


def _is_prime(n: int) -> bool:
    return n > 1 and all(n % q for q in range(2, int(n**0.5) + 1))
