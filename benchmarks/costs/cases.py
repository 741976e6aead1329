"""What is measured as it grows: each case makes the work of one size, ready to be timed.

A case is a name, what grows, its sizes, and a function from a size to work. Work is
called once before it is timed, so that compiling is not counted. Networks are drawn
with fixed seeds; inputs are Gaussian noise of four channels.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import optax

from remanence import measure, nets, sweeps, train
from remanence._precision import double
from remanence.cells import Elman, LSTM, Residual, Stack
from remanence.checkup import checkup
from remanence.subjects import memorization
from remanence.subjects.shared_representations.gated_linear import GatedLinear
from remanence.subjects.shared_representations.language_pairs import published_pairs
from remanence.subjects.shared_representations.pair_training import PairRun
from remanence.subjects.shared_representations.sgd_and_flow import momentum_sgd


class Case(NamedTuple):
    """One line of a figure."""

    group: str
    name: str
    axis: str
    sizes: tuple[int, ...]
    work: Callable[[int], Callable[[], Any]]


def driven(units: int = 32, steps: int = 1000, gain: float = 0.9):
    """A driven tanh network and its inputs, in double precision."""
    with double():
        cell = Elman.init(4, units, key=jr.key(0), gain=gain)
        return cell, np.asarray(jr.normal(jr.key(1), (steps, 4)))


def spectrum(k: int | None, **sizes: int) -> Callable[[], Any]:
    """A Lyapunov spectrum, error bars included."""
    cell, xs = driven(**sizes)
    return lambda: measure.lyapunov_spectrum(cell, xs, k=k)


def decay(**sizes: int) -> Callable[[], Any]:
    """The fall of gradients over a hundred lags."""
    cell, xs = driven(**sizes)
    return lambda: measure.gradient_decay(cell, xs, lags=100)


def capacity(units: int = 32, steps: int = 2000) -> Callable[[], Any]:
    """Linear memory capacity."""
    cell = driven(units)[0]
    return lambda: measure.memory_capacity(cell, steps=steps, lags=50)


def replayed(**sizes: int) -> Callable[[], Any]:
    """The replay window, from every start."""
    cell, xs = driven(**sizes)
    return lambda: measure.replay_window(cell, xs)


def certificate(units: int, metric: str) -> Callable[[], Any]:
    """A contraction certificate of a network with norm above one, verified."""
    cell = driven(units, gain=0.45)[0]
    return lambda: measure.contraction(cell, input_bound=1.0, metric=metric, time_limit=600)


def points(units: int) -> Callable[[], Any]:
    """Fixed and slow points from 32 starts."""
    cell = driven(units, gain=1.5)[0]
    return lambda: measure.fixed_points(cell)


def shortest(period: int) -> Callable[[], Any]:
    """The fewest linear units for twenty drawn words of two letters."""
    rng = np.random.default_rng(period)
    draw = lambda: "".join(rng.choice(["a", "b"], period))  # answers are remembered
    return lambda: [memorization.minimal_dimension(draw()) for _ in range(20)]


def training(
    units: int = 64, steps: int = 128, batch: int = 32, lanes: int = 1, every: int = 20
) -> Callable[[], Any]:
    """Twenty Adam steps of a residual classifier; lanes are trained as one batch."""
    keys = jr.split(jr.key(0), lanes)
    xs, ys = jr.normal(jr.key(1), (batch, steps, 1)), jnp.arange(batch) % 10

    def network(key: Any) -> nets.Recurrent:
        cell = Residual.init(1, units, key=key, residual=0.99, coupling=0.1)
        return nets.Recurrent.init(cell, outputs=10, key=key, readout="last")

    def loss(net: nets.Recurrent, data: Any, key: Any) -> Any:
        logits = nets.on_batch(net, data[0])
        losses = optax.softmax_cross_entropy_with_integer_labels(logits, data[1])
        return losses.mean()

    def lane(key: Any) -> Any:
        _, history = train.trained(
            network(key), loss, optax.adam(1e-3), steps=every, key=key, data=(xs, ys), every=every
        )
        return history["loss"]

    program = eqx.filter_jit(lambda keys: jax.vmap(lane)(keys))
    return lambda: program(keys).block_until_ready()


def pairs(mask: Any, **sizes: int) -> Callable[[], Any]:
    """Four hundred steps of momentum SGD on language pairs."""
    sizes = {"languages": 10, "words": 32, "units": 64} | sizes
    net = GatedLinear.published(seed=0, scale=1e-2, **sizes)
    run = PairRun(net, published_pairs(0.401, seed=0, languages=sizes["languages"]))
    told = {"stop": 1e-30, "every": 400, "limit": 400, "width": 1}
    return lambda: dict(momentum_sgd([run], mask=mask, **told))


def orbit(point: dict[str, Any], key: Any, data: Any) -> dict[str, Any]:
    """A short orbit of a random network of 24 units."""
    W = point["gain"] * jr.normal(key, (24, 24)) / 24**0.5
    h = jax.lax.fori_loop(0, 300, lambda _, h: jnp.tanh(W @ h), data)
    return {"norm": jnp.linalg.norm(h)}


def swept(lanes: int) -> Callable[[], Any]:
    """A sweep, compiling included: a sweep compiles anew."""
    axes = {"gain": np.linspace(0.5, 1.5, 4), "seed": range(lanes // 4)}
    return lambda: sweeps.sweep(orbit, axes, chunk=64, data=jnp.ones(24))


def looked_at(units: int = 16, steps: int = 500, layers: int = 1) -> Callable[[], Any]:
    """The whole checkup of a stack of LSTMs with a readout, without its page."""
    keys = jr.split(jr.key(0), layers + 1)
    cells = [LSTM.init(4 if i == 0 else units, units, key=keys[i]) for i in range(layers)]
    cell = cells[0] if layers == 1 else Stack(tuple(cells))
    net = nets.Recurrent.init(cell, outputs=4, key=keys[-1])
    xs = np.asarray(jr.normal(jr.key(1), (steps, 4)))
    return lambda: checkup(net, xs)


def streamed(steps: int) -> Callable[[], Any]:
    """A truncated network that is given one input at a time."""
    net = nets.Recurrent(Elman.init(4, 32, key=jr.key(0), gain=0.5))
    cut = nets.truncate(net, 32, block=64)
    step = eqx.filter_jit(lambda carry, x: cut.step(carry, x))
    rng = np.random.default_rng(0)

    def run() -> Any:
        carry = cut.start()
        for _ in range(steps):
            carry, y = step(carry, rng.normal(size=4))
        return y

    return run


UNITS, STEPS = (16, 32, 64, 128), (1000, 2000, 4000, 8000)
SPECTRA, MEASURES, TRAINING = "spectra", "measurements", "training and sweeps"
CHECKUPS = "checkups"
CASES = (
    Case(SPECTRA, "full spectrum", "N", UNITS, lambda n: spectrum(None, units=n)),
    Case(SPECTRA, "first 8", "N", UNITS, lambda n: spectrum(8, units=n)),
    Case(SPECTRA, "full spectrum", "T", STEPS, lambda t: spectrum(None, steps=t)),
    Case(SPECTRA, "first 8", "T", STEPS, lambda t: spectrum(8, steps=t)),
    Case(MEASURES, "gradient decay", "N", UNITS, lambda n: decay(units=n)),
    Case(MEASURES, "memory capacity", "N", UNITS, lambda n: capacity(units=n)),
    Case(MEASURES, "measured window", "N", UNITS, lambda n: replayed(units=n)),
    Case(MEASURES, "fixed points", "N", UNITS, points),
    Case(MEASURES, "diagonal metric", "N", UNITS, lambda n: certificate(n, "diagonal")),
    Case(MEASURES, "full metric", "N", (8, 12, 16, 24), lambda n: certificate(n, "full")),
    Case(MEASURES, "gradient decay", "T", STEPS, lambda t: decay(steps=t)),
    Case(MEASURES, "memory capacity", "T", STEPS, lambda t: capacity(steps=t)),
    Case(MEASURES, "measured window", "T", STEPS, lambda t: replayed(steps=t)),
    Case(MEASURES, "minimal dimension", "period", (8, 12, 16, 20), shortest),
    Case(CHECKUPS, "checkup of an LSTM", "N", (16, 32, 64), lambda n: looked_at(units=n)),
    Case(CHECKUPS, "checkup of an LSTM", "T", (500, 1000, 2000), lambda t: looked_at(steps=t)),
    Case(CHECKUPS, "checkup of LSTMs", "layers", (1, 2, 3), lambda n: looked_at(layers=n)),
    *(
        Case(TRAINING, "residual, 20 steps", axis, sizes, work)
        for axis, sizes, work in (
            ("N", UNITS, lambda n: training(units=n)),
            ("T", (64, 128, 256, 512), lambda t: training(steps=t)),
            ("batch", (16, 32, 64, 128), lambda b: training(batch=b)),
            ("lanes", (1, 2, 4, 8, 16), lambda c: training(units=16, steps=64, lanes=c)),
        )
    ),
    Case(TRAINING, "sweep of orbits", "lanes", (256, 1024, 4096, 16384), swept),
    *(
        Case(
            TRAINING,
            f"{mask} mask",
            axis,
            sizes,
            lambda n, mask=mask, axis=axis: pairs(mask, **{axis: n}),
        )
        for mask, units in (("diagonal", (32, 64, 128)), ("full", (64, 128, 256)))
        for axis, sizes in (("languages", (5, 10, 20)), ("words", (16, 32, 64)), ("units", units))
    ),
)
MEMORY = (
    Case(SPECTRA, "full spectrum", "T", (1000, 10_000, 100_000), lambda t: spectrum(None, steps=t)),
    Case(SPECTRA, "first 8", "T", (1000, 10_000, 100_000), lambda t: spectrum(8, steps=t)),
    Case(MEASURES, "truncated, one input at a time", "T", (1000, 10_000, 100_000), streamed),
    Case(CHECKUPS, "checkup of an LSTM", "T", (500, 1000, 2000), lambda t: looked_at(steps=t)),
    Case(TRAINING, "sweep of orbits", "lanes", (256, 2048, 16384), swept),
    Case(TRAINING, "residual, 20 steps", "T", (128, 256, 512, 1024), lambda t: training(steps=t)),
    Case(MEASURES, "gradient decay", "T", (1000, 10_000, 100_000), lambda t: decay(steps=t)),
)
"""Whose memory is looked at, in a process of its own a size."""
