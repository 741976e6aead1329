"""Text as a stream of tokens: characters of Shakespeare, words of WikiText-2.

Ten sonnets ship with the package; the larger texts are read from `REMANENCE_DATA`
or downloaded.
"""

import collections
import importlib.resources

import equinox as eqx
import numpy as np
from jaxtyping import Int

from .download import data_file


Stream = Int[np.ndarray, " tokens"]
UNKNOWN = "<unk>"


class Text(eqx.Module):
    """Three streams of token numbers and what the numbers stand for."""

    train: Int[np.ndarray, " train"]
    valid: Int[np.ndarray, " valid"]
    test: Int[np.ndarray, " test"]
    vocabulary: tuple[str, ...]


def characters(source: str = "sonnets") -> Text:
    """Characters of the shipped sonnets, or of `shakespeare` (1,115,394 of them).

    The first nine tenths train, the rest is halved into validation and test.

    >>> text = characters()
    >>> len(text.vocabulary) < 60 and len(text.train) > 5000
    True
    """
    if source == "sonnets":
        whole = importlib.resources.files("remanence.tasks").joinpath("sonnets.txt").read_text()
    elif source == "shakespeare":
        path = data_file("tinyshakespeare/input.txt", otherwise="characters() needs no file")
        whole = path.read_text()
    else:
        raise ValueError(f"source must be 'sonnets' or 'shakespeare', got {source!r}")
    vocabulary = tuple(sorted(set(whole)))
    tokens = encoded(whole, vocabulary)
    train, valid = int(len(tokens) * 0.9), int(len(tokens) * 0.95)
    return Text(tokens[:train], tokens[train:valid], tokens[valid:], vocabulary)


def wikitext(*, vocabulary: int | None = 10_000) -> Text:
    """WikiText-2 by words with `<eos>` at line ends, the rarest as `<unk>`.

    `vocabulary` keeps that many words, the commonest in the training part; None
    keeps all 33,278.
    """
    if vocabulary is not None and vocabulary < 2:
        raise ValueError(f"vocabulary must be at least 2, got {vocabulary}")
    parts = {
        name: _split(data_file(f"wikitext-2/{name}.txt").read_text())
        for name in ("train", "valid", "test")
    }
    counts = collections.Counter(parts["train"])
    if vocabulary is None:
        for name in ("valid", "test"):
            counts.update(parts[name])
    kept = [word for word, _ in counts.most_common() if word != UNKNOWN]
    kept = [UNKNOWN, *(kept if vocabulary is None else kept[: vocabulary - 1])]
    number = {word: i for i, word in enumerate(kept)}
    streams = {
        name: np.asarray([number.get(word, 0) for word in part], np.int32)
        for name, part in parts.items()
    }
    return Text(streams["train"], streams["valid"], streams["test"], tuple(kept))


def _split(text: str) -> list[str]:
    return [word for line in text.splitlines() for word in (*line.split(), "<eos>")]


def encoded(text: str, vocabulary: tuple[str, ...]) -> Stream:
    """The token numbers of a text; unknown characters are refused where they stand.

    >>> encoded("abba", ("a", "b")).tolist()
    [0, 1, 1, 0]
    """
    if not text:
        raise ValueError("the text is empty; at least one character is needed")
    number = {symbol: i for i, symbol in enumerate(vocabulary)}
    found = [number.get(symbol, -1) for symbol in text]
    if -1 in found:
        at = found.index(-1)
        raise ValueError(
            f"the character {text[at]!r} at position {at} is not in the vocabulary of "
            f"{len(vocabulary)} characters"
        )
    return np.asarray(found, np.int32)


def columns(stream: Stream, batch: int) -> Int[np.ndarray, "batch time"]:
    """A stream as so many streams side by side; what does not fill a row is left out.

    >>> columns(np.arange(7), 2).tolist()
    [[0, 1, 2], [3, 4, 5]]
    """
    if batch < 1:
        raise ValueError(f"batch must be at least 1, got {batch}")
    time = len(stream) // batch
    if time < 2:
        raise ValueError(f"{len(stream)} tokens cannot fill {batch} streams of two or more")
    return stream[: batch * time].reshape(batch, time)
