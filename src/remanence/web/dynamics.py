r"""The edge of chaos by hand: $h' = R h + \gamma \tanh(W h)$ with a rotational $R$.

Below radius 1 the state stays within $\gamma \sqrt N / (1 - r)$, so that a positive
exponent there is chaos. Beyond it the state may run away, which is no chaos: once
$(r - 1) |h| > \gamma \sqrt N$ every step makes it longer.
"""

from typing import Any

import numpy as np

from .memories import number


SIZES = (2, 4, 8, 16, 32)
STEPS = 300
EDGE = 0.01
"""Nats a step: an exponent nearer to zero than this, or than two errors, is at the edge."""


def dynamics(radius: float, angle: float, coupling: float, units: int, seed: int) -> dict[str, Any]:
    """Spectrum, orbit and gradient of one weakly coupled network."""
    import jax
    import jax.numpy as jnp

    from .._precision import double
    from ..cells import Residual
    from ..measure import lyapunov_spectrum
    from ..subjects.fading_memory.residual_spectrum import rotational

    if units not in SIZES:
        raise ValueError(f"units must be one of {', '.join(map(str, SIZES))}, got {units}")
    with double():
        R = np.asarray(rotational(units, radius=radius, angle=angle), dtype=float)
        draw = jax.random.normal(jax.random.key(seed), (units, units), dtype=jnp.float64)
        W = np.asarray(draw) / np.sqrt(units)
        cell = Residual(
            jnp.asarray(R), jnp.asarray(W), jnp.zeros((units, 1)), coupling=jnp.asarray(coupling)
        )
        start = jnp.ones(units) / np.sqrt(units)
        found = lyapunov_spectrum(cell, steps=STEPS, h0=start)
    orbit, growth, last = _walk(R, W, coupling)
    escaped = (radius - 1) * last > coupling * np.sqrt(units)
    return {
        "exponents": [number(e) for e in found.exponents],
        "errors": [number(e) for e in found.stderr],
        "converged": bool(found.converged),
        "verdict": found.verdict,
        "regime": regime(float(found.exponents[0]), float(found.stderr[0]), escaped=bool(escaped)),
        "residual": sorted((number(e) for e in _log_moduli(R)), key=_key, reverse=True),
        "orbit": orbit,
        "growth": growth,
    }


def regime(exponent: float, error: float, *, escaped: bool) -> str:
    """What the largest exponent means for memory, in words."""
    if escaped:
        return "the state runs away: gradients explode, but this is no chaos"
    if exponent == -np.inf:
        return "nothing is remembered"
    if abs(exponent) < max(EDGE, 2 * error):
        return "the edge: gradients neither fade nor explode"
    if exponent > 0:
        return "chaos: the state stays bounded and gradients explode"
    return f"gradients fade, by a factor e in {-1 / exponent:.0f} steps"


def _key(value: float | str | None) -> float:
    return float(value if value is not None else "nan")


def _log_moduli(R: np.ndarray) -> np.ndarray:
    with np.errstate(divide="ignore"):
        return np.log(np.abs(np.linalg.eigvals(R)))


def _walk(R: np.ndarray, W: np.ndarray, gamma: float) -> tuple[list, list, float]:
    """Two coordinates of the orbit, log10 of the gradient norm, and the last |h|."""
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
    return orbit, growth, float(np.linalg.norm(h))
