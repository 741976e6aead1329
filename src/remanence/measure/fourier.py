r"""Energy at each frequency of a cyclic group, $E_k = \lVert F_k W \rVert^2$.

$F_k$ holds the orthonormal waves $\cos\omega_k i$ and $\sin\omega_k i$, $\omega_k =
2\pi k / n$, so the energies add up to $\lVert W \rVert^2$. Rows of a table are the
elements of the group in the order of `Modular.elements`.
"""

import dataclasses
from collections.abc import Iterable

import numpy as np
from jaxtyping import Float, Int


Table = Float[np.ndarray, "period ..."]


@dataclasses.dataclass(frozen=True)
class KeyFrequencies:
    """Frequencies that hold more energy than shuffled rows ever put into one.

    `shares` are of the energy that is not constant, from frequency 1 on;
    `p_values` are corrected for the family of all frequencies.
    """

    frequencies: tuple[int, ...]
    shares: Float[np.ndarray, " frequencies"]
    p_values: Float[np.ndarray, " frequencies"]
    threshold: float

    @property
    def share(self) -> float:
        """What the key frequencies hold together."""
        return float(sum(self.shares[k - 1] for k in self.frequencies))


def frequency_plane(period: int, frequency: int) -> Float[np.ndarray, "waves period"]:
    """Orthonormal waves of one frequency: two, or one for 0 and for half an even period.

    >>> frequency_plane(7, 2).shape, frequency_plane(8, 4).shape
    ((2, 7), (1, 8))
    """
    if not 0 <= frequency <= period // 2:
        raise ValueError(f"frequency must lie in 0 to {period // 2} of {period}, got {frequency}")
    phase = 2 * np.pi * frequency / period * np.arange(period)
    if 2 * frequency % period == 0:
        return np.cos(phase)[None] / np.sqrt(period)
    return np.sqrt(2 / period) * np.stack([np.cos(phase), np.sin(phase)])


def spectrum(table: Table) -> Float[np.ndarray, " frequencies"]:
    """Energy at frequencies 0, 1, …, half the period; the sum is that of the squares.

    >>> wave = frequency_plane(7, 2).T
    >>> spectrum(wave).round(6).tolist()
    [0.0, 0.0, 2.0, 0.0]
    """
    period = len(table)
    power = np.abs(np.fft.rfft(table.reshape(period, -1), axis=0)) ** 2
    return power.sum(1) * _multiplicity(period) / period


def spectrum_2d(table: Table) -> Float[np.ndarray, "frequencies signed"]:
    r"""Energy at $(k_a, k_b)$, with $k_a$ from 0 and $k_b$ of both signs, as `signed_axis`.

    Functions of a + b lie on $k_b = k_a$, functions of a − b on $k_b = -k_a$.
    """
    period = len(table)
    transform = np.fft.fft2(table.reshape(period, period, -1), axes=(0, 1))
    power = (np.abs(transform) ** 2).sum(-1)[: period // 2 + 1] / period**2
    return np.fft.fftshift(power * _multiplicity(period)[:, None], axes=1)


def signed_axis(period: int) -> Int[np.ndarray, " signed"]:
    """The frequencies of b along the second axis of `spectrum_2d`."""
    return np.fft.fftshift(np.rint(np.fft.fftfreq(period) * period).astype(int))


def key_frequencies(
    table: Table, *, error: float = 0.01, shuffles: int = 499, seed: int = 0
) -> KeyFrequencies:
    r"""The frequencies above the null of shuffled rows, at family-wise error `error`.

    A frequency's p-value is the rank of its share among the *largest* shares of tables with
    shuffled rows, $(1 + \#\{\max \ge s_k\}) / (1 + B)$ (Westfall and Young's single-step maximum),
    so a table without order yields any key frequency at all with probability at most `error`.
    """
    if not 1 / (shuffles + 1) <= error < 1:
        raise ValueError(f"error must lie in [1/{shuffles + 1}, 1), got {error}")
    flat = table.reshape(len(table), -1)
    flat = flat - flat.mean(0)
    total = float((flat**2).sum())
    if not np.isfinite(total) or total == 0.0:
        raise ValueError("a table that is constant or not finite has no frequencies")
    if flat.shape[1] > len(flat):
        # Energies depend on the rows' inner products only.
        u, s, _ = np.linalg.svd(flat, full_matrices=False)
        flat = u * s
    random = np.random.default_rng(seed)
    shares = spectrum(flat)[1:] / total
    shuffled = (flat[random.permutation(len(flat))] for _ in range(shuffles))
    null = np.sort([spectrum(rows)[1:].max() / total for rows in shuffled])
    # Ties count against the frequency; the margin absorbs rounding of equal sums.
    above = shuffles - np.searchsorted(null, shares * (1 - 1e-12))
    p_values = (1 + above) / (1 + shuffles)
    chosen = tuple(int(k) for k in 1 + np.flatnonzero(p_values <= error))
    allowed = int(np.floor(error * (shuffles + 1))) - 1
    return KeyFrequencies(chosen, shares, p_values, float(null[shuffles - 1 - allowed]))


def without_frequencies(
    table: Table, frequencies: Iterable[int], *, axes: tuple[int, ...] = (0,)
) -> Table:
    """The table with every wave of these frequencies along any of `axes` taken out."""
    gone = sorted({*frequencies})
    for axis in axes:
        moved = np.moveaxis(table, axis, 0)
        n = len(moved)
        Q = np.concatenate([np.zeros((0, n)), *(frequency_plane(n, k) for k in gone)])
        table = np.moveaxis(moved - np.tensordot(Q.T, np.tensordot(Q, moved, 1), 1), 0, axis)
    return table


def wave_fit_error(
    table: Table, phases: Int[np.ndarray, "period period"], frequencies: Iterable[int]
) -> float:
    r"""Relative error of the best fit by 1 and $\cos, \sin\,\omega_k\phi(a, b)$.

    $\lVert T - \hat T \rVert / \lVert T - \bar T \rVert$ over pairs and columns;
    `phases` is the index of the answer, $a + b$ modulo the period for addition.
    """
    period = len(table)
    flat = table.reshape(period * period, -1)
    flat = flat - flat.mean(0)
    waves = [frequency_plane(period, k)[:, phases.ravel()] for k in frequencies]
    # Each value of the phase occurs equally often, so the waves stay orthogonal.
    basis = np.concatenate(waves) / np.sqrt(period)
    rest = flat - basis.T @ (basis @ flat)
    return float(np.linalg.norm(rest) / np.linalg.norm(flat))


def _multiplicity(period: int) -> Float[np.ndarray, " frequencies"]:
    """How often a frequency counts among positive and negative ones."""
    return np.where(2 * np.arange(period // 2 + 1) % period == 0, 1.0, 2.0)
