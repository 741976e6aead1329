import numpy as np
import pytest

import remanence as rm
from remanence.subjects.memorization.minimal.separation import separation
from remanence.subjects.memorization.minimal.single_pass import walk
from remanence.subjects.memorization.minimal.two_units import two_units_refuted


REFUTED = ("111000000111111111110110", "011011100101000000000111", "011001110111111010111100")


def labelled(text):
    return tuple(int(c) for c in text)


@pytest.mark.parametrize("text", REFUTED)
def test_refuted_strings_withstand_drawn_matrices(text):
    labels = labelled(text)
    assert two_units_refuted(labels, time_limit=60.0)
    assert two_units_refuted(labels[::-1], time_limit=60.0)
    rng = np.random.default_rng(0)
    for _ in range(150):
        turn = np.exp(rng.normal() / 10 + 1j * np.pi * rng.random())
        real = rng.choice([-1, 1], size=2) * np.exp(rng.normal(size=2) / 4)
        for values in ((complex(turn),), tuple(complex(x) for x in real)):
            phi = walk(values, len(labels))
            assert separation(labels, phi / np.abs(phi).max(axis=1)[:, None]).u is None


@pytest.mark.parametrize("growth", [0.75, 0.97, 1.0, 1.05, 1.4])
def test_what_two_units_say_is_never_refuted(growth):
    rng = np.random.default_rng(int(100 * growth))
    for _ in range(6):
        length = int(rng.integers(8, 30))
        z = growth * np.exp(1j * np.pi * rng.random())
        x = (z ** np.arange(length) * np.exp(2j * np.pi * rng.random())).real
        edge = x[rng.integers(length)] * (1 + 1e-3)
        labels = tuple((x > edge).astype(int).tolist())
        assert not two_units_refuted(labels, time_limit=0.3)


def test_growing_walks_are_remembered():
    # z = 1.373 e^{0.7136 i} says it; no walk that fades does.
    for text in ("1111111100111110000", "0000111110011111111"):
        assert not two_units_refuted(labelled(text), time_limit=1.0)


def test_real_eigenvalues_are_not_forgotten():
    for values in ((0.9, 0.7), (0.9, -0.95), (-0.8, -0.97)):
        t = np.arange(1, 25)
        x = values[0] ** t - 1.1 * values[1] ** t
        for c in np.quantile(x, [0.2, 0.5, 0.8]):
            labels = tuple((x > c).astype(int).tolist())
            assert not two_units_refuted(labels, time_limit=0.3)


def test_three_units_can_be_the_proved_minimum():
    rng = np.random.default_rng(0)
    found = set()
    for _ in range(20):
        w = rng.integers(2, size=14).tolist()
        once = rm.minimal_dimension(w, end=True, time_limit=20.0)
        assert once.lower <= once.upper
        found.add((once.lower, once.upper))
        if {(2, 2), (3, 3)} <= found:
            return
    raise AssertionError(f"neither two nor three units were ever proved: {found}")
