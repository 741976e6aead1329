r"""The error of a rate over a correlated series, by batch means.

Batch $i$ grows by $g_i$ in $n_i$ steps. The rate $\lambda = \sum g_i / \sum n_i$ has
the residuals $e_i = g_i - \lambda n_i$ and the squared error
$\tau \frac{b}{b-1} \sum e_i^2 / (\sum n_i)^2$, where $\tau = 1 + 2 \sum_j \rho_j$ counts how many
batches say the same. It is the larger of two estimates: from the first correlation
as if the rest were its powers, $\frac{1 + \rho_1}{1 - \rho_1}$, and from the first six as they
are. Where few independent batches are left, $\tau$ itself is poorly known, and a run that
looks well mixed may only be lucky: the error is taken larger. Where there are many
sequences, each is one batch, and none repeats another.
"""

import dataclasses

import numpy as np
from jaxtyping import Bool, Float, Int


LAGS = 6
SEQUENCES = 8  # from so many on, each sequence is a batch
CAUTION = 12.0  # independent batches at which an error is doubled, and soon less
ENOUGH = 8.0  # independent batches without which nothing is called converged
LEAST, MOST = -1 / 3, 0.95  # what is believed of a correlation


@dataclasses.dataclass(frozen=True)
class BatchMeans:
    """A rate with its standard error and what is left to doubt."""

    mean: Float[np.ndarray, " k"]
    stderr: Float[np.ndarray, " k"]
    effective: Float[np.ndarray, " k"]
    """How many independent batches say as much as these."""
    drift: Float[np.ndarray, " k"]
    """Second half minus first half."""
    known: int
    """Batches, or a third of them where correlations are taken from them as well."""

    @property
    def dof(self) -> int:
        """Degrees of freedom of the standard errors, those of the least known one."""
        return max(0, int(min(self.effective.min(), self.known)) - 1)

    @classmethod
    def join(cls, parts: "list[BatchMeans]") -> "BatchMeans":
        """Those of several series, one behind the other."""
        names = ("mean", "stderr", "effective", "drift")
        each = {name: np.concatenate([getattr(part, name) for part in parts]) for name in names}
        return cls(**each, known=min(part.known for part in parts))

    def of(self, order: Int[np.ndarray, " k"]) -> "BatchMeans":
        """Only these, in this order."""
        mean, stderr = self.mean[order], self.stderr[order]
        effective, drift = self.effective[order], self.drift[order]
        return BatchMeans(mean, stderr, effective, drift, self.known)


def batch_means(
    growth: Float[np.ndarray, "sequences batches k"],
    steps: Int[np.ndarray, "sequences batches"],
    inputs: float = float("inf"),
) -> BatchMeans:
    """The growth per step, with the error that the scatter of the batches implies.

    The batches count for no more than the independent ones of the `inputs`.
    """
    total, k = steps.sum(), growth.shape[-1]
    mean = growth.sum(axis=(0, 1)) / total
    # A direction that died has no scatter: its rate is -inf, and that is exact.
    alive = np.isfinite(mean)
    growth, rate = np.where(alive, growth, 0.0), np.where(alive, mean, 0.0)
    if (steps > 0).sum() < 2:
        lost = np.where(alive, np.inf, 0.0)
        return BatchMeans(mean, lost, np.ones(k), np.zeros(k), 1)
    e = growth - rate * steps[..., None]
    real = np.asarray(steps > 0)
    many = len(steps) >= SEQUENCES
    if many:
        e, real = e.sum(axis=1, keepdims=True), np.ones((len(e), 1), bool)
    batches = int(real.sum())
    square = (e**2).sum(axis=(0, 1))
    # Below the rounding of the sums themselves a scatter means nothing.
    rounding = 1e-13 * (np.abs(growth).sum(axis=(0, 1)) + 1e-3 * total)
    still = ~alive | (np.sqrt(square) <= rounding)
    alike = np.where(still, 1.0, repeats(e, real))
    variance = alike * square * batches / (batches - 1)
    effective = np.minimum(batches / np.maximum(alike, 1.0), inputs)
    doubt = 0.0 if many else (CAUTION / np.maximum(effective, ENOUGH)) ** 4
    stderr = np.where(still, rounding * alive, np.sqrt(variance) * (1 + doubt)) / total
    half, drift = growth.shape[1] // 2, np.zeros(k)
    if half and steps[:, -half:].sum() > 0:
        parts = (slice(half), slice(-half, None))
        rates = [growth[:, p].sum(axis=(0, 1)) / steps[:, p].sum() for p in parts]
        drift = np.where(still, 0.0, rates[1] - rates[0])
    known = batches if many else max(2, batches // 3)
    return BatchMeans(mean, stderr, effective, drift, known)


def repeats(
    e: Float[np.ndarray, "sequences batches k"], real: Bool[np.ndarray, "..."]
) -> Float[np.ndarray, " k"]:
    r"""$\tau$: how many neighbouring batches say the same, for each of `k` series."""
    batches = int(real.sum())
    lags = min(LAGS, e.shape[1] - 1, batches // 8)
    if lags < 1:
        return np.ones(e.shape[-1])
    square = (e**2).sum(axis=(0, 1)) / batches
    rho = np.zeros((lags, e.shape[-1]))
    for i in range(lags):
        before, after = slice(None, -i - 1), slice(i + 1, None)
        pairs = max(1, (real[:, before] & real[:, after]).sum())
        shared = (e[:, before] * e[:, after]).sum(axis=(0, 1)) / pairs
        rho[i] = shared / np.where(square > 0, square, 1.0)
    # The mean was taken from the same batches, which lowers every correlation.
    first = np.clip(rho[0] + (1 + 3 * rho[0]) / batches, LEAST, MOST)
    summed = (1 + 2 * rho.sum(axis=0)) / (1 - 2 * lags / batches)
    return np.maximum((1 + first) / (1 - first), summed)


def effective_inputs(
    xs: Float[np.ndarray, "sequences time inputs"],
    edges: Int[np.ndarray, " edges"],
    steps: Int[np.ndarray, "sequences batches"],
) -> float:
    """How many independent batches the inputs amount to, and their sizes.

    Channels count by their variance. A few slow swings cannot stand for the rest of
    the world, however still the exponents are meanwhile.
    """
    least = float("inf")
    if len(xs) >= SEQUENCES:
        return least
    n, real = steps[..., None], steps > 0
    for series in (xs, np.abs(xs)):
        sums = np.add.reduceat(series[:, : edges[-1]], edges[:-1], axis=1)
        e = sums - sums.sum(axis=(0, 1)) / n.sum() * n
        square = (e**2).sum(axis=(0, 1))
        if square.sum() > 1e-24 * (sums**2).sum():
            alike = (repeats(e, real) * square).sum() / square.sum()
            least = min(least, real.sum() / max(alike, 1.0))
    return least


def settling(
    found: BatchMeans,
    early: Float[np.ndarray, " k"],
    *,
    steps: float,
    sequences: float,
    unseen: int = 0,
) -> Float[np.ndarray, " k"]:
    r"""How wrong each rate may be because of where the orbit began, in nats a step.

    `early` is the growth during the warm-up, `steps` those counted in a sequence; `unseen`
    directions grow like the last one or less. Of direction $l$ there is $e^{-\Delta_{jl}}$ left
    in direction $j$ when the warm-up ends, $\Delta_{jl}$ being how much further $j$ has grown;
    while the rest goes, over $T$ steps in which they grow apart by $D_{jl}$, the rate of $j$ is
    wrong by about $e^{-\Delta_{jl}} (1 - e^{-D_{jl}}) / T$. A state forgets its own start like
    $e^{\lambda_1 t}$, and its growth strays by about the spread $\sigma_j$ of single steps:
    $\sigma_j\, e^{\lambda_1 W} (1 - e^{\lambda_1 T}) / |\lambda_1| T$ after a warm-up of $W$.
    """
    alive = np.isfinite(found.mean)
    mean, early = np.where(alive, found.mean, 0.0), np.where(alive, early, 0.0)
    parted = np.abs(early[:, None] - early)
    part = np.abs(mean[:, None] - mean) * steps
    left = np.where(alive, np.exp(-parted) * -np.expm1(-part), 0.0) ** 2
    left[:, -1] *= 1 + unseen
    frame = np.sqrt(left.sum(axis=1)) / steps
    state = np.zeros_like(mean)
    top = np.argmax(found.mean)
    if -np.inf < found.mean[top] < -2 * found.stderr[top]:
        fade = found.mean[top] * steps
        spread = found.stderr * np.sqrt(sequences * steps)
        state = spread * np.exp(min(early[top], 0.0)) * np.expm1(fade) / fade
    return np.where(alive, np.hypot(frame, state), 0.0)
