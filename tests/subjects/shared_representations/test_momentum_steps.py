"""Steps in machine code against the gradients of `gram`, and a case that is known."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from remanence._native.machine import this_machine
from remanence._precision import as_double, double
from remanence.subjects.shared_representations.momentum_steps import coasted
from remanence.subjects.shared_representations.pair_gradient import gradient, Packed


LINES = {"scale": 0.2, "momentum": 0.9, "rate": 0.01}


def drawn(mask, L, D, H, *, lanes=1, dtype="float64", seed=0):
    rng = np.random.default_rng(seed)
    shape = (lanes, L, D, H) if mask == "full" else (lanes, D, L, H)
    shapes = (shape, (lanes, H, H), shape)
    w, m = (
        Packed(*(rng.normal(size=s, scale=scale).astype(dtype) for s in shapes))
        for scale in (0.3, 0.1)
    )
    T = (rng.random((lanes, L, L)) < 0.5).astype(dtype)
    T[:, np.arange(L), np.arange(L)] = 1.0
    return w, m, T


def moved(w, m, T, mask, steps, *, machine=None, rates=None):
    lanes = len(T)
    rate = np.full(lanes, LINES["rate"]) if rates is None else np.asarray(rates)
    scale = np.full(lanes, LINES["scale"])
    momentum = LINES["momentum"]
    return coasted(
        w, m, T, mask=mask, steps=steps, scale=scale, momentum=momentum, rate=rate,
        machine=machine,
    )  # fmt: skip


def by_gram(w, m, T, mask, steps):
    """The same steps of the first lane by `gram`, in float64."""
    with double():
        w, m, T = as_double(jax.tree.map(lambda a: a[0], (w, m, T)))
        for _ in range(steps):
            g, _ = gradient(w, T, mask)
            m = jax.tree.map(
                lambda g, m: LINES["scale"] * g + LINES["momentum"] * m, g, m
            )
            w = jax.tree.map(lambda w, m: w - LINES["rate"] * m, w, m)
    return jax.tree.map(np.asarray, (w, m))


@pytest.mark.parametrize("mask", ["full", "diagonal"])
@pytest.mark.parametrize(
    "size", [(4, 3, 5), (3, 5, 4), (2, 1, 1), (10, 32, 32), (3, 17, 33)]
)
@pytest.mark.parametrize(("dtype", "error"), [("float32", 2e-6), ("float64", 1e-14)])
def test_steps_are_those_of_gram(mask, size, dtype, error):
    start = drawn(mask, *size, dtype=dtype)
    for got, expected in zip(
        jax.tree.leaves(moved(*start, mask, 3)),
        jax.tree.leaves(by_gram(*start, mask, 3)),
        strict=True,
    ):
        assert got.dtype == dtype
        assert np.abs(got[0] - expected).max() < error * np.abs(expected).max()


def test_one_word_one_unit_one_language_by_hand():
    """Loss ½(abc - 1)²: the derivative by a is (abc - 1) bc."""
    one = lambda x, *shape: np.full((1, *shape), x)
    a, b, c = 0.5, 0.25, 2.0
    w = Packed(one(a, 1, 1, 1), one(b, 1, 1), one(c, 1, 1, 1))
    m = Packed(one(0.5, 1, 1, 1), one(0.0, 1, 1), one(0.0, 1, 1, 1))
    miss = a * b * c - 1.0
    expected = [
        x - LINES["rate"] * (LINES["scale"] * miss * g + LINES["momentum"] * before)
        for x, g, before in ((a, b * c, 0.5), (b, a * c, 0.0), (c, a * b, 0.0))
    ]
    for mask in ("full", "diagonal"):
        ended, _ = moved(w, m, np.ones((1, 1, 1)), mask, 1)
        np.testing.assert_allclose([x.item() for x in ended], expected, rtol=1e-15)


@pytest.mark.parametrize("mask", ["full", "diagonal"])
def test_bits_depend_neither_on_vectors_nor_on_neighbours(mask):
    start = drawn(mask, 3, 5, 7, lanes=3, dtype="float32")
    before = jax.tree.map(np.copy, start)
    ended = moved(*start, mask, 20)
    for vector, registers in ((16, 32), (32, 16), (64, 32)):
        machine = this_machine()._replace(vector=vector, registers=registers)
        other = moved(*start, mask, 20, machine=machine)
        assert all(map(np.array_equal, *map(jax.tree.leaves, (ended, other))))
    for lane in range(3):
        part = jax.tree.map(lambda a, at=lane: a[at : at + 1], (*start, ended))
        alone = moved(*part[:3], mask, 20)
        assert all(map(np.array_equal, *map(jax.tree.leaves, (alone, part[3]))))
    assert all(map(np.array_equal, *map(jax.tree.leaves, (start, before))))


@pytest.mark.parametrize("mask", ["full", "diagonal"])
def test_a_lane_without_a_rate_stays_and_one_that_bursts_is_seen(mask):
    start = drawn(mask, 3, 4, 4, lanes=2)
    (w, m), (w0, m0) = moved(*start, mask, 400, rates=[0.0, 1e3]), start[:2]
    for after, before in zip((*w, *m), (*w0, *m0), strict=True):
        assert np.array_equal(after[0], before[0])
        assert not np.isfinite(after[1]).all()
    assert jnp.isfinite(w.P[0]).all()
