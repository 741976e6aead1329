r"""Informed residuals: angles from the data's mean power spectrum, radii from timescales.

$$S(\omega) = \Big\langle \tfrac{1}{T}\Big|\sum_t (s_t - \bar s)\, e^{-i\omega t}\Big|^2 \Big\rangle,
\qquad r = e^{-1/\tau}$$

The peaks of $S$ are the frequencies at which the data repeats itself; pairs of units
are given to them in proportion to their amplitude $\sqrt{S}$.
"""

import math
from collections.abc import Sequence
from typing import Any

import equinox as eqx
import numpy as np
from jaxtyping import Array, Float
from scipy.signal import find_peaks

from .residual_spectrum import spectral


SHORTEST = 0.01
"""Steps: a shorter timescale is a radius of 0, which remembers nothing."""


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
            allowed = "(time), (samples, time) or (samples, time, inputs)"
            raise ValueError(f"data must be {allowed}, got shape {array.shape}")
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


class InformedResidual(eqx.Module):
    """A residual matrix and why it is so; `np.asarray` of it is the matrix."""

    R: Float[Array, "units units"]
    radii: tuple[float, ...]
    """One a pair of units; the timescale is -1/log(radius)."""
    angles: tuple[float, ...]
    """One a pair of units, in radians per step."""
    peaks: tuple[float, ...]
    """The angles of the peaks that were used, strongest first."""
    shares: tuple[int, ...]
    """How many pairs each peak was given."""
    spectrum: PowerSpectrum

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.array(self.R, dtype=dtype)

    def draw(self) -> Any:
        """A matplotlib figure: the spectrum with its peaks, and the eigenvalues made of them."""
        import matplotlib.pyplot as plt

        figure, (left, right) = plt.subplots(
            1, 2, figsize=(8, 3.4), width_ratios=(3, 2), layout="constrained"
        )
        S = self.spectrum
        left.semilogy(S.angles[1:], S.power[1:], lw=1)
        at = np.interp(self.peaks, S.angles, S.power)
        left.plot(self.peaks, at, "o", ms=5, mfc="none", color="C1", label="peaks used")
        left.set(xlabel="angular frequency (radians per step)", ylabel="mean power")
        left.legend(frameon=False)
        turn = np.linspace(0, 2 * np.pi, 200)
        right.plot(np.cos(turn), np.sin(turn), lw=0.8, color="C7")
        r, phi = np.array(self.radii), np.array(self.angles)
        right.plot(r * np.cos(phi), r * np.sin(phi), ".", color="C1")
        right.plot(r * np.cos(phi), -r * np.sin(phi), ".", color="C1")
        right.set(xlabel="real part", ylabel="imaginary part", aspect="equal")
        right.set_title("eigenvalues of R", fontsize="medium")
        return figure


def spectral_peaks(spectrum: PowerSpectrum, *, most: int) -> np.ndarray:
    """The angles of the highest local maxima above frequency 0, strongest first.

    A peak must stand out of its surroundings by a factor of 1.5, so that the grain
    of a spectrum of noise is not mistaken for a period.
    """
    logs = np.log(np.maximum(spectrum.power, 1e-12 * spectrum.power.max()))
    # Frequency 0 has no power by construction; below it the spectrum is mirrored.
    logs[0] = logs[1:].min()
    at, _ = find_peaks(np.append(logs, logs.min()), prominence=math.log(1.5))
    at = at[np.argsort(-logs[at], kind="stable")]
    return spectrum.angles[at[:most]]


def informed_residual(
    data: Any,
    units: int = 64,
    *,
    timescales: float | int | Sequence[float | int] | None = None,
    peaks: int = 8,
) -> InformedResidual:
    """A residual matrix that listens at the data's own frequencies.

    Each of the `peaks` strongest peaks gets pairs of units in proportion to its
    amplitude, at least one while they last; within a peak the pairs take the
    `timescales` (in steps) in turn. By default these run from an eighth of the
    sequence to the whole of it.

    >>> wave = np.cos(2 * np.pi * np.arange(64) / 8)
    >>> informed = informed_residual(wave, units=4, timescales=20.0)
    >>> [round(angle, 4) for angle in informed.angles]
    [0.7854, 0.7854]
    """
    if not isinstance(units, int | np.integer) or units < 2 or units % 2:
        near = f"{units - 1} or {units + 1}" if units > 2 else "2"
        said = f"2 x 2 blocks need an even number of units, got {units!r}"
        raise ValueError(f"{said}: take {near}, or a homogeneous residual")
    pairs = units // 2
    if not isinstance(peaks, int | np.integer) or peaks < 1:
        raise ValueError(f"peaks must be a whole number of at least 1, got {peaks}")
    spectrum = power_spectrum(data)
    if timescales is None:
        timescales = np.geomspace(max(2.0, spectrum.steps / 8), spectrum.steps, 4).tolist()
    taus = np.atleast_1d(np.asarray(timescales))
    real = taus.size > 0 and taus.dtype.kind in "iuf"
    if not real or not (np.isfinite(taus).all() and (taus >= SHORTEST).all()):
        raise ValueError(f"timescales must be at least {SHORTEST:g} steps, got {timescales}")
    found = spectral_peaks(spectrum, most=min(peaks, pairs))
    if found.size == 0:
        raise ValueError(
            "the power spectrum has no peak: take a heterogeneous residual, or more data"
        )
    shares = _shares(np.sqrt(np.interp(found, spectrum.angles, spectrum.power)), pairs)
    angles = np.repeat(found, shares)
    radii = np.concatenate([np.exp(-1 / np.resize(taus, share)) for share in shares])
    r, phi, used, each = (tuple(array.tolist()) for array in (radii, angles, found, shares))
    return InformedResidual(spectral(r, phi), r, phi, used, each, spectrum)


def _shares(weights: np.ndarray, total: int) -> np.ndarray:
    """`total` things among `weights`, one each first, the rest by largest remainder."""
    rest = total - len(weights)
    exact = rest * weights / weights.sum()
    shares = np.floor(exact).astype(int)
    order = np.argsort(shares - exact, kind="stable")
    shares[order[: rest - shares.sum()]] += 1
    return shares + 1
