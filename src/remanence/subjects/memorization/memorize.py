r"""A string written straight into weights: $h_i = \rho(W_h h_{i-1} + W_x x_i)$, $x_{i+1} = \arg\max y_i$.

Seven constructions, from one unit that is chaotic and precise to as many as the string has symbols
that repair themselves, each with a certificate.
"""

import contextlib
import dataclasses
import math
from collections.abc import Hashable, Sequence

from .certificates import CERTIFICATES
from .certificates.certificate import shift_certificate
from .constructions.permutation import permutation
from .constructions.rational import rational
from .constructions.rotations import harmonic, rotation
from .constructions.shift_map import base, shift_map
from .constructions.tanh_cycle import exponent, GAIN, limit_cycle
from .memory import margin, Memory
from .minimal.cheapest_harmonics import harmonic_dimension, LONG
from .minimal.minimal_dimension import single_pass
from .minimal.separation import Deadline
from .words import Word, word as word_of
from .written import with_start


METHODS = ("auto", "rotation", "permutation", "harmonic", "rational", "shift", "tanh", "once")
COVERED = 1e6  # the float32 steps that `auto` wants proved
ONCE = 64  # the longest string, `<END>` included, that `auto` tries to say in a single pass


def memorize(
    word: str | Sequence[Hashable],
    *,
    method: str = "auto",
    alphabet: str | Sequence[Hashable] | None = None,
    end: bool = False,
    start: bool = False,
    stride: int = 1,
    gain: float = GAIN,
    time_limit: float = 10.0,
) -> Memory:
    """A network that spells `word` again and again, or once if `end` is set.

    `auto` takes, among the constructions without feedback, the fewest units whose
    certificate covers a million steps in float32; ties go to the wider margin. A string
    with `end` is over sooner, so there `once` counts too, a network that says it a
    single time and may then say anything.
    With `start` the state begins at zero and a `<START>` token moves it. `stride`
    is the power of the cyclic permutation, `gain` that of tanh.

    >>> memory = memorize("abracadabra")
    >>> memory.generate(22)
    'abracadabraabracadabra'
    """
    if method not in METHODS:
        raise ValueError(f"method must be one of {', '.join(METHODS)}, got {method!r}")
    if not time_limit >= 0:
        raise ValueError(f"time_limit must not be negative, got {time_limit}")
    if stride != 1 and method != "permutation":
        raise ValueError(f"stride goes with method='permutation', got {stride=} and {method!r}")
    w = word_of(word, alphabet=alphabet, end=end)
    if method == "auto":
        memory = _smallest(w, gain, time_limit)
    else:
        memory = _memory(w, method, stride, gain, time_limit)
    if not start:
        return memory
    exact = None if memory.exact is None else with_start(memory.exact)
    return dataclasses.replace(memory, written=with_start(memory.written), exact=exact)


def _memory(w: Word, method: str, stride: int, gain: float, time_limit: float) -> Memory:
    exact, frequencies, largest = None, (), 0.0
    if method == "shift":
        written, exact, unit = shift_map(w)
        proof = shift_certificate(exact, w.indices, unit)
        width, largest = proof.evidence["margin"], math.log(base(w))
        return Memory(w, method, written, width, largest, proof, (), exact)
    if method == "once":
        if not w.end:
            raise ValueError("once says a string a single time, so it needs end=True")
        found = single_pass(w, time_limit=time_limit)
        written = found.written
        largest = max((math.log(abs(z)) for z in found.eigenvalues), default=-math.inf)
    elif method == "rotation":
        written, turns = rotation(w, Deadline(time_limit))
        frequencies = (turns,)
    elif method == "permutation":
        written = exact = permutation(w, stride=stride)
    elif method == "tanh":
        written, largest = limit_cycle(w, gain=gain), exponent(gain)
    else:
        field = "rational" if method == "rational" else "real"
        if field == "rational" and w.period > LONG:
            others = "permutation and tanh more"
            raise ValueError(f"rational serves up to {LONG} symbols, got {w.period:,}; {others}")
        found = harmonic_dimension(w, field=field, time_limit=time_limit)
        frequencies, largest = found.frequencies, 0.0 if found.frequencies else -math.inf
        if method == "harmonic":
            written = harmonic(w, frequencies, found.readout, found.lead)
        else:
            # Integers do not drift, so the readout need not be the widest.
            first = dataclasses.replace(found, left=0.0).readout
            written = exact = rational(w, frequencies, first)
    certificate, width = CERTIFICATES[method](written, w.indices), margin(written, w)
    written = written if exact is None else exact.astype(float)
    return Memory(w, method, written, width, largest, certificate, frequencies, exact)


def _smallest(w: Word, gain: float, time_limit: float) -> Memory:
    """The smallest proved memory without feedback."""
    deadline, found = Deadline(time_limit), []
    for method in ("harmonic", "rational", "permutation", "tanh"):
        # Rational memories of long words are refused.
        with contextlib.suppress(ValueError):
            found.append(_memory(w, method, 1, gain, deadline.left / 2))
    if 1 < w.period <= LONG and found[0].dimension >= 2:
        with contextlib.suppress(ValueError):
            found.append(_memory(w, "rotation", 1, gain, deadline.left))
    proved = [m for m in found if m.certificate.steps["float32"] >= COVERED]
    if w.end and 1 < w.period <= ONCE:
        once = _memory(w, "once", 1, gain, deadline.left)
        # The string ends, and with it what has to be proved.
        if once.certificate.steps["float32"] >= w.period:
            proved.append(once)
    # No float32 proof reaches that far (very long words): exact integers do.
    proved = proved or [m for m in found if m.method == "permutation"]
    return min(proved, key=lambda m: (m.dimension, m.method == "once", -m.margin))
