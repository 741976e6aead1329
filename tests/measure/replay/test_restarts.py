"""What transformers' models do to a state, beside what their decays predict."""

import copy

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.special import log_softmax

import remanence as rm
from remanence._precision import as_double, double
from remanence.measure.replay.tokens import _decayed


pytest.importorskip("transformers")
pytestmark = pytest.mark.live
from formats.language_models import (  # noqa: E402
    configurations,
    logits,
    perturb,
    recurrent_state,
    step,
    tiny_model,
    tokens,
)


NAMES = list(configurations())


@pytest.fixture(params=NAMES)
def both(request, tmp_path):
    model = tiny_model(request.param)
    model.save_pretrained(tmp_path)
    return model, rm.load(tmp_path, quiet=True)


def test_a_perturbed_state_shrinks_by_the_product_of_decays(both):
    model, net = both
    text, before, after, layer = tokens(20), 8, 8, 1
    cache = None
    for token in text[:before]:
        cache = step(model, cache, token)
    other, changed = copy.deepcopy((model, cache))
    perturb(other, changed, layer, 1e3)
    start = recurrent_state(other, changed, layer) - recurrent_state(model, cache, layer)
    for token in text[before : before + after]:
        cache, changed = step(model, cache, token), step(other, changed, token)
    end = recurrent_state(other, changed, layer) - recurrent_state(model, cache, layer)
    with double():
        wide = as_double(net)

        @eqx.filter_jit
        def predicted(wide, start, text):
            cell = wide.cell
            run = cell.along(cell.initial_state(), wide.embedding[text])[2][layer]
            us = run.inputs[before : before + after]
            return _decayed(cell.layers[layer].recurrence, start, us)[0]

        ours = np.asarray(predicted(wide, jnp.asarray(start), jnp.asarray(text)))
    assert np.linalg.norm(end - ours) < 1e-5 * np.linalg.norm(start)
    assert np.linalg.norm(ours) > 1e-4 * np.linalg.norm(start)


def test_windows_are_those_of_restarting_from_an_empty_cache(both):
    model, net = both
    text = tokens(80)
    found = rm.replay_window(net, text, error=1e-2)
    full = log_softmax(logits(copy.deepcopy(model), text), axis=1)
    for row, position in enumerate(found.positions[:6]):
        room = found.room[row]
        stop = position + room
        short = log_softmax(logits(copy.deepcopy(model), text[position:stop]), axis=1)
        p = full[position:stop]
        divergence = np.sum(np.exp(p) * (p - short), axis=1)
        np.testing.assert_allclose(found.divergence[row, :room], divergence, atol=2e-4)
        bad = np.flatnonzero(divergence > 1e-2)
        window = bad[-1] + 2 if len(bad) else 1
        expected = window if window <= room else np.inf
        near = np.abs(divergence - 1e-2).min() < 5e-4
        assert near or found.windows[row] == expected
    assert "positions" in str(found) and found.bottleneck in found.layers


def test_every_measurement_of_a_network_takes_a_language_model(tmp_path):
    model = tiny_model("mamba")
    model.save_pretrained(tmp_path)
    net = rm.load(tmp_path, quiet=True)
    found = rm.replay_window(net, tokens(40), of="states", error=0.1)
    assert found.of == "states" and found.positions == 40
    spectrum = rm.lyapunov_spectrum(net, tokens(200))
    assert len(spectrum.exponents) == 2 * 16 * 4 and spectrum.lost == 2 * 16 * 3
    assert spectrum.exponents[0] < 0
    assert jax.tree.leaves(net.cell)[0].dtype == jnp.float32
