r"""Words over any alphabet, $w_{t+p} = w_t$: their true period, their necklaces.

A `str` is a sequence of code points. `START` and `END` are objects, so the
characters "<START>" inside a string mean nothing but themselves.
"""

import dataclasses
import enum
import itertools
from collections.abc import Hashable, Iterator, Sequence

import numpy as np


class Token(enum.Enum):
    """Marks that are no characters: equal to nothing but themselves."""

    START = "<START>"
    END = "<END>"

    def __repr__(self) -> str:
        return self.value

    __str__ = __repr__


START, END = Token


@dataclasses.dataclass(frozen=True)
class Word:
    """One period of what is to be remembered, as indices into its alphabet; `text` says that
    symbols are joined to a `str`."""

    indices: tuple[int, ...]
    alphabet: tuple[Hashable, ...]
    text: bool
    end: bool

    @property
    def period(self) -> int:
        return len(self.indices)

    @property
    def used(self) -> tuple[int, ...]:
        """The alphabet's indices in the order in which the word first uses them."""
        return tuple(dict.fromkeys(self.indices))

    @property
    def pattern(self) -> tuple[int, ...]:
        """The word up to a renaming of its symbols: numbered as they appear."""
        return renamed(self.indices)

    def join(self, indices: Sequence[int]) -> str | tuple[Hashable, ...]:
        """Emitted indices as the caller's kind of sequence, cut before `END`."""
        symbols = [self.alphabet[k] for k in indices]
        if END in symbols:
            symbols = symbols[: symbols.index(END)]
        return "".join(map(str, symbols)) if self.text else tuple(symbols)


def word(
    symbols: str | Sequence[Hashable],
    *,
    alphabet: str | Sequence[Hashable] | None = None,
    end: bool = False,
) -> Word:
    """The word that a sequence of symbols repeats, over its own or a given alphabet.

    >>> word("abcabc").period
    3
    >>> word("abc", end=True).alphabet
    ('a', 'b', 'c', <END>)
    """
    spelled = tuple(symbols)
    if not spelled:
        raise ValueError("a word must hold at least one symbol, got an empty one")
    if START in spelled or END in spelled:
        raise ValueError("START and END are set by keyword, not inside the word")
    letters = tuple(dict.fromkeys(spelled if alphabet is None else alphabet))
    strange = [symbol for symbol in dict.fromkeys(spelled) if symbol not in letters]
    if strange:
        raise ValueError(f"the alphabet does not hold {strange[0]!r}")
    if alphabet is not None and len(letters) != len(tuple(alphabet)):
        raise ValueError("the alphabet names a symbol twice")
    if end:
        spelled, letters = (*spelled, END), (*letters, END)
    at = {symbol: k for k, symbol in enumerate(letters)}
    indices = tuple(at[symbol] for symbol in spelled)
    return Word(indices[: true_period(indices)], letters, isinstance(symbols, str), end)


def true_period(indices: Sequence[int]) -> int:
    """The least p that divides the length and after which the sequence repeats.

    >>> true_period([0, 1, 0, 1]), true_period([0, 1, 0])
    (2, 3)
    """
    whole, n = np.asarray(indices), len(indices)
    divisors = (p for p in range(1, n + 1) if n % p == 0)
    return next(p for p in divisors if (whole[p:] == whole[: n - p]).all())


def necklaces(period: int, symbols: int = 2) -> Iterator[tuple[int, ...]]:
    """Words of exactly this period with all of the symbols, up to rotation and renaming.

    >>> [sum(1 for _ in necklaces(p)) for p in (6, 7, 8, 9)]
    [5, 9, 16, 28]
    >>> list(necklaces(4, symbols=3))
    [(0, 0, 1, 2), (0, 1, 0, 2)]
    """
    for tail in itertools.product(range(symbols), repeat=period - 1):
        w = (0, *tail)
        if max(w) < symbols - 1 or renamed(w) != w:
            continue
        turns = (w[s:] + w[:s] for s in range(1, period))
        if all(w <= renamed(turn) for turn in turns) and true_period(w) == period:
            yield w


def renamed(w: tuple[int, ...]) -> tuple[int, ...]:
    """The word with its symbols numbered in the order in which they appear."""
    at: dict[int, int] = {}
    return tuple(at.setdefault(symbol, len(at)) for symbol in w)


def draw_strings(
    count: int, *, lengths: tuple[int, int], letters: tuple[int, int], seed: int
) -> Iterator[str]:
    """Random strings, their length and alphabet size uniform in the given ranges;
    half of them over letters outside ASCII."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        n, length = (rng.integers(low, high + 1) for low, high in (letters, lengths))
        source = "abcdefgh" if rng.integers(2) else "éßλж語🎈¬\u0301"
        yield "".join(source[k] for k in rng.integers(n, size=length))
