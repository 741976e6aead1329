import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from remanence.subjects.modular_addition.ablation import modular_accuracy, modular_states
from remanence.subjects.modular_addition.exact_adder import adder, spread_frequencies


def lead(built):
    """What the doubled waves promise: the gain is a half at least, for every pair."""
    d = np.arange(1, built.task.period)
    k = np.array(built.frequencies)[:, None]
    return (1 - np.cos(2 * np.pi * k * d / built.task.period)).mean(0).min() / 2


@settings(max_examples=25)
@given(st.integers(3, 64), st.sampled_from(["+", "-"]))
def test_any_modulus_is_right_on_every_pair(modulus, operation):
    built = adder(modulus, operation=operation)
    assert built.margin > built.rounding
    assert built.units == 8 * len(built.frequencies)
    if modulus >= 17:
        assert built.units < modulus


@pytest.mark.parametrize("prime", [3, 5, 13, 31])
def test_products_are_right_too(prime):
    built = adder(prime, operation="×")
    assert built.margin > built.rounding
    assert built.units == 8 * len(built.frequencies) + 1


@pytest.mark.parametrize(("modulus", "operation"), [(12, "+"), (12, "-"), (11, "×")])
def test_the_network_itself_agrees_with_the_proof(modulus, operation):
    built = adder(modulus, operation=operation)
    assert modular_accuracy(built.net, built.task) == 1.0


def test_the_state_after_equals_is_the_written_wave():
    built = adder(13, (2,))
    third = modular_states(built.net, built.task).third
    a, b = np.ogrid[:13, :13]
    omega, phi = 2 * np.pi * 2 / 13, 2 * np.pi * np.arange(5) / 5
    c, s = np.cos(omega * (a - b) / 2), omega * (a + b) / 2
    wave = 2 * c[..., None] * np.cos(s[..., None] - phi)
    np.testing.assert_allclose(third[..., :5], np.maximum(wave, 0), atol=1e-6)


def test_aliases_take_at_most_a_seventh_of_the_ideal_margin():
    for modulus in (16, 31, 64, 113):
        built = adder(modulus, spread_frequencies(modulus, 4))
        assert 6 / 7 * lead(built) < built.margin < 1.5 * lead(built)


def test_more_frequencies_give_more_margin():
    margins = [adder(113, spread_frequencies(113, f)).margin for f in (2, 4, 8)]
    assert margins == sorted(margins)


def test_what_cannot_be_built_is_refused():
    with pytest.raises(ValueError, match="modulus must be at least 3"):
        adder(2)
    with pytest.raises(ValueError, match="prime"):
        adder(12, operation="×")
    with pytest.raises(ValueError, match="frequencies must be some of 1 to 6"):
        adder(13, (7,))
    with pytest.raises(ValueError, match="frequencies must be some of 1 to 6"):
        adder(13, ())
    with pytest.raises(ValueError, match="do not separate all answers modulo 12"):
        adder(12, (4,))
    with pytest.raises(ValueError, match="count must lie in 1 to 6"):
        spread_frequencies(13, 7)
