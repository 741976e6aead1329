"""How many programs exponents compile, and how many of them stay."""

import resource

import jax
import jax.random as jr
import numpy as np
import pytest

import remanence as rm
from remanence.cells import Elman, Residual
from remanence.measure.lyapunov import run


@pytest.fixture
def compiled():
    """How often XLA has compiled, as a function."""
    events = []
    name = "/jax/core/compile/backend_compile_duration"
    listen = lambda event, *_, **__: events.append(event) if event == name else None
    jax.monitoring.register_event_duration_secs_listener(listen)
    yield lambda: len(events)
    jax.monitoring.unregister_event_duration_listener(listen)


def test_lengths_share_a_program(compiled):
    cell = Elman.init(1, 3, key=jr.key(0))
    xs = np.random.default_rng(0).normal(size=(500, 1))
    rm.lyapunov_spectrum(cell, xs[:300])
    before = compiled()
    found = [rm.lyapunov_spectrum(cell, xs[:n]) for n in range(310, 500, 40)]
    found += [rm.lyapunov_spectrum(cell, xs[:400], warmup=n) for n in (0, 10, 250)]
    assert compiled() == before
    assert len({each.exponents[0] for each in found}) == len(found)
    # A few steps as well: fewer batches, the same program.
    rm.lyapunov_spectrum(cell, xs[:20])
    fresh = compiled()
    rm.lyapunov_spectrum(cell, xs[:29])
    assert compiled() == fresh


def test_weakly_coupled_networks_share_a_program(compiled):
    """The bounds behind their single precision are numbers like any other."""
    xs = np.random.default_rng(0).normal(size=(200, 1))
    draw = lambda i: Residual.init(1, 4, key=jr.key(i), residual=0.97, coupling=0.02)
    rm.lyapunov_spectrum(draw(0), xs)
    before = compiled()
    rm.lyapunov_spectrum(draw(1), xs)
    assert compiled() == before


def test_few_programs_are_kept():
    live = lambda: len(jax.devices()[0].client.live_executables())
    run._program.cache_clear()
    kept = run._program.cache_parameters()["maxsize"]
    assert kept is not None and kept <= 32
    steps = range(1, 4)
    count = []
    for n in steps:  # other cells, other programs
        rm.lyapunov_spectrum(Elman.init(1, n, key=jr.key(0)), np.ones((30, 1)), k=1)
        count.append(live())
    run._program.cache_clear()
    assert live() <= count[-1] - len(steps)


@pytest.mark.slow
def test_three_hundred_lengths_take_no_memory():
    cell = Elman.init(2, 8, key=jr.key(0))
    xs = np.random.default_rng(0).normal(size=(1500, 2))
    rm.lyapunov_spectrum(cell, xs[:300])
    peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    first = peak()
    for n in range(301, 1501, 4):
        rm.lyapunov_spectrum(cell, xs[:n])
    assert peak() - first < 500
