"""What the profiles run, in full."""

import dataclasses


@dataclasses.dataclass(frozen=True)
class Language:
    """One text, its models and how long they are trained."""

    text: str
    units: int
    embedding: int
    batch: int
    length: int
    steps: int
    learning_rate: float
    vocabulary: int | None = None
    kinds: tuple[str, ...] = ("rnn", "lstm")
    streams: int = 4
    stretch: int = 400
    """Held-out streams and the tokens of each for exponents, gradients and windows."""
    test_streams: int = 20
    test_stretch: int | None = None
    """The test part, side by side in so many streams, gives the perplexity: all of it,
    or so many tokens of each stream."""
    decay: int = 48
    windows: tuple[int, ...] = (1, 2, 4, 8, 16, 32, 64)
    exponents: int = 2
    contexts: tuple[int, ...] = (1, 4, 16, 64)
    """Contexts of the gated convolutions that are trained beside the models."""
    seeds: int = 1
    """Trainings of every model; the first is measured in full, the others scored."""


@dataclasses.dataclass(frozen=True)
class Chorales:
    """JSB: sizes, and the most steps; the validation part chooses how many are taken."""

    units: int = 96
    steps: int = 800
    learning_rate: float = 3e-3
    windows: tuple[int, ...] = (1, 2, 4, 8, 16, 32)
    contexts: tuple[int, ...] = (1, 2, 4, 8, 16)
    seeds: int = 3


@dataclasses.dataclass(frozen=True)
class Adding:
    """The adding problem over its last inputs, by an LSTM and by convolutions."""

    length: int = 20
    units: int = 32
    steps: int = 1_000
    windows: tuple[int, ...] = (1, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20)
    contexts: tuple[int, ...] = (1, 2, 4, 8, 16, 32)


@dataclasses.dataclass(frozen=True)
class TruncatedTraining:
    """Truncated and full training of one language model (statement 7)."""

    text: str = "shakespeare"
    units: int = 64
    embedding: int = 32
    batch: int = 32
    length: int = 40
    steps: int = 200
    learning_rate: float = 0.5
    windows: tuple[int, ...] = (2, 5, 10, 20, 30)


@dataclasses.dataclass(frozen=True)
class Config:
    """Sizes and seeds of all experiments; nothing else decides a run."""

    units: int = 12
    instances: int = 2
    length: int = 50
    windows: tuple[int, ...] = (2, 5, 10, 20)
    descent_steps: int = 150
    gain_units: tuple[int, ...] = (8, 24)
    gain_draws: int = 2
    gain_kinds: tuple[str, ...] = ("gaussian", "low rank")
    lstm_units: tuple[int, ...] = (8, 16)
    worst_pair_draws: int = 1
    language: tuple[Language, ...] = ()
    delays: tuple[int, ...] = (1, 4, 16)
    copy_steps: int = 500
    copy_rate: float = 0.7
    strings: tuple[int, ...] = ()
    string_steps: int = 1_000
    sums: tuple[int, ...] = ()
    sum_steps: int = 1_000
    music: Chorales | None = None
    adding: Adding | None = None
    truncated_training: TruncatedTraining | None = None


SONNETS = Language(
    text="sonnets",
    units=32,
    embedding=16,
    batch=16,
    length=40,
    steps=250,
    learning_rate=1e-2,
    stretch=150,
    streams=2,
    test_streams=1,
    windows=(1, 2, 4, 8, 16),
    contexts=(),
    seeds=2,
)
SHAKESPEARE = Language(
    text="shakespeare",
    units=128,
    embedding=32,
    batch=32,
    length=64,
    steps=800,
    learning_rate=4e-3,
    contexts=(1, 4, 16, 64),
    seeds=2,
)
WIKITEXT = Language(
    text="wikitext",
    vocabulary=10_000,
    units=128,
    embedding=128,
    batch=20,
    length=35,
    steps=400,
    learning_rate=4e-3,
    test_streams=100,
    test_stretch=500,
    windows=(1, 2, 5, 10, 20, 40),
    contexts=(1, 4, 16),
)
"""An eighth of an epoch (280,000 tokens) of 10,000 words: what fits beside the rest."""
REDUCED = dataclasses.replace(WIKITEXT, units=256, steps=17_904, learning_rate=3e-3)
"""Six epochs of 10,000 words with 256 units."""
QUICK = Config(language=(SONNETS,))
FULL = Config(
    units=16,
    instances=3,
    length=60,
    windows=(2, 5, 10, 20, 40),
    descent_steps=300,
    gain_units=(8, 16, 24, 48),
    lstm_units=(16, 64),
    worst_pair_draws=2,
    language=(SHAKESPEARE, WIKITEXT),
    delays=(1, 2, 4, 8, 12, 16, 24),
    copy_steps=600,
    strings=(2, 4, 8, 16, 32),
    sums=(4, 8, 16, 32),
    music=Chorales(),
    adding=Adding(),
    truncated_training=TruncatedTraining(),
)
WORDS = Config(language=(REDUCED,))
"""WikiText-2 alone, longer than the full profile has time for."""
