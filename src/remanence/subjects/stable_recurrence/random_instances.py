r"""Lemmas 1 and 2, Proposition 2 and Theorem 1 on random Gaussian instances."""

import functools

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import xarray as xr

from ..._fast_compile import FAST_COMPILE
from ..._precision import double
from ...cells import Elman
from ...measure import contraction, gradient_bound, truncation_bound, truncation_error
from ...train.projection import clip_singular_values


RATE = 0.9
"""The stable set of Proposition 2: spectral norm at most this."""


def draw_cell(seed: int, units: int, inputs: int = 4, norm: float = 0.8) -> Elman:
    """A Gaussian tanh cell whose recurrent matrix has the given spectral norm."""
    rng = np.random.default_rng(seed)
    W = rng.normal(size=(units, units))
    U = rng.normal(size=(units, inputs)) / inputs**0.5
    W = norm * W / np.linalg.norm(W, 2)
    cast = lambda A: jnp.asarray(A, jnp.float32)
    return Elman(cast(W), cast(U), jnp.zeros(units))


def lemma_gaps(units: int, seeds: range, length: int, windows: tuple[int, ...]) -> xr.Dataset:
    """Gaps of states and gradients beside their bounds, over instances and windows."""
    rows = []
    for seed in seeds:
        cell = draw_cell(seed, units)
        xs = np.random.default_rng(100 + seed).normal(size=(length, 4))
        xs = xs / np.linalg.norm(xs, axis=1).max()
        proof = contraction(cell, input_bound=1.0, metric="norm")
        better = contraction(cell, input_bound=1.0)
        found = truncation_error(cell, xs, windows)
        for at, k in enumerate(windows):
            rows.append(
                (
                    found.states[at],
                    truncation_bound(proof, k),
                    truncation_bound(better, k),
                    found.gradients[at],
                    gradient_bound(cell, k, input_bound=1.0, loss_slope=units**0.5, loss_bend=1.0),
                )
            )
    table = np.asarray(rows).reshape(len(seeds), len(windows), 5)
    names = ("state", "state_bound", "state_bound_full", "gradient", "gradient_bound")
    return xr.Dataset(
        {name: (("instance", "window"), table[..., i]) for i, name in enumerate(names)},
        {"window": list(windows)},
    )


def counterexample() -> dict[str, float]:
    """h' = .5 h + 1 without input, where Lemma 1 as printed promises a gap of 0."""
    cell = Elman(jnp.full((1, 1), 0.5), jnp.ones((1, 1)), jnp.ones(1), activation=lambda z: z)
    proof = contraction(cell, input_bound=0.0, slopes=(1.0, 1.0))
    gap = truncation_error(cell, np.zeros((60, 1)), [3], gradients=False).states[0]
    return {
        "gap": round(float(gap), 6),
        "printed": 0.0,
        "corrected": round(truncation_bound(proof, 3), 6),
    }


def descents(
    units: int,
    seeds: range,
    length: int,
    windows: tuple[int, ...],
    steps: int,
    norms: tuple[float, ...],
) -> xr.Dataset:
    r"""Projected descent of full and truncated models from one start on one data set.

    The weight gap $\Delta_t$ obeys $\Delta_{t+1} \le (1 + \alpha_t\beta)\Delta_t +
    \alpha_t\epsilon_k$, with $\epsilon_k$ the largest gradient gap at equal weights
    and $\beta$ the largest ratio of gradient to weight differences along the paths:
    the bound of Proposition 2 with measured constants. Where the first spectral norm
    is below 1 the weights are projected after every step, else they are left free.
    """
    lanes = [(norm, seed, decays) for norm in norms for seed in seeds for decays in (True, False)]
    with double():
        norm, seed, decays = (jnp.asarray(part) for part in zip(*lanes, strict=True))
        size = {"units": units, "length": length, "windows": windows, "steps": steps}
        one = functools.partial(_descent, **size)
        program = jax.jit(jax.vmap(one), compiler_options=FAST_COMPILE)
        found = {name: np.asarray(value) for name, value in program(norm, seed, decays).items()}
    runs = [
        _with_bound({name: value[lane] for name, value in found.items()})
        for lane in range(len(lanes))
    ]
    names = {
        "gap": ("window", "step"),
        "moved": ("step",),
        "bound": ("window", "step"),
        "output_gap": ("window",),
    }
    stacked = {name: np.stack([run[name] for run in runs]) for name in names}
    shape = (len(norms), len(seeds), 2)
    return xr.Dataset(
        {
            name: (
                ("norm", "instance", "schedule", *dims),
                stacked[name].reshape(*shape, *stacked[name].shape[1:]),
            )
            for name, dims in names.items()
        },
        {
            "norm": list(norms),
            "window": list(windows),
            "schedule": ["alpha/t", "constant"],
            "step": np.arange(1, steps + 1),
        },
    )


def _descent(norm, seed, decays, units, length, windows, steps):
    key_w, key_u, key_y, key_x, key_t = jr.split(jr.key(seed), 5)
    W = jr.normal(key_w, (units, units))
    w0 = {
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

    slope = jax.vmap(jax.grad(price), in_axes=(0, 0))
    flat = lambda leaf: jnp.sum(leaf**2, axis=tuple(range(1, leaf.ndim)))
    size = lambda tree: jnp.sqrt(sum(flat(leaf) for leaf in tree.values()))
    minus = lambda a, b: {name: a[name] - b[name] for name in a}
    first = lambda tree: {name: leaf[:1] for name, leaf in tree.items()}
    start = {name: jnp.repeat(leaf[None], len(ks), 0) for name, leaf in w0.items()}

    def step(w, t):
        alpha = jnp.where(decays, 1.0 / t, 0.3)
        # At the full model's weights: what truncation alone does to the gradient.
        both = {n: jnp.concatenate([a, jnp.repeat(a[:1], len(ks), 0)]) for n, a in w.items()}
        slopes = slope(both, jnp.concatenate([ks, ks]))
        g = {name: leaf[: len(ks)] for name, leaf in slopes.items()}
        here = {name: leaf[len(ks) :] for name, leaf in slopes.items()}
        epsilon = size(minus(here, first(here)))
        apart = size(minus(w, first(w)))
        # At the truncated models' weights: how fast their gradients turn.
        turned = size(minus(g, here)) / jnp.maximum(apart, 1e-9)
        beta = jnp.max(jnp.where(apart > 1e-7, turned, 0.0))
        after = {name: w[name] - alpha * g[name] for name in w}
        held = jax.vmap(lambda W: clip_singular_values(W, RATE))(after["W_h"])
        after = after | {"W_h": jnp.where(norm < 1, held, after["W_h"])}
        gap = size(minus(after, first(after)))
        return after, (gap, epsilon, beta, alpha, size(minus(after, start))[0])

    times = jnp.arange(1, steps + 1, dtype=jnp.float64)
    w, (gap, epsilon, beta, alpha, moved) = jax.lax.scan(step, start, times)
    y = jax.vmap(outputs)(w, ks)
    output_gap = jnp.max(jnp.linalg.norm(y - y[:1], axis=-1), axis=1)
    return {
        "gap": gap.T[1:],
        "epsilon": epsilon,
        "beta": beta,
        "alpha": alpha,
        "moved": moved,
        "output_gap": output_gap[1:],
    }


def _with_bound(run: dict) -> dict:
    """A descent with the bound that its own constants give."""
    epsilon, beta = run["epsilon"].max(0)[1:], float(run["beta"].max())
    level, levels = np.zeros(len(epsilon)), []
    for alpha in run["alpha"]:
        level = np.minimum((1 + alpha * beta) * level + alpha * epsilon, 1e12)
        levels.append(level)
    return run | {"bound": np.stack(levels, axis=1)}
