r"""The neural race reduction of a routing network: three numbers a mode.

$M$ input and $M$ output domains share one hidden matrix; each input is taught into
$K$ outputs. For a mode of strength $s$ the flow of $\frac12\sum\|W_3W_2W_1 - Y\|^2$
reduces, by symmetry, to

$$\dot b_1 = K b_2 b_3 (s - b_1b_2b_3),\quad \dot b_2 = M K b_1 b_3 (s - b_1b_2b_3),
\quad \dot b_3 = K b_1 b_2 (s - b_1b_2b_3),$$

which keeps $b_2^2 - M b_1^2$ and ends at $b_2 = (Ms)^{1/3}$ from a small start.
"""

import equinox as eqx
import numpy as np
from jaxtyping import Float
from scipy.integrate import solve_ivp


class Race(eqx.Module):
    """Strengths of the modes in the three layers, at times `time`."""

    time: Float[np.ndarray, " time"]
    b1: Float[np.ndarray, "time modes"]
    b2: Float[np.ndarray, "time modes"]
    b3: Float[np.ndarray, "time modes"]

    def conserved(self, domains: int) -> Float[np.ndarray, "time modes"]:
        """$b_2^2 - M b_1^2$."""
        return self.b2**2 - domains * self.b1**2


def race_reduction(
    strengths: Float[np.ndarray, " modes"],
    *,
    domains: int,
    taught: int,
    start: float,
    time: Float[np.ndarray, " time"],
) -> Race:
    """The reduced equations, every layer started at `start` (the hidden one at √M times it)."""
    s, M, K = np.asarray(strengths, float), domains, taught
    modes = s.size

    def field(t: float, y: np.ndarray) -> np.ndarray:
        b1, b2, b3 = y.reshape(3, modes)
        error = s - b1 * b2 * b3
        return np.concatenate(
            [K * b2 * b3 * error, M * K * b1 * b3 * error, K * b1 * b2 * error]
        )

    y0 = np.repeat([start, np.sqrt(M) * start, start], modes)
    flow = solve_ivp(field, (0, time[-1]), y0, t_eval=time, rtol=1e-10, atol=1e-12)
    b1, b2, b3 = flow.y.T.reshape(-1, 3, modes).transpose(1, 0, 2)
    return Race(flow.t, b1, b2, b3)


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
    assumes; with one it is Gaussian of that size. A mode's strength in a layer is
    measured along the singular vectors of the target and of the layers themselves.
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
    shapes = [W1.shape, W2.shape, W3.shape]
    cuts = np.cumsum([W1.size, W2.size])

    def parts(y: np.ndarray) -> list[np.ndarray]:
        return [a.reshape(n) for a, n in zip(np.split(y, cuts), shapes, strict=True)]

    def field(t: float, y: np.ndarray) -> np.ndarray:
        W1, W2, W3 = parts(y)
        B, A = W2 @ W1, W3 @ W2
        E = pairs[:, :, None, None] * (target - np.einsum("ouh,ihv->oiuv", W3, B))
        C = np.einsum("oiuv,ihv->ouh", E, W1)
        return np.concatenate(
            [
                np.einsum("ouh,oiuv->ihv", A, E).ravel(),
                np.einsum("ouh,ouj->hj", W3, C).ravel(),
                (C @ W2.T).ravel(),
            ]
        )

    y0 = np.concatenate([W1.ravel(), W2.ravel(), W3.ravel()])
    flow = solve_ivp(field, (0, time[-1]), y0, t_eval=time, rtol=rtol, atol=1e-3 * rtol)
    b1, b2, b3 = [], [], []
    for y in flow.y.T:
        W1, W2, W3 = parts(y)
        # Layers share hidden frames at the end of training, so singular values of
        # the stacked layers are the strengths, √M times those of one domain.
        b2.append(np.linalg.svd(W2, compute_uv=False)[:modes])
        b1.append(
            np.linalg.svd(np.concatenate(list(W1), axis=1), compute_uv=False)[:modes]
            / M**0.5
        )
        b3.append(
            np.linalg.svd(np.concatenate(list(W3), axis=0), compute_uv=False)[:modes]
            / M**0.5
        )
    return Race(flow.t, np.array(b1), np.array(b2), np.array(b3))
