"""Everything that the study of modular addition depends on."""

import dataclasses

from .ablation import Place


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
    """Where fraction, decay and width are varied together; its own values are among them."""
    fractions: tuple[float, ...] = (0.5, 0.7, 0.9)
    decays: tuple[float, ...] = (0.5, 1.0, 2.0)
    widths: tuple[int, ...] = (32, 64)
    sweep_seeds: int = 2
    chunk: int = 8
    """Lanes of the sweep that are stored together."""
    subsets: int = 6
    """Subsets of key frequencies tried at each size, at most."""
    all_pairs: tuple[Place, ...] = ("embedding", "h2", "unembedding")
    """Where all pairs of all frequencies are removed from the first network."""
    ranks: int = 64
    """Ranks tried for each matrix, from 1 up."""
    thorough: bool = False
    """Climb to the best certificate of the first network, and ask for every horizon."""
    exponent_steps: int = 300
    """Few: the state of a ReLU network that grows leaves the range of floats."""


QUICK = Config(
    main=Recipe(
        modulus=43, steps=550, every=25, fraction=0.8, learning_rate=3e-3, weight_decay=2.0
    ),
    seeds=(0, 1, 2),
    others=Recipe(
        modulus=23,
        steps=800,
        every=400,
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
    decays=(2.0, 4.0),
    fractions=(0.8, 0.9),
    widths=(32, 64),
    chunk=16,
    subsets=4,
    ranks=32,
)
FULL = Config(
    main=Recipe(modulus=113, steps=2_400, every=100),
    seeds=(0, 1, 2),
    others=Recipe(
        modulus=43, steps=1_200, every=100, fraction=0.8, learning_rate=3e-3, weight_decay=2.0
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
    fractions=(0.6, 0.8),
    widths=(32, 64, 96),
    sweep_seeds=2,
    chunk=6,
    subsets=6,
    thorough=True,
)
