"""The largest gain that each metric certifies, and the limit on any."""

from typing import Any

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import xarray as xr

from ...cells import Elman, LSTM
from ...measure import contraction, worst_pair_rate


METRICS = ("norm", "diagonal", "full", "limit")


def certified_gains(units: tuple[int, ...], draws: int) -> xr.Dataset:
    """The largest certified gain of Gaussian matrices: rates scale with W, so it is 1 / rate."""
    table = np.zeros((len(units), draws, len(METRICS)))
    for i, N in enumerate(units):
        for seed in range(draws):
            W = np.random.default_rng(seed).normal(size=(N, N)) / N**0.5
            proof = contraction(Elman(_narrow(W), jnp.ones((N, 1))), time_limit=600)
            tried = proof.evidence["metrics"]
            rates = [tried[name]["rate"] for name in METRICS[:-1]] + [proof.limit]
            table[i, seed] = 1 / np.maximum(rates, 1e-12)
    coordinates = {"units": list(units), "metric": list(METRICS)}
    return xr.Dataset({"gain": (("units", "draw", "metric"), table)}, coordinates)


def lstm_gains(units: tuple[int, ...]) -> xr.Dataset:
    """The largest common gain of a Gaussian LSTM for |x| up to 1: paper and comparison."""

    def largest(N: int, metric: str) -> float:
        W, U = np.random.default_rng(0).normal(size=(2, 4 * N, N)) / N**0.5
        low, high = 0.0, 1.0
        for _ in range(12):
            gain = (low + high) / 2
            cell = LSTM(_narrow(gain * W), _narrow(gain * U))
            proof = contraction(cell, input_bound=1.0, metric=metric)
            proved = proof.evidence["condition"] if metric == "norm" else proof.rate < 1
            low, high = (gain, high) if proved else (low, gain)
        return low

    conditions = {"paper": "norm", "comparison": "infinity"}
    gains = [[largest(N, metric) for metric in conditions.values()] for N in units]
    coordinates = {"units": list(units), "condition": list(conditions)}
    return xr.Dataset({"gain": (("units", "condition"), gains)}, coordinates)


def worst_pairs(draws: int, units: int = 8) -> list[dict[str, Any]]:
    """How near gradient ascent comes to the certified rate, for drawn cells."""
    rows = []
    for seed in range(draws):
        key_a, key_b, key_t = jr.split(jr.key(seed), 3)
        gated = jax.tree.map(lambda leaf: 0.3 * leaf, LSTM.init(2, units // 2, key=key_b))
        for name, cell in (("rnn", Elman.init(2, units, key=key_a, gain=0.6)), ("lstm", gated)):
            proof = contraction(cell, input_bound=1.0, time_limit=600)
            pair = worst_pair_rate(cell, proof, key=key_t, starts=8, ascents=150)
            rows.append({"cell": name, "rate": proof.rate, "pair": pair})
    return rows


def _narrow(array: np.ndarray) -> Any:
    return jnp.asarray(array, jnp.float32)
