r"""Regimes in which error bars are put to the test, all through two compiled programs.

Every network is $h' = r h + \gamma \tanh(W h + U x)$ of four units: tanh networks at
$r = 0$, weakly coupled ones at small $\gamma$. A regime draws networks and inputs.
"""

import dataclasses
import functools
from collections.abc import Callable

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np

from remanence._precision import double
from remanence.cells import Residual
from remanence.measure.lyapunov.run import Growth, segment_edges
from remanence.measure.lyapunov.segment import segment, start_frame
from remanence.measure.lyapunov.summary import summary


UNITS, STEPS = 4, 1000


def white(rng, shape):
    return rng.normal(size=shape)


def correlated(time, rng, shape):
    """A stationary Gauss-Markov sequence that forgets within `time` steps."""
    rho = np.exp(-1 / time)
    x, noise = np.empty(shape), rng.normal(size=shape)
    x[:, 0] = noise[:, 0]
    for t in range(1, shape[1]):
        x[:, t] = rho * x[:, t - 1] + np.sqrt(1 - rho**2) * noise[:, t]
    return x


def telegraph(rng, shape):
    """A sign that turns every 25 steps or so, beside a constant."""
    return 0.5 + np.cumprod(np.where(rng.random(shape) < 0.04, -1.0, 1.0), axis=1)


def modulated(rng, shape):
    """White noise that is loud for a while and low for a while."""
    return np.exp(correlated(8, rng, shape)) * rng.normal(size=shape)


@dataclasses.dataclass(frozen=True)
class Regime:
    """How networks and inputs are drawn; `settles` says that some runs are long enough."""

    inputs: Callable = white
    residual: tuple[float, float] = (0.0, 0.0)
    coupling: tuple[float, float] = (1.0, 1.0)
    gain: tuple[float, float] = (0.5, 1.5)
    sequences: int = 1
    steps: int = STEPS
    settles: bool = True


REGIMES = {
    "tanh under noise": Regime(gain=(0.5, 2.0)),
    "leaky units": Regime(residual=(0.5, 0.9), coupling=(0.3, 0.6)),
    "coupling 0.3": Regime(residual=(0.8, 0.95), coupling=(0.3, 0.3)),
    "weak coupling, 1e-3": Regime(residual=(0.99, 0.99), coupling=(1e-3, 1e-3), settles=False),
    "inputs that remember T/3": Regime(
        inputs=functools.partial(correlated, STEPS / 3), settles=False
    ),
    "inputs that remember T/50": Regime(inputs=functools.partial(correlated, STEPS / 50)),
    "telegraph": Regime(inputs=telegraph),
    "loud and low": Regime(inputs=modulated),
    "chaos": Regime(inputs=lambda rng, shape: 0.4 * rng.normal(size=shape), gain=(2.5, 3.5)),
    "many short sequences": Regime(sequences=25, steps=40),
    "short sequences that remember": Regime(
        inputs=functools.partial(correlated, 10.0), sequences=25, steps=40
    ),
}


def drawn(regime: Regime, networks: int, rng) -> Residual:
    between = lambda ends: rng.uniform(*ends, size=networks)
    W = rng.normal(size=(networks, UNITS, UNITS)) / np.sqrt(UNITS)
    W = between(regime.gain)[:, None, None] * W
    U = rng.normal(size=(networks, UNITS, 1))
    zeros = np.zeros((networks, UNITS))
    r, gamma = between(regime.residual), between(regime.coupling)
    arrays = [jnp.asarray(a) for a in (r, W, U, zeros, gamma)]
    return jax.vmap(Residual)(*arrays)


def growth_between(cell, xs, edges):
    """The growth of every direction from each edge to the next."""
    h = jnp.zeros(UNITS)
    Q = start_frame(h, UNITS, key=jr.key(0))

    def batch(at, ends):
        span = {"start": ends[0], "stop": ends[1], "interval": 2, "adaptive": False}
        done = segment(cell, at[0], at[1], xs, **span, scale=at[2])
        return (done.h, done.Q, done.scale), done.growth

    ends = jnp.stack([edges[:-1], edges[1:]], axis=1)
    return jax.lax.scan(batch, (h, Q, jnp.zeros(UNITS)), ends)[1]


@eqx.filter_jit
def grown(cells, xs, edges):
    return jax.vmap(growth_between, in_axes=(0, 0, None))(cells, xs, edges)


def spectra(names, networks: int, *, long: int, seed: int = 0):
    """For each regime: the exponents in the long run, and the spectra of short ones."""
    with double():
        return _spectra(names, networks, long, np.random.default_rng(seed))


def _spectra(names, networks, long, rng):
    regimes = [REGIMES[name] for name in names]
    cells = [drawn(regime, networks, rng) for regime in regimes]
    whole = jax.tree.map(lambda *leaves: jnp.concatenate(leaves), *cells)
    heard = [r.inputs(rng, (networks, long))[..., None] for r in regimes]
    ends = jnp.asarray(np.array([0, long // 5, long]), jnp.int32)
    truth = np.asarray(grown(whole, jnp.asarray(np.concatenate(heard)), ends))[:, 1]
    truth = -np.sort(-truth / (long - long // 5), axis=-1)
    kinds = sorted({(regime.sequences, regime.steps) for regime in regimes})
    found = {}
    for kind in kinds:
        members = [i for i, r in enumerate(regimes) if (r.sequences, r.steps) == kind]
        S, T = kind
        shape = (networks * S, T)
        xs = np.concatenate([regimes[i].inputs(rng, shape)[..., None] for i in members])
        some = jax.tree.map(
            lambda *leaves: jnp.repeat(jnp.concatenate(leaves), S, axis=0),  # noqa: B023
            *(cells[i] for i in members),
        )
        edges = segment_edges(T, T // 5, S)
        growth = np.asarray(grown(some, jnp.asarray(xs), jnp.asarray(edges, jnp.int32)))
        growth = growth.reshape(len(members), networks, S, -1, UNITS)
        xs = xs.reshape(len(members), networks, S, T, 1)
        for row, i in enumerate(members):
            runs = zip(growth[row], xs[row], strict=True)
            found[names[i]] = [summarised(g, x, edges) for g, x in runs]
    truths = dict(zip(names, truth.reshape(len(names), networks, UNITS), strict=True))
    return {name: (truths[name], found[name]) for name in names}


def summarised(growth, xs, edges):
    """What `lyapunov_spectrum` says of this growth."""
    run = Growth(
        growth=growth[:, 1:],
        early=growth[:, 0].mean(axis=0),
        edges=edges[1:],
        dead=np.zeros(UNITS, bool),
        rounding=np.zeros(UNITS),
        interval=4.0,
        diverged_at=None,
    )
    return summary(run, k=UNITS, dimension=UNITS, xs=xs)


def covered(truth, found):
    """Which exponents lie in their intervals, and which runs are called converged."""
    ends = np.array([each.confidence() for each in found])
    hits = (ends[:, 0] <= truth) & (truth <= ends[:, 1])
    return hits, np.array([each.converged for each in found])
