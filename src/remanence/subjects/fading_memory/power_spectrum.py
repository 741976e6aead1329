r"""The mean power spectrum of a data set, whatever it came as.

$$S(\omega) = \Big\langle \tfrac{1}{T}\Big|\sum_t (s_t - \bar s)\, e^{-i\omega t}\Big|^2 \Big\rangle$$
"""

from collections.abc import Sequence
from typing import Any

import equinox as eqx
import numpy as np
from jaxtyping import Float


class PowerSpectrum(eqx.Module):
    """Mean power at each angular frequency, in radians per step, the mean removed."""

    angles: Float[np.ndarray, " frequencies"]
    power: Float[np.ndarray, " frequencies"]
    steps: int
    """Length of the (longest) sequence."""


def power_spectrum(data: Any) -> PowerSpectrum:
    """The mean power spectrum of a data set.

    `data` is one sequence, an array (samples, time) or (samples, time, inputs), or
    a list of sequences of different lengths; integers are tokens and counted as
    one-hot vectors. The power of a shorter sequence is taken at its own frequencies
    and interpolated: zeros behind it would add frequencies of their own.

    >>> wave = np.cos(2 * np.pi * np.arange(64) / 8)
    >>> spectrum = power_spectrum(wave)
    >>> round(float(spectrum.angles[spectrum.power.argmax()]), 4)  # 2 pi / 8
    0.7854
    """
    sequences = _sequences(data)
    steps = max(len(sequence) for sequence in sequences)
    if steps < 4:
        raise ValueError(f"a spectrum needs at least 4 steps, got {steps}")
    _refuse_odd_values(sequences)
    angles = 2 * np.pi * np.fft.rfftfreq(steps)
    power = np.zeros(len(angles))
    for sequence in sequences:
        deviation = sequence - sequence.mean(0)
        own = (np.abs(np.fft.rfft(deviation, axis=0)) ** 2).sum(1) / len(deviation)
        power += np.interp(angles, 2 * np.pi * np.fft.rfftfreq(len(deviation)), own)
    return PowerSpectrum(angles, power / len(sequences), steps)


def _refuse_odd_values(sequences: list[np.ndarray]) -> None:
    """Refuse what does not move, or by more or less than can be squared."""
    if not all(np.isfinite(sequence).all() for sequence in sequences):
        raise ValueError("data must be finite, got NaN or infinity")
    # Not by the deviations from the mean: those of a constant are its rounding.
    with np.errstate(over="ignore"):
        swing = max(float(np.ptp(sequence, axis=0).max()) for sequence in sequences)
    if swing == 0:
        raise ValueError("data must change in time, got constant sequences")
    if not 1e-140 < swing < 1e140:
        raise ValueError(f"data must change by 1e-140 to 1e+140, got {swing:.0e}: scale them")


def _sequences(data: Any) -> list[np.ndarray]:
    """Sequences as (time, inputs) arrays, whatever the data came as."""
    if isinstance(data, Sequence) and data and np.ndim(data[0]) > 0:
        parts = [np.asarray(part) for part in data]
    else:
        array = np.asarray(data)
        if array.ndim not in (1, 2, 3) or array.size == 0:
            raise ValueError(
                f"data must be (time), (samples, time) or (samples, time, inputs), got shape {array.shape}"
            )
        parts = [array] if array.ndim == 1 else list(array)
    if any(part.ndim not in (1, 2) or not part.size for part in parts):
        raise ValueError("every sequence must be (time) or (time, inputs) and not empty")
    strange = [part.dtype for part in parts if part.dtype.kind not in "biuf"]
    if strange:
        raise ValueError(f"data must be real numbers or tokens, got {strange[0]}")
    if all(np.issubdtype(part.dtype, np.integer) and part.ndim == 1 for part in parts):
        tokens = np.unique(np.concatenate(parts))
        if len(tokens) > 512:
            raise ValueError(f"{len(tokens)} different tokens are too many, at most 512")
        parts = [(part[:, None] == tokens) for part in parts]
    columns = [part[:, None] if part.ndim == 1 else part for part in parts]
    return [np.asarray(part, float) for part in columns]
