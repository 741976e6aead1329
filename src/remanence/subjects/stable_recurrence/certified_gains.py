"""The largest gain that each metric certifies, and the limit on any."""

from typing import Any

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import xarray as xr

from ...cells import Elman, LSTM
from ...measure import contraction, worst_pair_rate


METRICS = ("norm", "infinity", "diagonal", "full", "limit")


def recurrent_matrix(kind: str, units: int, seed: int) -> np.ndarray:
    """A drawn recurrent matrix of the given kind."""
    rng = np.random.default_rng(seed)
    W = rng.normal(size=(units, units)) / units**0.5
    if kind == "gaussian":
        return W
    if kind == "low rank":
        u, v = rng.normal(size=(2, units, 1))
        return 2 * (u @ v.T) / units + 0.3 * W
    if kind == "sparse":
        return W * (rng.random((units, units)) < 0.2) / 0.2**0.5
    if kind == "orthogonal":
        return np.linalg.qr(W)[0]
    raise ValueError(f"no kind of matrix is called {kind!r}")


def certified_gains(units: tuple[int, ...], kinds: tuple[str, ...], draws: int, tell) -> xr.Dataset:
    """The largest certified gain of each metric: rates scale with W, so it is 1 / rate."""
    table = np.zeros((len(kinds), len(units), draws, len(METRICS)))
    for i, kind in enumerate(kinds):
        for j, N in enumerate(units):
            tell(f"certificates of {kind} matrices, N = {N}")
            for seed in range(draws):
                W = recurrent_matrix(kind, N, seed)
                cell = Elman(jnp.asarray(W, jnp.float32), jnp.ones((N, 1)))
                proof = contraction(cell, time_limit=600)
                tried = proof.evidence["metrics"]
                rates = [tried[name]["rate"] for name in METRICS[:-1]] + [proof.limit]
                table[i, j, seed] = 1 / np.maximum(rates, 1e-12)
    coordinates = {"kind": list(kinds), "units": list(units), "metric": list(METRICS)}
    return xr.Dataset({"gain": (("kind", "units", "draw", "metric"), table)}, coordinates)


def lstm_gains(units: tuple[int, ...], *, steps: int = 12) -> xr.Dataset:
    """The largest common gain of a Gaussian LSTM for |x| up to 1: paper and comparison."""
    table = np.zeros((len(units), 2))
    for i, N in enumerate(units):
        W, U = np.random.default_rng(0).normal(size=(2, 4 * N, N)) / N**0.5

        def proved(gain, which, W=W, U=U):
            cell = LSTM(*(jnp.asarray(gain * A, jnp.float32) for A in (W, U)))
            proof = contraction(cell, input_bound=1.0, metric=("norm", "infinity")[which])
            return proof.rate < 1 if which else proof.evidence["condition"]

        for which in range(2):
            low, high = 0.0, 1.0
            for _ in range(steps):
                middle = (low + high) / 2
                good = proved(middle, which)
                low, high = (middle, high) if good else (low, middle)
            table[i, which] = low
    return xr.Dataset(
        {"gain": (("units", "condition"), table)},
        {"units": list(units), "condition": ["paper", "comparison"]},
    )


def worst_pairs(draws: int, units: int = 8) -> list[dict[str, Any]]:
    """How near gradient ascent comes to the certified rate, for drawn cells."""
    rows = []
    for seed in range(draws):
        key_a, key_b, key_t = jr.split(jr.key(seed), 3)
        gated = jax.tree.map(lambda leaf: 0.3 * leaf, LSTM.init(2, units // 2, key=key_b))
        for name, cell in (("rnn", Elman.init(2, units, key=key_a, gain=0.6)), ("lstm", gated)):
            proof = contraction(cell, input_bound=1.0, time_limit=600)
            found = worst_pair_rate(cell, proof, key=key_t, starts=8, ascents=150)
            rows.append({"cell": name, "rate": proof.rate, "pair": found})
    return rows
