r"""Theory that claims 003.8 to 003.10 rest on: the race, random matrices, equivalent tasks.

*The neural race reduction* of a routing network, three numbers a mode. $M$ input and $M$ output
domains share one hidden matrix; each input is taught into $K$ outputs. For a mode of strength $s$
the flow of $\frac12\sum\|W_3W_2W_1 - Y\|^2$ reduces, by symmetry, to

$$\dot b_1 = K b_2 b_3 (s - b_1b_2b_3),\quad \dot b_2 = M K b_1 b_3 (s - b_1b_2b_3),
\quad \dot b_3 = K b_1 b_2 (s - b_1b_2b_3),$$

which keeps $b_2^2 - M b_1^2$ and ends at $b_2 = (Ms)^{1/3}$ (Saxe, Sodhani and Lewallen, 2022).

*Random pairs.* A Bernoulli matrix has an outlier singular value at $pn$ and its bulk below
$2\sqrt{np(1-p)}$.

*Two substitutions leave the loss as it is*: dictionaries and Gaussian words. With
$A_{kl} = W_o^kW_hW_i^l$ and any inputs with $\mathbb E\,xx^\top = I/D$, one-hot words or $N(0, I/D)$,
the loss of a pair is $\frac12\mathbb E\|A_{kl}x - x\|^2 = \frac{1}{2D}\|A_{kl} - I\|^2$; and
$\|\Pi_kA_{kl}\Pi_l^\top - \Pi_k\Pi_l^\top\| = \|A_{kl} - I\|$. Equal losses for all weights have equal
gradients, hence equal trainings.
"""

from collections.abc import Callable
from typing import Any

import diffrax
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import xarray as xr
from jaxtyping import Float

from ..._precision import as_double, as_numpy, double
from .gated_linear import GatedLinear, relabelled
from .language_pairs import nested_pairs


STRENGTHS = np.array([13.60, 6.40, 3.0, 3.0])
M, K, UNITS = 7, 4, 6
PAIRS = np.stack([np.roll((np.arange(M) < K).astype(float), m) for m in range(M)])
Strengths = Float[np.ndarray, "layers time modes"]


def _solve(field: Callable, y0: Any, time: np.ndarray, rtol: float) -> Any:
    """The solution of y' = field(t, y, None) at the given times."""
    with double():
        y0, tolerance = jax.tree.map(jnp.asarray, (y0, np.asarray(rtol)))
        solution = diffrax.diffeqsolve(
            diffrax.ODETerm(field),
            diffrax.Tsit5(),
            t0=0.0,
            t1=time[-1],
            dt0=None,
            y0=y0,
            saveat=diffrax.SaveAt(ts=jnp.asarray(time)),
            stepsize_controller=diffrax.PIDController(rtol=tolerance, atol=1e-3 * tolerance),
            max_steps=100_000,
        )
        return as_numpy(solution.ys)


def _reduced(t: Any, b: Any, args: Any) -> Any:
    b1, b2, b3 = b
    error = K * (STRENGTHS - b1 * b2 * b3)
    return b2 * b3 * error, M * b1 * b3 * error, b1 * b2 * error


def reduced_strengths(start: float, time: Float[np.ndarray, " time"]) -> Strengths:
    """b1, b2, b3 of the reduced equations, started at `start` (b2 at √M times it)."""
    one = np.full(len(STRENGTHS), start)
    return np.stack(_solve(_reduced, (one, M**0.5 * one, one), time, 1e-10))


def _gain(layers: Any) -> jax.Array:
    W1, W2, W3 = layers
    error = jnp.einsum("ouh,hj,ijv->oiuv", W3, W2, W1) - jnp.diag(STRENGTHS)
    return -0.5 * jnp.sum(PAIRS[:, :, None, None] * error**2)


def network_strengths(
    start: float, time: Float[np.ndarray, " time"], *, seed: int | None = None, rtol: float = 1e-7
) -> Strengths:
    """b1, b2, b3 of the whole network under gradient flow, as singular values; the start is
    aligned with the target's modes, as the reduction assumes, or with a seed Gaussian."""
    modes, H = len(STRENGTHS), UNITS
    shapes, frame = ((M, H, modes), (H, H), (M, modes, H)), np.eye(H, modes)
    layers = (frame, M**0.5 * frame @ frame.T, frame.T)
    if seed is not None:
        rng = np.random.default_rng(seed)
        layers = tuple(rng.normal(size=shape) for shape in shapes)
    start_at = tuple(start * np.broadcast_to(W, s) for W, s in zip(layers, shapes, strict=True))
    W1, W2, W3 = _solve(lambda t, layers, args: jax.grad(_gain)(layers), start_at, time, rtol)
    # Singular values of the stacked layers are the strengths, √M times those of one domain.
    W1 = W1.swapaxes(1, 2).reshape(len(time), H, -1) / M**0.5
    W3 = W3.reshape(len(time), -1, H) / M**0.5
    return np.stack([np.linalg.svd(W, compute_uv=False)[:, :modes] for W in (W1, W2, W3)])


def race(seeds: int) -> xr.Dataset:
    """b2 by theory, of the network from an aligned start, and from random small ones."""
    time, late = np.linspace(0.0, 1.5, 46), np.linspace(0.0, 8.0, 46)
    theory, network = (f(0.05, time) for f in (reduced_strengths, network_strengths))
    drawn = [network_strengths(0.02, late, seed=seed, rtol=1e-5)[1, -1] for seed in range(seeds)]
    conserved = network[1] ** 2 - M * network[0] ** 2
    along = {"theory": theory[1], "network": network[1], "conserved": conserved}
    return xr.Dataset(
        {name: (("time", "mode"), values) for name, values in along.items()},
        {"time": time, "mode": STRENGTHS},
    ).assign(drawn=(("seed", "mode"), drawn), cube_root=("mode", (M * STRENGTHS) ** (1 / 3)))


def random_spectrum(size: int, seed: int) -> xr.Dataset:
    """Outlier and bulk edge of a Bernoulli matrix over its density."""
    density = np.array([0.1, 0.2, 0.3, 0.5, 0.7])
    rng = np.random.default_rng(seed)
    drawn = [(rng.random((size, size)) < p).astype(float) for p in density]
    values = np.linalg.svd(np.stack(drawn), compute_uv=False)
    edge = 2 * np.sqrt(density * (1 - density))
    laws = {"outlier_law": density * size, "edge_law": size**0.5 * edge, "document_edge": edge}
    return xr.Dataset(
        {name: ("density", law) for name, law in laws.items()}, {"density": density}
    ).assign(singular_values=(("density", "order"), values))


@jax.jit
@jax.value_and_grad
def _loss_and_gradient(net: GatedLinear, T: jax.Array, Pi: jax.Array, meanings: jax.Array):
    """½ mean over taught pairs and inputs of the squared error, word by word."""
    inputs = jnp.einsum("lij,nj->lni", Pi, meanings)
    outputs = jnp.einsum("klde,lne->klnd", net.products(), inputs)
    error = jnp.sum((outputs - inputs[:, None]) ** 2, axis=-1).mean(-1)
    return 0.5 * jnp.sum(T * error) / jnp.sum(T)


def equivalence_gaps(seed: int, *, whiten: bool = True) -> dict[str, float]:
    """How far loss and gradient of a drawn network move under each substitution; Gaussian inputs
    are a sample, whitened to have exactly the moments of N(0, I/D)."""
    L, D, H, count = 4, 5, 6, 65
    key_T, key_words, key_net = jr.split(jr.key(seed), 3)
    words = np.stack([np.asarray(jr.permutation(k, D)) for k in jr.split(key_words, L)])
    x = np.random.default_rng(seed).normal(size=(count, D)) / D**0.5
    if whiten:
        x = x @ np.linalg.inv(np.linalg.cholesky(D * x.T @ x / count)).T
    net = GatedLinear.init(languages=L, words=D, units=H, scale=0.4, key=key_net)
    with double():
        net, T = as_double(net), jnp.asarray(nested_pairs(L, 0.5, key=key_T))
        eye = jnp.eye(D)
        same, other = jnp.stack([eye] * L), eye[np.argsort(words, axis=1)]
        onehot = jnp.tile(eye, (count // D, 1))
        loss, slope = _loss_and_gradient(net, T, same, onehot)
        renamed = _loss_and_gradient(relabelled(net, words), T, other, onehot)
        gaussian = _loss_and_gradient(net, T, same, jnp.asarray(x))
        gaps = lambda a, b: jax.tree.map(lambda p, q: float(jnp.abs(p - q).max()), a, b)
        largest = lambda a, b: max(jax.tree.leaves(gaps(a, b)))
        return {
            "loss_gap_dictionaries": largest(loss, renamed[0]),
            "gradient_gap_dictionaries": largest(relabelled(slope, words), renamed[1]),
            "loss_gap_gaussian": largest(loss, gaussian[0]),
            "gradient_gap_gaussian": largest(slope, gaussian[1]),
        }
