"""Everything that the study of modular addition depends on."""

import dataclasses


@dataclasses.dataclass(frozen=True, kw_only=True)
class Recipe:
    """One training: the modulus and how the network is trained on it."""

    modulus: int
    steps: int
    every: int
    units: int = 128
    embedding: int = 128
    fraction: float = 0.7
    learning_rate: float = 1e-3
    weight_decay: float = 1.0


@dataclasses.dataclass(frozen=True, kw_only=True)
class Config:
    """The main networks, the other cells and operations, and the sweep."""

    main: Recipe
    seeds: tuple[int, ...]
    others: Recipe
    """For the other cells and operations, one seed each."""
    cells: tuple[str, ...] = ("lstm", "gru", "residual")
    operations: tuple[str, ...] = ("-", "×")
    sweep: Recipe
    """Where fraction and decay are varied together, and width alone, on a masked table."""
    fractions: tuple[float, ...] = (0.5, 0.7, 0.9)
    decays: tuple[float, ...] = (0.5, 1.0, 2.0)
    widths: tuple[int, ...] = (32, 128)
    sweep_seeds: int = 2
    subsets: int = 6
    """Subsets of key frequencies tried at each size, at most."""
    all_pairs: bool = True
    """All pairs of all frequencies out of the first network's unembedding."""
    ranks: int = 64
    """Ranks tried for each matrix, from 1 up."""
    exponent_steps: int = 300
    """Few: the state of a ReLU network that grows leaves the range of floats."""


QUICK = Config(
    main=Recipe(
        modulus=43,
        steps=700,
        every=25,
        fraction=0.8,
        learning_rate=3e-3,
        weight_decay=2.0,
    ),
    seeds=(0, 1, 2),
    others=Recipe(
        modulus=23,
        steps=800,
        every=100,
        units=64,
        embedding=64,
        fraction=0.8,
        learning_rate=5e-3,
        weight_decay=2.0,
    ),
    sweep=Recipe(
        modulus=23,
        steps=600,
        every=600,
        units=64,
        embedding=32,
        fraction=0.8,
        learning_rate=5e-3,
        weight_decay=2.0,
    ),
    decays=(1.0, 2.0, 4.0),
    fractions=(0.6, 0.8, 0.9),
    subsets=4,
)
FULL = Config(
    main=Recipe(modulus=113, steps=2_000, every=100),
    seeds=(0, 1, 2),
    others=Recipe(
        modulus=43,
        steps=1_200,
        every=100,
        fraction=0.8,
        learning_rate=3e-3,
        weight_decay=2.0,
    ),
    sweep=Recipe(
        modulus=43,
        steps=1_200,
        every=1_200,
        units=64,
        embedding=64,
        fraction=0.8,
        learning_rate=3e-3,
        weight_decay=2.0,
    ),
    decays=(1.0, 2.0, 4.0),
    fractions=(0.5, 0.65, 0.8),
    widths=(32, 128),
    sweep_seeds=2,
    subsets=6,
)
