r"""Random Gaussian instances: Lemmas 1 and 2, Proposition 2, Theorem 1, and certified gains."""

import functools
from typing import Any

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import optax
import xarray as xr

from ... import measure
from ..._fast_compile import FAST_COMPILE
from ..._precision import double
from ...cells import Elman, LSTM
from ...train.projection import clip_singular_values


RATE = 0.9
"""The stable set of Proposition 2: spectral norm at most this."""
FREE_NORM = 2.0
"""The spectral norm that the arbitrary instances of claim 004.7 start from."""
METRICS = ("norm", "diagonal", "full", "limit")


def draw_cell(seed: int, units: int, inputs: int = 4, norm: float = 0.8) -> Elman:
    """A Gaussian tanh cell whose recurrent matrix has the given spectral norm."""
    rng = np.random.default_rng(seed)
    W = rng.normal(size=(units, units))
    U = rng.normal(size=(units, inputs)) / inputs**0.5
    W = norm * W / np.linalg.norm(W, 2)
    return Elman(jnp.asarray(W, jnp.float32), jnp.asarray(U, jnp.float32), jnp.zeros(units))


def lemma_gaps(units: int, seeds: range, length: int, windows: tuple[int, ...]) -> xr.Dataset:
    """Gaps of states and gradients beside their bounds, over instances and windows."""
    loss = {"input_bound": 1.0, "loss_slope": units**0.5, "loss_bend": 1.0}
    rows: list[xr.Dataset] = []
    for seed in seeds:
        cell = draw_cell(seed, units)
        xs = np.random.default_rng(100 + seed).normal(size=(length, 4))
        xs = xs / np.linalg.norm(xs, axis=1).max()
        proof = measure.contraction(cell, input_bound=1.0, metric="norm")
        better = measure.contraction(cell, input_bound=1.0)
        gaps = measure.truncation_error(cell, xs, windows)
        row = {
            "state": gaps.states,
            "state_bound": [measure.truncation_bound(proof, k) for k in windows],
            "state_bound_full": [measure.truncation_bound(better, k) for k in windows],
            "gradient": gaps.gradients,
            "gradient_bound": [measure.gradient_bound(cell, k, **loss) for k in windows],
        }
        columns = {name: ("window", np.asarray(values)) for name, values in row.items()}
        rows.append(xr.Dataset(columns, {"window": list(windows)}))
    return xr.concat(rows, "instance")


def counterexample() -> dict[str, float]:
    """h' = .5 h + 1 without input, where Lemma 1 as printed promises a gap of 0."""
    cell = Elman(jnp.full((1, 1), 0.5), jnp.ones((1, 1)), jnp.ones(1), activation=lambda z: z)
    proof = measure.contraction(cell, input_bound=0.0, slopes=(1.0, 1.0))
    gap = measure.truncation_error(cell, np.zeros((60, 1)), [3], gradients=False).states[0]
    corrected = measure.truncation_bound(proof, 3)
    return {"gap": round(float(gap), 6), "printed": 0.0, "corrected": round(corrected, 6)}


def descents(
    units: int, seeds: range, length: int, windows: tuple[int, ...], steps: int
) -> xr.Dataset:
    r"""Projected descent of full and truncated models from one start on one data set.

    The weight gap $\Delta_t$ obeys $\Delta_{t+1} \le (1 + \alpha_t\beta)\Delta_t +
    \alpha_t\epsilon_k$, with $\epsilon_k$ the largest gradient gap at equal weights
    and $\beta$ the largest ratio of gradient to weight differences along the paths:
    the bound of Proposition 2 with measured constants. Where the first spectral norm
    is below 1 the weights are projected after every step, else they are left free.
    """
    size = {"units": units, "length": length, "windows": windows, "steps": steps}
    one = functools.partial(_descent, **size)
    for axes in ((None, None, 0), (None, 0, None), (0, None, None)):
        one = jax.vmap(one, in_axes=axes)
    norms = (RATE, FREE_NORM)
    with double():
        lanes = (jnp.asarray(part) for part in (norms, seeds, (True, False)))
        found = jax.jit(one, compiler_options=FAST_COMPILE)(*lanes)
    lane, curve = ("norm", "instance", "schedule"), ("window", "step")
    dims = {"gap": curve, "bound": curve, "moved": ("step",), "output_gap": ("window",)}
    coordinates = {"norm": list(norms), "window": list(windows), "step": np.arange(1, steps + 1)}
    return xr.Dataset(
        {name: ((*lane, *own), np.asarray(found[name])) for name, own in dims.items()},
        coordinates | {"schedule": ["alpha/t", "constant"]},
    )


def distances(trees: Any, tree: Any) -> Any:
    """How far each of the stacked trees is from one tree."""
    return jax.vmap(lambda each: optax.tree.norm(optax.tree.sub(each, tree)))(trees)


def _descent(norm, seed, decays, units, length, windows, steps):
    key_w, key_u, key_y, key_x, key_t = jr.split(jr.key(seed), 5)
    W = jr.normal(key_w, (units, units))
    start = {
        "W_h": norm * W / jnp.linalg.norm(W, ord=2),
        "W_x": jr.normal(key_u, (units, 4)) / 2,
        "W_y": jr.normal(key_y, (2, units)) / units**0.5,
    }
    xs = jr.normal(key_x, (16, length, 4))
    xs = xs / jnp.linalg.norm(xs, axis=-1, keepdims=True)
    targets = jr.normal(key_t, (16, 2))
    ks = jnp.asarray([length, *windows])

    def outputs(w, k):
        def step(h, at):
            t, x = at
            following = jnp.tanh(h @ w["W_h"].T + x @ w["W_x"].T)
            return jnp.where(t >= length - k, following, h), None

        inputs = (jnp.arange(length), xs.swapaxes(0, 1))
        h, _ = jax.lax.scan(step, jnp.zeros((16, units)), inputs)
        return h @ w["W_y"].T

    def price(w, k):
        return 0.5 * jnp.mean(jnp.sum((outputs(w, k) - targets) ** 2, axis=1))

    slope = jax.vmap(jax.grad(price))
    full = lambda trees: jax.tree.map(lambda leaf: leaf[0], trees)
    repeated = lambda tree: jax.tree.map(lambda leaf: jnp.repeat(leaf[None], len(ks), 0), tree)

    def step(w, t):
        alpha = jnp.where(decays, 1.0 / t, 0.3)
        slopes = slope(w, ks)
        # At the full model's weights: what truncation alone does to the gradient.
        here = slope(repeated(full(w)), ks)
        epsilon = distances(here, full(here))
        # At the truncated models' weights: how fast their gradients turn.
        gap = distances(w, full(w))
        turned = jax.vmap(optax.tree.norm)(optax.tree.sub(slopes, here))
        beta = jnp.max(jnp.where(gap > 1e-7, turned / jnp.maximum(gap, 1e-9), 0.0))
        after = jax.tree.map(lambda leaf, by: leaf - alpha * by, w, slopes)
        inside = jax.vmap(lambda W: clip_singular_values(W, RATE))(after["W_h"])
        after = after | {"W_h": jnp.where(norm < 1, inside, after["W_h"])}
        moved = distances(after, start)[0]
        return after, (distances(after, full(after)), epsilon, beta, alpha, moved)

    times = jnp.arange(1, steps + 1, dtype=jnp.float64)
    w, (gap, epsilon, beta, alpha, moved) = jax.lax.scan(step, repeated(start), times)

    def bound(level, alpha):
        level = (1 + alpha * beta.max()) * level + alpha * epsilon.max(0)
        level = jnp.minimum(level, 1e12)
        return level, level

    _, bounds = jax.lax.scan(bound, jnp.zeros(len(ks)), alpha)
    y = jax.vmap(outputs)(w, ks)
    output_gap = jnp.max(jnp.linalg.norm(y - y[:1], axis=-1), axis=1)
    of_windows = {"gap": gap.T[1:], "bound": bounds.T[1:], "output_gap": output_gap[1:]}
    return of_windows | {"moved": moved}


def certified_gains(units: tuple[int, ...], draws: int) -> xr.Dataset:
    """The largest certified gain of Gaussian matrices: rates scale with W, so it is 1 / rate."""
    table = np.zeros((len(units), draws, len(METRICS)))
    for i, N in enumerate(units):
        for seed in range(draws):
            W = np.random.default_rng(seed).normal(size=(N, N)) / N**0.5
            proof = measure.contraction(Elman(_narrow(W), jnp.ones((N, 1))), time_limit=600)
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
            proof = measure.contraction(cell, input_bound=1.0, metric=metric)
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
            proof = measure.contraction(cell, input_bound=1.0, time_limit=600)
            pair = measure.worst_pair_rate(cell, proof, key=key_t, starts=8, ascents=150)
            rows.append({"cell": name, "rate": proof.rate, "pair": pair})
    return rows


def _narrow(array: np.ndarray) -> Any:
    return jnp.asarray(array, jnp.float32)
