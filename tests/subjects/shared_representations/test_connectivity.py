"""Connectivity against counts done by hand and by brute force."""

import itertools

import numpy as np
import pytest

from remanence.subjects.shared_representations.language_pairs import (
    circulant_pairs,
    components,
    connectivity,
    path_bound,
    probability_connected,
)


@pytest.mark.parametrize(("pairs", "exact"), [(21, 0.338), (25, 0.749), (29, 0.918), (31, 0.954)])
def test_probability_at_ten_languages(pairs, exact):
    assert round(probability_connected(10, pairs), 3) == exact


def test_probability_agrees_with_enumeration():
    L, arcs = 4, 4
    off = [(k, l) for k in range(L) for l in range(L) if k != l]
    hits = total = 0
    for chosen in itertools.combinations(off, arcs):
        T = np.eye(L)
        for k, l in chosen:
            T[k, l] = 1.0
        hits += components(T)[0] == 1
        total += 1
    assert probability_connected(L, L + arcs) == pytest.approx(hits / total, abs=1e-15)


def test_two_islands():
    T = np.kron(np.eye(2), np.ones((2, 2)))
    graph = connectivity(T)
    assert graph.components == 2 and not graph.connected
    assert graph.algebraic == pytest.approx(0.0, abs=1e-12)
    assert np.isinf(graph.path_lengths[0, 3])
    np.testing.assert_array_equal(graph.together, T)
    assert graph.gap == pytest.approx(1.0)


def test_circulant_gap_and_paths():
    graph = connectivity(circulant_pairs(10, 2))
    # Eigenvalues of a circulant: 1 + w^j, largest 2, next |1 + e^{2 pi i / 10}|.
    assert graph.gap == pytest.approx(abs(1 + np.exp(2j * np.pi / 10)) / 2)
    assert graph.path_lengths.max() == 9
    assert graph.path_lengths.min() == 1


def test_one_language_has_no_second_mode():
    assert connectivity(np.ones((1, 1))).gap == 0.0


@pytest.mark.parametrize("residual", [1e-3, 0.05])
def test_path_bound_holds_on_drawn_blocks(residual):
    rng = np.random.default_rng(0)
    L, D = 6, 4
    T = circulant_pairs(L, 2)
    graph = connectivity(T)
    bound = path_bound(graph, residual)
    # H = D: any invertible factors; those near a common one have near-identity blocks.
    for _ in range(20):
        W_i = [np.eye(D) + residual * 0.1 * rng.normal(size=(D, D)) for _ in range(L)]
        W_o = [np.eye(D) + residual * 0.1 * rng.normal(size=(D, D)) for _ in range(L)]
        gap = np.array(
            [[np.linalg.norm(W_o[k] @ W_i[l] - np.eye(D), 2) for l in range(L)] for k in range(L)]
        )
        worst = gap[T == 1].max()
        assert (gap <= path_bound(graph, worst) + 1e-12).all()
    assert bound[T == 1] == pytest.approx(residual)


def test_path_bound_says_nothing_across_components():
    T = np.kron(np.eye(2), np.ones((2, 2)))
    assert np.isinf(path_bound(connectivity(T), 1e-3)[0, 3])
    assert np.isinf(path_bound(connectivity(T), 1.0)).all()


def test_refused():
    with pytest.raises(ValueError, match="pairs must lie between 10 and 100, got 9"):
        probability_connected(10, 9)
