"""What the profiles run, in full."""

import dataclasses


TWO_EACH = {"rnn": 2, "lstm": 2}


@dataclasses.dataclass(frozen=True, kw_only=True)
class Language:
    """One text, its models and how long they are trained."""

    text: str
    units: int = 128
    embedding: int = 32
    batch: int = 32
    length: int = 64
    steps: int = 800
    rates: tuple[float, ...] = (4e-3,)
    """Of Adam; of several, each kind takes the one with the least validation loss of its free
    model after `pilot_steps`, and the best of sixteen moments on validation text is kept."""
    pilot_steps: int = 0
    dropout: float = 0.0
    """The share of what the cell reads and gives that is left out in training."""
    kinds: tuple[str, ...] = ("rnn", "lstm")
    draws: dict[str, int] = dataclasses.field(default_factory=lambda: TWO_EACH, hash=False)
    """Trainings of each kind; the first is measured in full, the others scored."""
    streams: int = 4
    stretch: int = 400
    """Held-out streams and the tokens of each for exponents, gradients and windows."""
    test_streams: int = 20
    """The whole test part, side by side in so many streams, gives the perplexity."""
    windows: tuple[int, ...] = (1, 2, 4, 8, 16, 32, 64)


@dataclasses.dataclass(frozen=True)
class Lengths:
    """A task that needs memory, over its length."""

    lengths: tuple[int, ...]
    steps: int = 1_000


@dataclasses.dataclass(frozen=True)
class Config:
    """Sizes of all experiments; nothing else but the seed decides a run."""

    units: int = 12
    instances: int = 3
    length: int = 50
    windows: tuple[int, ...] = (2, 5, 10, 20)
    descent_steps: int = 150
    gain_units: tuple[int, ...] = (8, 24)
    gain_draws: int = 2
    lstm_units: tuple[int, ...] = (8, 16)
    worst_pair_draws: int = 1
    language: tuple[Language, ...] = ()
    chorales: int = 0
    """Trainings of each kind of model on JSB."""
    memory: dict[str, Lengths] = dataclasses.field(default_factory=dict)
    """Tasks that need memory, by their names in `MEMORY_TASKS`."""
    truncated_training: Language | None = None
    """A language model that is trained truncated and in full (claim 004.7)."""


SONNETS = Language(
    text="sonnets",
    units=32,
    embedding=16,
    batch=16,
    length=40,
    steps=250,
    rates=(1e-2,),
    stretch=150,
    streams=2,
    test_streams=1,
    windows=(1, 2, 4, 8, 16),
)
SHAKESPEARE = Language(text="shakespeare")
EPOCH = 2_984
"""Steps of 20 segments of 35 words that read the 2,088,628 words of WikiText-2 once."""
WIKITEXT = Language(
    text="wikitext",
    units=256,
    embedding=256,
    batch=20,
    length=35,
    steps=6 * EPOCH,
    rates=(1e-3, 3e-3),
    pilot_steps=600,
    dropout=0.25,
    draws={"rnn": 2},
    windows=(1, 2, 5, 10, 20, 40),
)
"""All 33,278 words, six epochs."""
QUICK = Config(language=(SONNETS,), memory={"delayed symbol": Lengths((1, 4, 16), steps=500)})
FULL = Config(
    instances=5,
    windows=(2, 5, 10, 20, 40),
    gain_units=(8, 16, 24, 48),
    lstm_units=(16, 64),
    worst_pair_draws=2,
    language=(SHAKESPEARE, WIKITEXT),
    chorales=3,
    memory={
        "delayed symbol": Lengths((1, 2, 4, 8, 12, 16, 24), steps=600),
        "memorised string": Lengths((2, 4, 8, 16, 32)),
        "adding problem": Lengths((4, 8, 16, 32)),
    },
    truncated_training=dataclasses.replace(
        SHAKESPEARE, units=64, length=40, steps=200, rates=(0.5,), windows=(2, 5, 10, 20, 30)
    ),
)
WORDS = Config(language=(dataclasses.replace(WIKITEXT, steps=20 * EPOCH, draws={}),))
"""WikiText-2 alone, longer than the full profile has time for."""
