r"""Periodic noise whose own past is exactly uncorrelated, and a network's response to it.

A sequence $u$ of period $T$ with $|\hat u_f| = \sqrt T$ at every frequency and random
phases looks like independent Gaussian noise, and its $T$ shifts are orthogonal to the
last digit (Schroeder 1970; Pintelon and Schoukens, *System Identification*, 2012). Channel $c$
hears $u$ from $c \cdot T / m$ steps ago, so that one correlation with $u$ gives the response
to every channel at every lag below $T / m$, and chance correlations between inputs, which
blur a regression on drawn noise, do not arise.
"""

import dataclasses
from typing import Any

import equinox as eqx
import jax
import numpy as np
from jaxtyping import Complex, Float

from .._precision import double
from ..cells import output


CHUNK = 256  # steps of one compiled call: every length of run shares the program


@dataclasses.dataclass(frozen=True)
class Excitation:
    """Runs of flat noise, heard by `directions` orthonormal mixtures of the inputs."""

    phases: Complex[np.ndarray, "runs frequencies"]
    directions: Float[np.ndarray, "inputs channels"]
    lags: int
    """Steps between the same noise in one channel and in the next."""
    scale: float
    seed: int

    @property
    def period(self) -> int:
        """Steps until the noise repeats."""
        return self.lags * self.directions.shape[1]

    def states(self, cell: Any) -> Float[np.ndarray, "runs time units"]:
        """What the cell says over one period, after `lags` steps to forget its start."""
        T, (width, channels) = self.period, self.directions.shape
        u = self.scale * np.fft.irfft(self.phases * T**0.5, n=T, axis=1)
        late = self.lags * np.arange(channels)
        rng = np.random.default_rng(self.seed)
        with double():
            h = jax.tree.map(lambda a: np.tile(a, (len(u), *[1] * a.ndim)), cell.initial_state())
        outputs = []
        for begin in range(-self.lags, T, CHUNK):
            t = np.arange(begin, begin + CHUNK)[:, None]
            xs = u[:, (t - late) % T] @ self.directions.T
            if channels < width:  # the mixtures left out are heard too, as noise
                rest = self.scale * rng.standard_normal(xs.shape)
                xs = xs + rest - rest @ self.directions @ self.directions.T
            with double():
                h, y = _advance(cell, h, xs)
            outputs.append(np.asarray(y)[:, max(0, -begin) : T - begin])
        return np.concatenate(outputs, axis=1)

    def responses(
        self, run: int, y: Float[np.ndarray, "time units"]
    ) -> Float[np.ndarray, "channels lags units"]:
        """The mean of $y_t$ times the unit noise that a channel heard k steps before."""
        by_lag = np.fft.rfft(y, axis=0) * self.phases[run].conj()[:, None]
        found = np.fft.irfft(by_lag, n=self.period, axis=0) * self.period**-0.5
        return found.reshape(-1, self.lags, y.shape[1])


def flat_noise(
    width: int, lags: int, *, runs: int, channels: int, scale: float, seed: int
) -> Excitation:
    """Noise drawn anew, in so many random mixtures of the inputs (all of them as they are)."""
    rng = np.random.default_rng(seed)
    T = lags * channels
    phases = np.exp(2j * np.pi * rng.random((runs, T // 2 + 1)))
    # The ends of the spectrum are real; over an even number of runs the mean is nil.
    phases[:, 0] = np.resize([1.0, -1.0], runs)
    if T % 2 == 0:
        phases[:, -1] = rng.choice([1.0, -1.0], runs)
    mixtures = (
        np.linalg.qr(rng.standard_normal((width, channels)))[0]
        if channels < width
        else np.eye(width)
    )
    return Excitation(phases, mixtures, lags, scale, seed + 1)


@eqx.filter_jit
def _advance(cell: Any, h: Any, xs: Any) -> Any:
    def step(h: Any, x: Any) -> tuple[Any, Any]:
        h = cell(h, x)
        return h, output(cell, h)

    return jax.vmap(lambda h, xs: jax.lax.scan(step, h, xs))(h, xs)
