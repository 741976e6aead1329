r"""Linear memory capacity, $\sum_{c,k} R^2(c, k)$: how well a linear readout recalls input $c$ of $k$ steps ago.

Jaeger 2001; for independent inputs it cannot exceed the number of directions in which the readable
state moves (Dambre et al. 2012). With orthonormal pasts $z_{c,k}$ and the state $q$ made white,
$R^2(c, k) = |E[q\,z_{c,k}]|^2$. Leaving out one run after the other tells what chance adds, and how
well the rest is known (the jackknife, Quenouille 1956).

The noise $u$ has period $T$, $|\hat u_f| = \sqrt T$ at every frequency and random phases: its $T$ shifts
are orthogonal to the last digit (Schroeder 1970; Pintelon and Schoukens, *System Identification*,
2012). Channel $c$ reads $u$ from $c \cdot T / m$ steps ago: one correlation with $u$ gives the response
to every channel at every lag below $T / m$, without the chance correlations of drawn noise.
"""

import dataclasses
from typing import Any

import equinox as eqx
import jax
import jax.random as jr
import numpy as np
from jaxtyping import Complex, Float
from scipy.linalg import solve_triangular

from .._precision import double
from .._types import Key
from ..cells import dimension, input_size, output
from .drive import driven, refuse_fractions


RUNS = 8  # of independent noise; even, so that their means cancel
CHANNELS = 16  # inputs, or random mixtures of them, whose past is asked for
LAGS = 8192  # the most lags looked at unless told
NUMBERS = 2**25  # states kept at once, in numbers: what bounds the lags of large networks
HUGE = 1e150  # states whose squares are no floats
READABLE = 1e-12  # of the largest direction: what is smaller is lost in the rounding
ROUNDING = 1e-9  # of the whole: recall below this is none
CHUNK = 256  # steps of one compiled call: every length of run shares the program
NEGLIGIBLE = 1e-3  # of the whole: what the lags not looked at may hold


@dataclasses.dataclass(frozen=True)
class MemoryCapacity:
    """The recall of independent noise at each lag, and their sum."""

    total: float
    """Corrected for chance and summed over lags and inputs, in units."""
    stderr: float
    """Of the total: the spread over runs, the inputs not asked for and the tail, together."""
    limit: int
    """Directions in which the readable state moves: the capacity cannot exceed them."""
    recall: Float[np.ndarray, " lags"]
    """Corrected R² at each lag, the mean over inputs; far lags scatter about 0."""
    raw: float
    """The same sum without the correction."""
    tail: float
    """What lags beyond these would add if recall went on falling; inf if it does not fall."""
    channels: int
    """Inputs asked for; if fewer than the cell reads, random mixtures of them."""
    steps: int
    """Steps of all runs together, without those that forget the start."""

    @property
    def settled(self) -> bool:
        """Whether the lags not looked at are negligible."""
        return self.tail <= NEGLIGIBLE * self.total

    @property
    def remark(self) -> str:
        """Its error, its limit and the lags looked at."""
        lags = f"{len(self.recall) - 1}"
        lags += "" if self.settled else f", longer ones may add {self.tail:.2g}"
        return f"± {self.stderr:.1g} of at most {self.limit}, lags up to {lags}"

    def __str__(self) -> str:
        return f"{self.total:.4g} {self.remark}"


@dataclasses.dataclass(frozen=True)
class Excitation:
    """Runs of flat noise, read by `directions` orthonormal mixtures of the inputs."""

    phases: Complex[np.ndarray, "runs frequencies"]
    directions: Float[np.ndarray, "inputs channels"]
    lags: int
    """Steps between the same noise in one channel and in the next."""
    scale: float
    seed: int

    def states(self, cell: Any) -> Float[np.ndarray, "runs time units"]:
        """What the cell says over one period, after `lags` steps to forget its start."""
        width, channels = self.directions.shape
        T = self.lags * channels
        u = self.scale * np.fft.irfft(self.phases * T**0.5, n=T, axis=1)
        late = self.lags * np.arange(channels)
        rng = np.random.default_rng(self.seed)
        with double():
            h = jax.tree.map(lambda a: np.tile(a, (len(u), *[1] * a.ndim)), cell.initial_state())
        outputs = []
        for begin in range(-self.lags, T, CHUNK):
            t = np.arange(begin, begin + CHUNK)[:, None]
            xs = u[:, (t - late) % T] @ self.directions.T
            if channels < width:  # the mixtures left out are read too, as noise
                rest = self.scale * rng.standard_normal(xs.shape)
                xs = xs + rest - rest @ self.directions @ self.directions.T
            with double():
                h, y = _advance(cell, h, xs)
            outputs.append(np.asarray(y)[:, max(0, -begin) : T - begin])
        return np.concatenate(outputs, axis=1)

    def responses(self, run: int, y: np.ndarray) -> Float[np.ndarray, "channels lags units"]:
        """The mean of $y_t$ times the unit noise that a channel read k steps before."""
        by_lag = np.fft.rfft(y, axis=0) * self.phases[run].conj()[:, None]
        found = np.fft.irfft(by_lag, n=len(y), axis=0) * len(y) ** -0.5
        return found.reshape(-1, self.lags, y.shape[1])


def flat_noise(width: int, lags: int, *, channels: int, scale: float, seed: int) -> Excitation:
    """Noise drawn anew, in so many random mixtures of the inputs (all of them as they are)."""
    rng = np.random.default_rng(seed)
    T = lags * channels
    phases = np.exp(2j * np.pi * rng.random((RUNS, T // 2 + 1)))
    # The ends of the spectrum are real; over an even number of runs the mean is nil.
    phases[:, 0] = np.resize([1.0, -1.0], RUNS)
    if T % 2 == 0:
        phases[:, -1] = rng.choice([1.0, -1.0], RUNS)
    mixtures = np.eye(width)
    if channels < width:
        mixtures = np.linalg.qr(rng.standard_normal((width, channels)))[0]
    return Excitation(phases, mixtures, lags, scale, seed + 1)


@eqx.filter_jit
def _advance(cell: Any, h: Any, xs: Any) -> Any:
    def step(h: Any, x: Any) -> tuple[Any, Any]:
        h = cell(h, x)
        return h, output(cell, h)

    return jax.vmap(lambda h, xs: jax.lax.scan(step, h, xs))(h, xs)


def memory_capacity(
    cell: Any,
    *,
    width: int | None = None,
    scale: float = 1.0,
    lags: int | None = None,
    steps: int | None = None,
    key: Key | None = None,
) -> MemoryCapacity:
    """The linear memory capacity of a cell driven by independent Gaussian noise.

    `width` is the number of inputs, for a cell that does not say it. Lags are looked at until the
    rest is negligible, or up to `lags`; `steps` asks for at least so many, for a smaller error.

    >>> import jax.numpy as jnp
    >>> from remanence.cells import Linear
    >>> register = Linear(jnp.eye(5, k=-1), jnp.eye(5, 1))
    >>> found = memory_capacity(register)
    >>> round(found.total, 6), found.limit, found.settled
    (5.0, 5, True)
    """
    refuse_fractions(width=width, lags=lags, steps=steps)
    width = width or input_size(cell)
    if not width:
        raise ValueError("the cell does not say how many inputs it takes; give width=")
    if lags is not None and lags < 4:
        raise ValueError(f"lags must be at least 4, got {lags}")
    with double():
        cell = driven(cell, np.zeros((1, width))).cell
        units = output(cell, cell.initial_state()).size
        seed = int(jr.randint(jr.key(0) if key is None else key, (), 0, 2**31 - 1))
        size = dimension(cell)
    channels = min(width, CHANNELS)
    most = max(4, min(lags or LAGS, NUMBERS // (RUNS * channels * max(units, 1))))
    # A linear network shows within its dimension whatever it will ever show.
    span, least = (min(most, max(32, 2 * size)), max(512, 3 * units, (steps or 0) // RUNS))
    while True:
        looked = max(span, -(-least // channels))
        noise = flat_noise(width, looked, channels=channels, scale=scale, seed=seed)
        found = _capacity(noise, noise.states(cell), min(looked, most))
        if found.settled or looked >= most:
            return found
        span = min(most, 2 * looked)


def _capacity(noise: Excitation, X: np.ndarray, lags: int) -> MemoryCapacity:
    if not np.abs(X).max(initial=0.0) < HUGE:
        raise ValueError("the state leaves the range of floats: no capacity can be measured")
    runs, T, _ = X.shape
    width, channels = noise.directions.shape
    W = _whitening(X)
    rank = W.shape[1]
    if rank == 0:  # the state does not move
        return MemoryCapacity(0.0, 0.0, 0, np.zeros(lags), 0.0, 0.0, channels, runs * T)
    grams, responses, mean = [], [], X.mean(axis=(0, 1))
    for run, x in enumerate(X):
        Q = (x - mean) @ W
        grams.append(Q.T @ Q / T)
        responses.append(noise.responses(run, Q)[:, :lags])
    whole, gram = sum(responses), sum(grams)
    raw = ((whole / runs) ** 2).sum(axis=-1)
    squares = lambda a, part: _squares((whole - a) / (runs - 1), (gram - part) / (runs - 1))
    without = np.array(list(map(squares, responses, grams)))
    share = width / channels
    recall = runs * raw - (runs - 1) * without.mean(axis=0)
    each = recall.sum(axis=1)
    mixed = width * each.std(ddof=channels > 1) * ((1 - 1 / share) / channels) ** 0.5
    tail = share * _tail(recall.sum(axis=0), without.sum(axis=1))
    spread = share * _error(without.sum(axis=(1, 2)))
    stderr = float(np.linalg.norm([spread, mixed, tail]))
    total, raw = (min(max(share * float(a.sum()), 0.0), float(rank)) for a in (each, raw))
    recall = recall.mean(axis=0)
    return MemoryCapacity(total, stderr, rank, recall, raw, tail, channels, runs * T)


def _whitening(X: np.ndarray) -> np.ndarray:
    """W with $(X - \bar X) W$ white over all runs, one column a readable direction."""
    X = X - X.mean(axis=(0, 1))
    size = X.std(axis=(0, 1))
    alive = size > READABLE * np.abs(X).max(initial=0.0)
    per_unit = np.where(alive, 1 / np.where(alive, size, 1.0), 0.0)
    # The factors of a QR keep directions that the covariance would lose to rounding.
    R = np.concatenate([np.linalg.qr(x * per_unit, mode="r") for x in X])
    _, s, Vh = np.linalg.svd(R, full_matrices=False)
    rank = int((s > READABLE * s.max(initial=0.0)).sum())
    spread = s[:rank] / (X.shape[0] * X.shape[1]) ** 0.5
    return per_unit[:, None] * Vh[:rank].T / spread


def _squares(responses: np.ndarray, gram: np.ndarray) -> np.ndarray:
    """Squared lengths of the responses in the metric of a covariance."""
    flat = responses.reshape(-1, len(gram)).T
    white = solve_triangular(np.linalg.cholesky(gram), flat, lower=True)
    return (white**2).sum(axis=0).reshape(responses.shape[:-1])


def _error(without: Float[np.ndarray, " runs"]) -> float:
    """The standard error that estimates with one run left out tell."""
    return float(without.std()) * (len(without) - 1) ** 0.5


def _tail(recall: np.ndarray, without: np.ndarray) -> float:
    """What follows the last lag if each quarter of them goes on falling like the last."""
    quarters = lambda a: [q.sum(axis=-1) for q in np.array_split(a, 4, axis=-1)[2:]]
    before, last = quarters(recall)
    if last <= max(3 * _error(quarters(without)[1]), ROUNDING * recall.sum()):
        return 0.0
    return float(last**2 / (before - last)) if before > last else float("inf")
