r"""Memories learned by gradient descent: $h_t = \rho(W_h h_{t-1})$, cross-entropy on $w_t$.

Linear and tanh networks of every size are padded to the largest and masked, so that sizes and seeds
are lanes of one program. What a linear one learned is read off the eigenvalues that its logits use.
"""

import dataclasses
import math
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import optax
import xarray as xr
from jaxtyping import Array, Float

from ...report import Bench
from ...sweeps import sweep
from ...train import trained
from .config import Config
from .harmonics import cost
from .minimal.cheapest_harmonics import harmonic_dimension
from .words import word


WEIGHTS = {"W_h": ("unit", "unit_from"), "W_y": ("output", "unit"), "h_0": ("unit",)}
PERIODS, LATER = 3, 10  # periods shown in training, and those that a memory is asked for afterwards
ACTIVE = 0.02  # a mode with less of the logits' energy than this is not used
NEAR = 0.05  # an eigenvalue this near a root of unity is taken for it
ASKEW = 0.2  # angles off by more than this part of the spacing of the roots match no construction


class Autonomous(eqx.Module):
    """A network that reads nothing: its whole memory is its state."""

    W_h: Float[Array, "units units"]
    W_y: Float[Array, "outputs units"]
    b_y: Float[Array, " outputs"]
    h_0: Float[Array, " units"]

    def masked(self, units: Any) -> "Autonomous":
        """The first `units` units alone."""
        on = (jnp.arange(self.h_0.size) < units).astype(jnp.float32)
        return Autonomous(self.W_h * on[:, None] * on, self.W_y * on, self.b_y, self.h_0 * on)

    def logits(self, steps: int, tanh: Any) -> Float[Array, "time outputs"]:
        """What it says at each step; `tanh` is 0 or 1."""

        def step(h: Array, _: None):
            z = self.W_h @ h
            h = jnp.where(tanh > 0, jnp.tanh(z), z)
            return h, self.W_y @ h + self.b_y

        return jax.lax.scan(step, self.h_0, None, length=steps)[1]


@dataclasses.dataclass(frozen=True)
class Lane:
    """One training: a word, a kind of network, a size and a seed; words are padded to the
    longest and masked like the units, so that everything is one program."""

    config: Config
    outputs: int
    longest: int

    def __call__(self, point: dict[str, Any], key: Array, data: Any) -> dict[str, Array]:
        key_start, key_steps = jr.split(key)
        key_h, key_y, key_0 = jr.split(key_start, 3)
        steps, units = self.config.learned_steps, max(self.config.learned_units)
        # Gaussian weights of unit gain.
        gain = 1 / jnp.sqrt(jnp.asarray(point["units"], jnp.float32))
        W_h = gain * jr.normal(key_h, (units, units))
        W_y = gain * jr.normal(key_y, (self.outputs, units))
        start = Autonomous(W_h, W_y, jnp.zeros(self.outputs), jr.normal(key_0, (units,)))
        labels, period, n = (a[point["word"]] for a in data)
        unspoken = jnp.where(jnp.arange(self.outputs) < n, 0.0, -1e9)

        def say(net: Autonomous, periods: int) -> tuple[Array, Array, Array]:
            t = jnp.arange(periods * self.longest)
            return t, net.logits(t.size, point["tanh"]) + unspoken, labels[t % period]

        def loss(net: Autonomous, _: Any, key: Array) -> Array:
            t, y, wanted = say(net, PERIODS)
            shown = t < PERIODS * period
            cost = optax.losses.softmax_cross_entropy_with_integer_labels(y, wanted)
            return jnp.where(shown, cost, 0.0).sum() / shown.sum().astype(cost.dtype)

        schedule = optax.cosine_decay_schedule(self.config.learning_rate, steps)
        optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.adam(schedule))
        mask = lambda net: net.masked(point["units"])
        how: Any = {"steps": steps, "key": key_steps, "every": steps, "project": mask}
        net, history = trained(mask(start), loss, optimizer, **how)
        t, y, wanted = say(net, LATER)
        right = jnp.argmax(y, axis=1) == wanted
        return {
            "loss": history["loss"][-1],
            "learned": (right | (t >= PERIODS * period)).all(),
            "kept": (right | (t >= LATER * period)).all(),
        } | {name: getattr(net, name) for name in WEIGHTS}


def train_memories(config: Config, bench: Bench) -> xr.Dataset:
    """Every word, kind, size and seed, batched together."""
    words = [word(letters) for letters in config.learned_words]
    sizes = np.array([(w.period, len(w.alphabet)) for w in words], dtype=np.int32).T
    longest = int(sizes[0].max())
    labels = np.array([np.resize(w.indices, longest) for w in words], dtype=np.int32)
    axes = {"word": range(len(words)), "tanh": (0, 1), "units": config.learned_units}
    table = sweep(
        Lane(config, int(sizes[1].max()), longest),
        axes | {"seed": range(config.learned_seeds)},
        seed=bench.seed,
        chunk=config.learned_chunk,
        dims=WEIGHTS,
        data=(labels, *sizes),
        folder=bench.folder / "learned",
        title="learned memories",
        quiet=bench.quiet,
        time_limit=bench.time_limit,
        on=bench.on,
    )
    names = {"word": list(config.learned_words), "kind": ["linear", "tanh"]}
    return table.rename(tanh="kind").assign_coords(names)


def needed(letters: str) -> int:
    """d* of the word, the fewest units that any linear memory without feedback has."""
    return harmonic_dimension(word(letters)).dimension


@dataclasses.dataclass(frozen=True)
class Modes:
    """What a learned linear memory is made of."""

    word: str
    units: int
    eigenvalues: tuple[complex, ...]  # those that its logits use
    frequencies: tuple[int, ...]  # the nearest roots of unity, without the constant
    distance: float  # the largest distance of a used eigenvalue from its root of unity
    nearest: str  # the construction that turns by the same angles, whatever its radii


def modes(W_h: np.ndarray, W_y: np.ndarray, h_0: np.ndarray, *, letters: str) -> Modes:
    """The modes that carry the logits, and the construction that they come nearest to."""
    p = word(letters).period
    values, V = np.linalg.eig(W_h.astype(float))
    weights = np.linalg.lstsq(V, h_0.astype(complex), rcond=None)[0]
    # A mode's share: its logits over the steps shown, the mean over symbols removed.
    t = np.arange(1, PERIODS * p + 1)
    C = W_y @ V * weights
    C = C - C.mean(axis=0)
    energy = (np.abs(C) ** 2).sum(axis=0) * (np.abs(values)[:, None] ** (2 * t)).sum(axis=1)
    share = np.where(np.abs(np.angle(values)) > math.pi / p / 2, energy, 0.0)
    used = values[share > ACTIVE * max(share.sum(), 1e-30)]
    nearest = np.rint(np.angle(used) * p / (2 * math.pi)).astype(int) % p
    roots = np.exp(2j * math.pi * nearest / p)
    S = tuple(sorted({int(min(j, p - j)) for j in nearest}))
    turn = np.abs(np.angle(used / roots)).max(initial=0.0)
    name = "minimal harmonic" if cost(S, p) <= needed(letters) else "harmonic"
    if not used.size or turn > ASKEW * 2 * math.pi / p:
        name = "none"
    elif cost(S, p) >= p - 1:
        name = "permutation"
    distance = float(np.abs(used - roots).max(initial=0.0))
    return Modes(letters, len(W_h), tuple(used.tolist()), S, distance, name)


def learned_modes(table: xr.Dataset) -> list[Modes]:
    """Those of every linear network that learned its word."""
    runs = table.sel(kind="linear").stack(run=("word", "units", "seed"))
    found = []
    for i in np.flatnonzero(runs.learned.values):
        one, d = runs.isel(run=i), int(runs.units[i])
        W_h, W_y, h_0 = one.W_h.values[:d, :d], one.W_y.values[:, :d], one.h_0.values[:d]
        found.append(modes(W_h, W_y, h_0, letters=str(one.word.values)))
    return found
