"""Equal runs have equal digests, and whatever can change a bit changes the digest."""

import dataclasses
import functools
import re

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import optax
import pytest

from remanence import cells
from remanence.train.identity import code_hash, digest, ENGINE, environment, PACKAGE


@dataclasses.dataclass(frozen=True)
class Config:
    units: int = 3


def lane_of(config, scale=1.0):
    def lane(point):
        return config.units * scale * point

    return lane


SCALE = 1.0


def uses_a_global(x):
    return SCALE * x


def calls_itself(n):
    return calls_itself(n - 1) if n else 0


SAME = [
    (lambda: lane_of(Config()), "a closure"),
    (lambda: optax.adam(1e-3), "an optimizer"),
    (
        lambda: optax.chain(optax.clip(1.0), optax.sgd(optax.cosine_decay_schedule(0.1, 9))),
        "a chain",
    ),
    (lambda: {"b": jnp.ones(3), "a": (1, 2.0, "x", None)}, "a tree"),
    (lambda: cells.Elman.init(2, 3, key=jr.key(0)), "a cell"),
    (lambda: functools.partial(lane_of(Config()), 2.0), "a partial"),
    (lambda: jax.jit(lane_of(Config())), "a compiled function"),
    (lambda: calls_itself, "a recursive function"),
    (lambda: {"z", "y", "x"}, "a set"),
    (lambda: jr.key(5), "a key"),
]


@pytest.mark.parametrize("made", [made for made, _ in SAME], ids=[n for _, n in SAME])
def test_what_is_made_twice_has_one_digest(made):
    assert digest(made()) == digest(made())


DIFFERENT = [
    (lane_of(Config()), lane_of(Config(units=4)), "a captured configuration"),
    (lane_of(Config()), lane_of(Config(), scale=2.0), "a captured number"),
    (optax.adam(1e-3), optax.adam(1e-2), "a learning rate"),
    (optax.adam(1e-3), optax.adam(1e-3, b1=0.8), "a momentum"),
    (
        optax.sgd(optax.cosine_decay_schedule(0.1, 9)),
        optax.sgd(optax.cosine_decay_schedule(0.1, 8)),
        "a schedule",
    ),
    (lambda x: x + 1, lambda x: x + 2, "a constant in the code"),
    (lambda x: jnp.sin(x), lambda x: jnp.cos(x), "a called name"),
    (jnp.zeros(2), -jnp.zeros(2), "the sign of zero"),
    (np.zeros(2, np.float32), np.zeros(2), "a dtype"),
    (np.zeros((2, 1)), np.zeros((1, 2)), "a shape"),
    (jr.key(0), jr.key(1), "a key"),
    (1, 1.0, "a type"),
    (1, True, "a truth"),
    ([1, [2]], [[1], 2], "nesting"),
    (jnp.tanh, jax.nn.relu, "an activation"),
]


@pytest.mark.parametrize(
    ("one", "other"), [d[:2] for d in DIFFERENT], ids=[d[2] for d in DIFFERENT]
)
def test_what_differs_is_seen(one, other):
    assert digest(one) != digest(other)


def test_a_global_of_a_script_counts(monkeypatch):
    before = digest(uses_a_global)
    monkeypatch.setitem(globals(), "SCALE", 2.0)
    assert digest(uses_a_global) != before


def test_the_code_of_the_package_is_hashed_file_by_file():
    assert code_hash("train") == code_hash("train")
    assert len({code_hash(), code_hash("train"), code_hash("train", "sweeps")}) == 3
    assert code_hash("cells/gru.py") != code_hash("cells/lstm.py")


def test_an_environment_says_what_decides_the_bits():
    here = environment()
    assert set(here) == {"code", "versions", "device", "processor", "xla_flags", "x64"}
    assert here["versions"]["jax"] == jax.__version__
    with jax.enable_x64(True):
        assert environment()["x64"] is True


def test_whatever_the_engine_imports_belongs_to_it():
    """A digest that did not see a module would take its old results for new ones."""
    first = [path for part in ENGINE for path in PACKAGE.glob(part)]
    assert {PACKAGE / "_stop.py", PACKAGE / "train", PACKAGE / "cells"} <= set(first)
    for path in (path for root in first for path in [root, *root.rglob("*.py")]):
        if path.is_file():
            up = "." * len(path.relative_to(PACKAGE).parts)
            for name in re.findall(rf"from {re.escape(up)}(\w+)", path.read_text()):
                assert {PACKAGE / name, PACKAGE / f"{name}.py"} & set(first), f"{path}: {name}"
