r"""The edge of chaos by hand: $h' = R h + \gamma \tanh(W h)$ with a rotational $R$."""

from typing import Any

import numpy as np

from .memories import number


SIZES = (2, 4, 8, 16, 32)
STEPS = 300


def dynamics(
    radius: float, angle: float, coupling: float, units: int, seed: int
) -> dict[str, Any]:
    """Spectrum, orbit and gradient of one weakly coupled network."""
    import jax
    import jax.numpy as jnp

    from .._precision import double
    from ..cells import Residual
    from ..construct import rotational
    from ..measure import lyapunov_spectrum

    if units not in SIZES:
        raise ValueError(
            f"units must be one of {', '.join(map(str, SIZES))}, got {units}"
        )
    with double():
        R = np.asarray(rotational(units, radius=radius, angle=angle), dtype=float)
        draw = jax.random.normal(
            jax.random.key(seed), (units, units), dtype=jnp.float64
        )
        W = np.asarray(draw) / np.sqrt(units)
        cell = Residual(
            jnp.asarray(R), jnp.asarray(W), jnp.zeros((units, 1)), coupling=coupling
        )
        start = jnp.ones(units) / np.sqrt(units)
        found = lyapunov_spectrum(cell, steps=STEPS, h0=start)
    orbit, growth = _walk(R, W, coupling)
    return {
        "exponents": [number(e) for e in found.exponents],
        "errors": [number(e) for e in found.stderr],
        "verdict": found.verdict,
        "residual": sorted((number(e) for e in _log_moduli(R)), key=_key, reverse=True),
        "orbit": orbit,
        "growth": growth,
    }


def _key(value: float | str | None) -> float:
    return float(value if value is not None else "nan")


def _log_moduli(R: np.ndarray) -> np.ndarray:
    with np.errstate(divide="ignore"):
        return np.log(np.abs(np.linalg.eigvals(R)))


def _walk(R: np.ndarray, W: np.ndarray, gamma: float) -> tuple[list, list]:
    """Two coordinates of the orbit, and log10 of the gradient norm over time."""
    units = len(R)
    h = np.ones(units) / np.sqrt(units)
    J, scale = np.eye(units), 0.0
    orbit: list = [[float(h[0]), float(h[1])]]
    growth: list = [0.0]
    for _ in range(STEPS):
        z = np.tanh(W @ h)
        step = R + gamma * (1 - z**2)[:, None] * W
        h = R @ h + gamma * z
        J = step @ J
        size = float(np.linalg.norm(J, 2))
        # Rescaled at every step, so that growth never overflows.
        if not np.isfinite(size) or size == 0 or not np.isfinite(h).all():
            break
        J, scale = J / size, scale + np.log10(size)
        orbit.append([float(h[0]), float(h[1])])
        growth.append(float(scale))
    return orbit, growth
