"""What the study of document 000 depends on, and nothing else."""

import dataclasses


@dataclasses.dataclass(frozen=True, kw_only=True)
class Config:
    """Sizes of one profile."""

    word: str = "abracadabra"  # the word of the frontier
    steps: int = 1_000_000  # how long each construction is run in float32 and float64
    directions: int = 64  # drawn perturbations of each construction
    periods: tuple[tuple[int, int], ...] = ((2, 11), (3, 7), (4, 6))  # of the atlas, by symbols
    feedback_periods: int = 9  # the least |a| of one unit is sought up to this period
    drawn: int = 100  # drawn strings that every construction must recall
    blocks: int = 12  # (0^a 1^b)+ is tried for all a, b up to this
    attempts: int = 40  # drawn W_h that try to beat the harmonic optimum
    learned_words: tuple[str, ...] = ("0001", "0010111")
    learned_units: tuple[int, ...] = (1, 2, 3, 4, 6)
    learned_seeds: int = 6
    learned_steps: int = 800
    learned_chunk: int = 120
    learning_rate: float = 0.01


QUICK = Config()
FULL = Config(
    periods=((2, 20), (3, 13), (4, 11)),
    feedback_periods=12,
    drawn=300,
    blocks=20,
    directions=128,
    attempts=100,
    learned_words=("0001", "0010111", "00010110111", "abcacb"),
    learned_units=(1, 2, 3, 4, 6, 8),
    learned_seeds=8,
    learned_steps=1500,
    learned_chunk=384,
)
