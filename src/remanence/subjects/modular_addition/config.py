"""Everything that the study of modular addition depends on."""

import dataclasses
from typing import Any


@dataclasses.dataclass(frozen=True, kw_only=True)
class Recipe:
    """One training: the modulus and how the network is trained on it."""

    modulus: int
    steps: int
    every: int
    units: int = 128
    embedding: int = 128
    activation: str = "relu"
    start: str = "small"
    """Small weights and a smaller embedding still; or as torch draws an `Embedding`, an `RNN`
    and a `Linear`: normal, and uniform within one over the root of the units."""
    fraction: float = 0.7
    learning_rate: float = 1e-3
    weight_decay: float = 1.0


@dataclasses.dataclass(frozen=True, kw_only=True)
class Config:
    """The main networks, the other cells and operations, and the map of recipes."""

    main: Recipe
    seeds: tuple[int, ...]
    others: Recipe
    """For the other cells and operations, one seed each."""
    cells: tuple[str, ...] = ("lstm", "gru", "residual")
    operations: tuple[str, ...] = ("-", "×")
    centres: tuple[Recipe, ...]
    """Round each of these one dial at a time is moved, and the frequencies are counted."""
    dials: tuple[tuple[str, tuple[Any, ...]], ...]
    """Names of a recipe's fields with the values that they take."""
    map_seeds: int = 2
    subsets: int = 6
    """Subsets of key frequencies tried at each size, at most."""
    ranks: int = 64
    """Ranks tried for each matrix, from 1 up."""
    exponent_steps: int = 300
    """Few: the state of a ReLU network that grows leaves the range of floats."""


FAST: Any = {"fraction": 0.8, "weight_decay": 2.0}
SMALL = Recipe(modulus=23, steps=800, every=400, units=64, embedding=64, learning_rate=5e-3, **FAST)
QUICK = Config(
    main=Recipe(modulus=43, steps=550, every=25, learning_rate=3e-3, **FAST),
    seeds=(0, 1, 2),
    others=SMALL,
    centres=(SMALL,),
    dials=(("fraction", (0.8, 0.9)), ("weight_decay", (2.0, 4.0)), ("units", (32, 64))),
    subsets=4,
    ranks=32,
)
TORCH = Recipe(modulus=113, steps=5_000, every=250, activation="tanh", start="torch")
RELU = dataclasses.replace(TORCH, activation="relu")
DECLARED = dataclasses.replace(RELU, weight_decay=2.0, units=256)
"""The map has ReLU networks of 256 units near the published ranks, but for W_fc at decay 1."""
FULL = Config(
    main=DECLARED,
    seeds=(20, 21, 22),
    others=Recipe(modulus=43, steps=1_200, every=100, learning_rate=3e-3, **FAST),
    centres=(TORCH, RELU),
    dials=(
        ("fraction", (0.3, 0.5, 0.7)),
        ("weight_decay", (0.3, 1.0, 3.0)),
        ("units", (64, 128, 256)),
        ("start", ("small", "torch")),
        ("steps", (2_500, 5_000)),
    ),
)
