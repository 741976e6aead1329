"""Error bars hold what they promise, and no run is called converged that is not."""

import numpy as np
import pytest
from coverage_cases import covered, REGIMES, spectra

from remanence.measure.lyapunov.errors import batch_means, effective_inputs, settling


def test_intervals_hold_the_long_run_in_every_regime():
    """40 networks a regime: a look at what the slow test below measures."""
    cases = spectra(list(REGIMES), 40, long=20_000)
    every = []
    for name, case in cases.items():
        hits, converged = covered(*case)
        if not REGIMES[name].settles:
            assert converged.sum() <= 1, name
            continue
        assert converged.mean() > 0.3, name
        # 40 networks, whose exponents go together: 95 % may look like 88.
        assert hits[converged].mean() > 0.87, f"{name}: {hits[converged].mean()}"
        every.append(hits[converged].ravel())
    assert len(every) >= 8
    assert 0.93 <= np.concatenate(every).mean() <= 0.98


@pytest.mark.slow
def test_coverage_is_90_to_99_percent_among_converged():
    cases = spectra(list(REGIMES), 300, long=60_000, seed=1)
    for name, case in cases.items():
        hits, converged = covered(*case)
        if not REGIMES[name].settles:
            assert converged.mean() <= 0.01, name
            continue
        assert converged.mean() > 0.3, name
        assert 0.90 <= hits[converged].mean() <= 0.99, f"{name}: {hits[converged]}"
        by_exponent = hits[converged].mean(axis=0)
        assert (by_exponent >= 0.88).all(), f"{name}: {by_exponent}"


def series(rng, kind, batches=48, sequences=1):
    """Growth of 20 steps a batch: white, remembered, or alternating."""
    noise = rng.normal(size=(sequences, batches + 40, 1))
    rho = {"white": 0.0, "remembered": 0.6, "alternating": -0.9}[kind]
    for t in range(1, batches + 40):
        noise[:, t] += rho * noise[:, t - 1]
    return noise[:, 40:], np.full((sequences, batches), 20)


@pytest.mark.parametrize(
    ("kind", "sequences", "least", "most"),
    [
        ("white", 1, 0.9, 1.2),
        ("remembered", 10, 0.85, 1.15),
        ("remembered", 1, 1.2, 4.0),
        ("alternating", 1, 1.5, 10.0),
    ],
)
def test_the_error_is_the_scatter_of_the_mean(kind, sequences, least, most):
    """Larger where 48 batches count for twelve, or alternate: that may be chance."""
    rng = np.random.default_rng(0)
    drawn = [series(rng, kind, sequences=sequences) for _ in range(400)]
    found = [batch_means(*one) for one in drawn]
    scatter = np.std([one.mean[0] for one in found])
    told = np.median([one.stderr[0] for one in found])
    assert least < told / scatter < most


def test_every_exponent_is_asked_how_long_it_remembers():
    rng = np.random.default_rng(0)
    white, steps = series(rng, "white")
    slow = np.cumsum(white, axis=1)
    found = batch_means(np.concatenate([white, slow], axis=-1), steps)
    assert found.effective[0] > 20 and found.effective[1] < 8
    assert found.dof < 7


def test_slow_inputs_are_seen_as_they_are_and_by_their_size():
    rng = np.random.default_rng(0)
    edges, steps = np.arange(0, 961, 20), np.full((1, 48), 20)
    fast, slow = (np.repeat(rng.normal(size=960 // n), n) for n in (1, 240))
    count = lambda *channels: effective_inputs(np.stack(channels, axis=-1)[None], edges, steps)
    assert count(fast) > 20 and count(slow) < 8 and count(fast, 3 * slow) < 8
    assert count(fast * np.exp(slow)) < 8  # loud and low
    assert count(np.ones(960)) == np.inf  # always the same is no sample of anything
    many = np.stack([slow[:, None]] * 8)
    assert effective_inputs(many, edges, np.repeat(steps, 8, axis=0)) == np.inf


def test_what_is_left_of_the_start():
    growth = np.random.default_rng(0).normal(size=(1, 48, 3)) * 1e-9
    steps = np.full((1, 48), 20)
    still = batch_means(growth + [[[0.0, -2.0, -2.0]]], steps)
    look = lambda early: settling(still, np.array(early), steps=960.0, sequences=1)
    # Directions that have parted have settled; those that never part need not.
    assert look([0.0, -40.0, -40.0]).max() < 1e-9
    begun = look([0.0, 0.0, 0.0])
    np.testing.assert_allclose(begun[1:], 1 / 960, rtol=1e-3)
    # A state that fades by e^-1 in the warm-up is not where it will be.
    noise = 0.1 * np.random.default_rng(0).normal(size=(1, 48, 1))
    noisy = batch_means(noise - 0.2, steps)
    near = settling(noisy, np.array([-1.0]), steps=960.0, sequences=1)
    far = settling(noisy, np.array([-20.0]), steps=960.0, sequences=1)
    assert near[0] > noisy.stderr[0] > 1e3 * far[0]
