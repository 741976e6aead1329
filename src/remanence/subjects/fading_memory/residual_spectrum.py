r"""Residual matrices with a chosen spectrum: blocks $r \begin{psmallmatrix} \cos\varphi & -\sin\varphi \\ \sin\varphi & \cos\varphi \end{psmallmatrix}$.

As the coupling goes to 0 the exponents of a residual network tend to
$\log|\mathrm{eig}\,R| = \log r$, so a radius is a memory of $-1/\log r$ steps and an
angle is the frequency at which that memory listens.
"""

import math
from collections.abc import Sequence

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from ..._types import Scalar


Matrix = Float[Array, "units units"]
LARGEST_RADIUS = 2.0
"""It doubles the state every step."""


def _refuse_outside(radii: np.ndarray, angles: np.ndarray) -> None:
    for radius in radii[~((radii > 0) & (radii <= LARGEST_RADIUS))]:
        raise ValueError(f"radius must be above 0 and at most {LARGEST_RADIUS:g}, got {radius:g}")
    for angle in angles[~((angles >= 0) & (angles <= math.pi))]:
        raise ValueError(f"angle must lie in [0, pi] radians per step, got {angle:g}")


def rotation_blocks(radii: Float[Array, " pairs"], angles: Float[Array, " pairs"]) -> Matrix:
    """One scaled rotation a pair of units, for traced radii and angles (no refusals)."""
    turn = jnp.array([[0, -1], [1, 0]], radii.dtype)
    on, off = jnp.diag(radii * jnp.cos(angles)), jnp.diag(radii * jnp.sin(angles))
    return jnp.kron(on, jnp.eye(2, dtype=radii.dtype)) + jnp.kron(off, turn)


def spectral(radii: Sequence[float], angles: Sequence[float]) -> Matrix:
    """The residual with one 2 x 2 block for each radius and angle.

    >>> values = np.linalg.eigvals(spectral([0.9, 0.5], [0.5, 0.1]))
    >>> [f"{abs(value):.4f}" for value in values]
    ['0.9000', '0.9000', '0.5000', '0.5000']
    """
    r, phi = np.asarray(radii, float), np.asarray(angles, float)
    if r.ndim != 1 or r.shape != phi.shape or r.size == 0:
        raise ValueError(
            f"radii and angles must be equally many and at least one, got {r.size} and {phi.size}"
        )
    _refuse_outside(r, phi)
    return rotation_blocks(jnp.asarray(r, jnp.float32), jnp.asarray(phi, jnp.float32))


def jordan_block(units: int, *, radius: float) -> Matrix:
    r"""The defective residual, $rI$ plus ones above the diagonal.

    Its exponents move as $\gamma^{1/N}$, not as $\gamma$: weak coupling is not weak here.
    """
    _refuse_outside(np.asarray([radius]), np.zeros(1))
    return radius * jnp.eye(units) + jnp.eye(units, k=1)


def weak_coupling_bound(
    R: Float[Array, "units units"] | Scalar, W_h: Matrix, *, coupling: float
) -> float:
    r"""How far any exponent can be from $\log r$: $-\log(1 - \gamma \|W\|_2 / r)$, at every time.

    For $R = r\,\times$ orthogonal. Each Jacobian $R + \gamma D W$ with $0 \le D \le 1$
    has all singular values within $\gamma \|W\|$ of $r$, and so has the mean of
    their logarithms along any product. Infinite once $\gamma \|W\| \ge r$.

    >>> round(weak_coupling_bound(0.5, 2 * jnp.eye(3), coupling=0.025), 4)
    0.1054
    """
    W = np.asarray(W_h, np.float64)
    if jnp.ndim(R) == 0:
        r = abs(float(R))
    else:
        values = np.linalg.svd(np.asarray(R, np.float64), compute_uv=False)
        r = float(values[-1])
        if values[0] - r > 1e-5 * values[0]:
            raise ValueError(
                f"R must be a multiple of an orthogonal matrix, got singular values from {r:g} to {values[0]:g}"
            )
    push = coupling * float(np.linalg.norm(W, 2))
    return math.inf if push >= r else -math.log1p(-push / r)
