r"""The neural race reduction of a routing network: three numbers a mode.

$M$ input and $M$ output domains share one hidden matrix; each input is taught into
$K$ outputs. For a mode of strength $s$ the flow of $\frac12\sum\|W_3W_2W_1 - Y\|^2$
reduces, by symmetry, to

$$\dot b_1 = K b_2 b_3 (s - b_1b_2b_3),\quad \dot b_2 = M K b_1 b_3 (s - b_1b_2b_3),
\quad \dot b_3 = K b_1 b_2 (s - b_1b_2b_3),$$

which keeps $b_2^2 - M b_1^2$ and ends at $b_2 = (Ms)^{1/3}$ from a small start (Saxe,
Sodhani and Lewallen, 2022).
"""

from collections.abc import Callable
from typing import Any

import diffrax
import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr
from jaxtyping import Float

from ..._precision import as_double, as_numpy, double


STRENGTHS = np.array([13.60, 6.40, 3.0, 3.0])
DOMAINS, TAUGHT = 7, 4


class Race(eqx.Module):
    """Strengths of the modes in the three layers, at times `time`."""

    time: Float[np.ndarray, " time"]
    b1: Float[np.ndarray, "time modes"]
    b2: Float[np.ndarray, "time modes"]
    b3: Float[np.ndarray, "time modes"]

    def conserved(self, domains: int) -> Float[np.ndarray, "time modes"]:
        """$b_2^2 - M b_1^2$."""
        return self.b2**2 - domains * self.b1**2


@eqx.filter_jit
def _followed(field: Callable, y0: Any, args: Any, time: Any, rtol: Any):
    """The solution of y' = field(y, args) at the given times."""
    return diffrax.diffeqsolve(
        diffrax.ODETerm(lambda t, y, args: field(y, args)),
        diffrax.Tsit5(),
        t0=0.0,
        t1=time[-1],
        dt0=None,
        y0=y0,
        args=args,
        saveat=diffrax.SaveAt(ts=time),
        stepsize_controller=diffrax.PIDController(rtol=rtol, atol=1e-3 * rtol),
        max_steps=100_000,
    ).ys


def _solved(field: Callable, y0: Any, args: Any, time: np.ndarray, rtol: float) -> Any:
    with double():
        told = as_double((y0, args, time, np.asarray(rtol)))
        return as_numpy(_followed(field, *told))


def _reduced(b: Any, args: Any) -> Any:
    b1, b2, b3 = b
    s, M, K = args
    error = K * (s - b1 * b2 * b3)
    return b2 * b3 * error, M * b1 * b3 * error, b1 * b2 * error


def race_reduction(
    strengths: Float[np.ndarray, " modes"],
    *,
    domains: int,
    taught: int,
    start: float,
    time: Float[np.ndarray, " time"],
) -> Race:
    """The reduced equations, every layer started at `start` (the hidden one at √M times it)."""
    one = np.full(len(strengths), start)
    args = tuple(np.asarray(a, float) for a in (strengths, domains, taught))
    b = _solved(_reduced, (one, np.sqrt(domains) * one, one), args, time, 1e-10)
    return Race(time, *b)


def _loss(layers: Any, args: Any) -> jax.Array:
    (W1, W2, W3), (target, pairs) = layers, args
    error = jnp.einsum("ouh,hj,ijv->oiuv", W3, W2, W1) - target
    return 0.5 * jnp.sum(pairs[:, :, None, None] * error**2)


def _descending(layers: Any, args: Any) -> Any:
    return jax.tree.map(jnp.negative, jax.grad(_loss)(layers, args))


def race_simulation(
    target: Float[np.ndarray, "outputs inputs"],
    *,
    domains: int,
    taught: int,
    units: int,
    start: float,
    time: Float[np.ndarray, " time"],
    seed: int | None = None,
    rtol: float = 1e-7,
) -> Race:
    """The whole routing network under gradient flow, its modes read off.

    Without a seed the start is aligned with the target's modes, as the reduction
    assumes; with one it is Gaussian of that size.
    """
    M, K, H = domains, taught, units
    U, s, Vt = np.linalg.svd(target, full_matrices=False)
    modes = s.size
    pairs = np.stack([np.roll((np.arange(M) < K).astype(float), m) for m in range(M)])
    if seed is None:
        frame = np.eye(H)[:, :modes]
        W1 = np.stack([start * frame @ Vt] * M)
        W3 = np.stack([start * U @ frame.T] * M)
        W2 = np.sqrt(M) * start * frame @ frame.T
    else:
        rng = np.random.default_rng(seed)
        W1 = start * rng.normal(size=(M, H, target.shape[1]))
        W2 = start * rng.normal(size=(H, H))
        W3 = start * rng.normal(size=(M, target.shape[0], H))
    W1, W2, W3 = _solved(_descending, (W1, W2, W3), (target, pairs), time, rtol)
    # Layers share hidden frames at the end of training, so singular values of the
    # stacked layers are the strengths, √M times those of one domain.
    W1 = W1.swapaxes(1, 2).reshape(len(time), H, -1)
    W3 = W3.reshape(len(time), -1, H)
    b1, b2, b3 = (np.linalg.svd(W, compute_uv=False)[:, :modes] for W in (W1, W2, W3))
    return Race(time, b1 / M**0.5, b2, b3 / M**0.5)


def race(seeds: int) -> xr.Dataset:
    """Theory, the whole network from an aligned start, and from random small starts."""
    time = np.linspace(0.0, 1.5, 46)
    sizes = {"domains": DOMAINS, "taught": TAUGHT}
    theory = race_reduction(STRENGTHS, start=0.05, time=time, **sizes)
    target = np.diag(STRENGTHS)
    network = race_simulation(target, units=6, start=0.05, time=time, **sizes)
    late, options = np.linspace(0.0, 8.0, 46), {"units": 6, "start": 0.02, "rtol": 1e-5}
    drawn = [
        race_simulation(target, time=late, seed=seed, **options, **sizes).b2[-1]
        for seed in range(seeds)
    ]
    return xr.Dataset(
        {
            "theory": (("time", "mode"), theory.b2),
            "network": (("time", "mode"), network.b2),
            "conserved": (("time", "mode"), theory.conserved(DOMAINS)),
            "conserved_network": (("time", "mode"), network.conserved(DOMAINS)),
            "drawn": (("seed", "mode"), np.array(drawn)),
            "cube_root": ("mode", (DOMAINS * STRENGTHS) ** (1 / 3)),
        },
        {"time": time, "mode": STRENGTHS},
    )
