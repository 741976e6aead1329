"""What the profiles of document 004 run, in full."""

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
    """Held-out streams and the tokens of each on which everything is measured."""
    decay: int = 48
    windows: tuple[int, ...] = (1, 2, 4, 8, 16, 32, 64)
    exponents: int = 4
    peer_widths: tuple[int, ...] = (1, 2, 4, 8, 16)
    """Contexts of the gated convolution that is trained beside the models."""


@dataclasses.dataclass(frozen=True)
class Config:
    """Sizes and seeds of all experiments; nothing else decides a run."""

    units: int = 12
    instances: int = 2
    length: int = 50
    windows: tuple[int, ...] = (2, 5, 10, 20)
    descent_steps: int = 150
    ladder_units: tuple[int, ...] = (8, 24)
    ladder_draws: int = 2
    ladder_kinds: tuple[str, ...] = ("gaussian", "low rank")
    lstm_units: tuple[int, ...] = (8, 16)
    twin_draws: int = 1
    language: tuple[Language, ...] = ()
    music_steps: int = 0
    music_units: int = 64
    delays: tuple[int, ...] = (1, 4, 16)
    copy_steps: int = 500
    copy_rate: float = 0.7
    adding_steps: int = 0
    adding_length: int = 20


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
    windows=(1, 2, 4, 8, 16),
    peer_widths=(1, 4, 16),
    exponents=2,
)
SHAKESPEARE = Language(
    text="shakespeare",
    units=96,
    embedding=32,
    batch=32,
    length=50,
    steps=500,
    learning_rate=5e-3,
    streams=2,
    stretch=300,
    exponents=2,
    peer_widths=(1, 4, 16),
)
WIKITEXT = Language(
    text="wikitext",
    vocabulary=2_000,
    units=128,
    embedding=64,
    batch=20,
    length=35,
    steps=250,
    learning_rate=5e-3,
    streams=2,
    stretch=250,
    windows=(1, 2, 5, 10, 20, 40),
    exponents=2,
    peer_widths=(),
)
REDUCED = Language(
    text="wikitext",
    vocabulary=10_000,
    units=256,
    embedding=128,
    batch=20,
    length=35,
    steps=17_904,
    learning_rate=3e-3,
    windows=(1, 2, 5, 10, 20, 40),
)
"""Six epochs of 10,000 words with 256 units: kept for an idle machine, not run here."""
PAPER = {
    "rnn": {
        "units": 256,
        "embedding": 1024,
        "dropout": 0.25,
        "rate": 2.0,
        "clip": 0.25,
    },
    "lstm": {
        "units": 1024,
        "embedding": 512,
        "dropout": 0.65,
        "rate": 20.0,
        "clip": 1.0,
    },
    "batch": 20,
    "length": 35,
    "epochs": 40,
    "vocabulary": 33_278,
    "run": False,
}
"""The paper's recipe for WikiText-2, recalled and never run here: hours on two cores."""
