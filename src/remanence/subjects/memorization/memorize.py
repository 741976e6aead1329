r"""A string written straight into weights: $h_i = \rho(W_h h_{i-1} + W_x x_i)$, $x_{i+1} = \arg\max y_i$.

Seven constructions, from one unit that is chaotic and precise to as many as the
string has symbols that repair themselves, each with a certificate.
"""

import contextlib
import dataclasses
import math
from collections.abc import Hashable, Sequence

import numpy as np

from .certificates.attraction import attraction_certificate
from .certificates.integer_exactness import exact_certificate, shift_steps
from .certificates.rotation_drift import drift_certificate
from .constructions.harmonic import harmonic
from .constructions.limit_cycle import exponent, GAIN, limit_cycle
from .constructions.long_words import LEAD
from .constructions.permutation import permutation
from .constructions.rational import rational
from .constructions.rotation import rotation
from .constructions.shift_map import shift
from .constructions.single_reading import one_reading, reading_certificate
from .memory import margin, Memory
from .minimal.deadline import Deadline
from .minimal.minimal_dimension import harmonic_dimension, LONG, MinimalDimension
from .minimal.single_pass import single_pass
from .words import Word, word as spelled_word
from .written import begun, Written


METHODS = ("auto", "rotation", "permutation", "harmonic", "rational", "shift", "tanh", "once")
COVERED = 1e6
"""The float32 steps that `auto` wants proved."""
ONCE = 64
"""The longest string, `<END>` included, that `auto` tries to say in a single pass."""


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
        raise ValueError(
            f"stride goes with method='permutation', got stride={stride} and {method!r}"
        )
    w = spelled_word(word, alphabet=alphabet, end=end)
    if method == "auto":
        memory = _best(w, gain, time_limit)
    else:
        memory = _built(w, method, stride, gain, time_limit)
    return _begun(memory) if start else memory


def _begun(memory: Memory) -> Memory:
    outputs = len(memory.word.alphabet)
    exact = None if memory.exact is None else begun(memory.exact, outputs)
    written = begun(memory.written, outputs)
    return dataclasses.replace(memory, written=written, exact=exact)


def _built(w: Word, method: str, stride: int, gain: float, time_limit: float) -> Memory:
    if method == "once":
        return _once(w, time_limit)
    if method == "rotation":
        written, turns, _ = rotation(w, Deadline(time_limit))
        frequencies = (turns,)
        certificate = drift_certificate(written, w.indices, w.period, frequencies)
        return Memory(w, method, written, margin(written, w), 0.0, certificate, frequencies)
    if method == "harmonic":
        found = harmonic_dimension(w, time_limit=time_limit)
        # Only a hint on how finely to round: the certificate takes nothing on trust.
        lead = found.lead if found.series is None else LEAD / 2
        written = harmonic(w, found.frequencies, found.readout, lead)
        certificate = drift_certificate(written, w.indices, w.period, found.frequencies)
        largest = 0.0 if found.frequencies else -math.inf
        return Memory(
            w, method, written, margin(written, w), largest, certificate, found.frequencies
        )
    if method in ("permutation", "rational"):
        frequencies = ()
        if method == "rational":
            found = harmonic_dimension(w, field="rational", time_limit=time_limit)
            frequencies = found.frequencies
            exact = rational(w, frequencies, _plain_readout(found))
        else:
            exact = permutation(w, stride=stride)
        certificate = exact_certificate(exact, w.indices)
        largest = -math.inf if method == "rational" and not frequencies else 0.0
        return Memory(
            w, method, _floating(exact), margin(exact, w), largest, certificate, frequencies, exact
        )
    if method == "tanh":
        written = limit_cycle(w, gain=gain)
        certificate = attraction_certificate(written, w.indices)
        return Memory(w, method, written, margin(written, w), exponent(gain), certificate)
    made = shift(w)
    certificate = exact_certificate(made.exact, w.indices, unit=made.denominator)
    base = int(made.written.W_h[0, 0])
    certificate = dataclasses.replace(certificate, steps=shift_steps(made.rooms, base))
    return Memory(
        w, method, made.written, min(made.rooms), math.log(base), certificate, exact=made.exact
    )


def _once(w: Word, time_limit: float) -> Memory:
    if not w.end:
        raise ValueError("once says a string a single time, so it needs end=True")
    found = single_pass(w, field="real", time_limit=time_limit)
    written = one_reading(w, found)
    certificate = reading_certificate(written, w.indices)
    largest = max((math.log(abs(z)) for z in found.eigenvalues), default=-math.inf)
    return Memory(w, "once", written, margin(written, w), largest, certificate)


def _plain_readout(found: MinimalDimension) -> np.ndarray | None:
    """Any readout over the set: integers do not drift, so it need not be the widest.
    None where all harmonics are there and a closed form serves."""
    if len(found.frequencies) == found.word.period // 2:
        return None
    return found.readout if found.plain is None else found.plain


def _best(w: Word, gain: float, time_limit: float) -> Memory:
    """The smallest proved memory without feedback."""
    methods = ["harmonic", "rational", "permutation", "tanh"]
    deadline = Deadline(time_limit)
    built = [_built(w, name, 1, gain, deadline.left / 2) for name in methods]
    if 1 < w.period <= LONG and built[0].dimension >= 2:
        with contextlib.suppress(ValueError):
            built.append(_built(w, "rotation", 1, gain, deadline.left))
    proved = [m for m in built if m.certificate.steps["float32"] >= COVERED]
    if w.end and 1 < w.period <= ONCE:
        once = _once(w, deadline.left)
        # The string ends, and with it what has to be proved.
        if once.certificate.steps["float32"] >= w.period:
            proved.append(once)
    if not proved:
        # No float32 proof reaches that far (very long words): exact integers do.
        proved = [built[2]]
    return min(
        proved,
        key=lambda m: (
            m.dimension,
            m.method == "once",
            -m.margin,
            methods.index(m.method) if m.method in methods else 9,
        ),
    )


def _floating(exact: Written) -> Written:
    of = lambda a: a.astype(float) if isinstance(a, np.ndarray) else a
    return dataclasses.replace(
        exact, W_h=of(exact.W_h), W_y=of(exact.W_y), b_y=of(exact.b_y), h_0=of(exact.h_0)
    )
