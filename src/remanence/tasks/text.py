"""Text as a stream of tokens: characters of Shakespeare, words of WikiText-2.

Ten sonnets ship with the package; the larger texts are read from `REMANENCE_DATA`
or downloaded.
"""

import collections
import importlib.resources
import itertools

import equinox as eqx
import numpy as np
from jaxtyping import Int

from .download import data_file


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
    vocabulary, tokens = np.unique(list(whole), return_inverse=True)
    ends = [int(len(tokens) * 0.9), int(len(tokens) * 0.95)]
    train, valid, test = np.split(tokens.astype(np.int32), ends)
    return Text(train, valid, test, tuple(vocabulary.tolist()))


def wikitext(*, vocabulary: int | None = 10_000) -> Text:
    """WikiText-2 by words with `<eos>` at line ends, the rarest as `<unk>`.

    `vocabulary` keeps that many words, the commonest in the training part; None
    keeps all 33,278.
    """
    if vocabulary is not None and vocabulary < 2:
        raise ValueError(f"vocabulary must be at least 2, got {vocabulary}")
    parts = {}
    for name in ("train", "valid", "test"):
        lines = data_file(f"wikitext-2/{name}.txt").read_text().splitlines()
        parts[name] = [word for line in lines for word in (*line.split(), "<eos>")]
    counted = parts["train"] if vocabulary is not None else itertools.chain(*parts.values())
    common = [w for w, _ in collections.Counter(counted).most_common() if w != UNKNOWN]
    kept = (UNKNOWN, *common[: None if vocabulary is None else vocabulary - 1])
    number = {word: i for i, word in enumerate(kept)}
    stream = lambda part: np.asarray([number.get(word, 0) for word in parts[part]], np.int32)
    return Text(stream("train"), stream("valid"), stream("test"), kept)


def columns(stream: Int[np.ndarray, " tokens"], batch: int) -> Int[np.ndarray, "batch time"]:
    """A stream as so many streams side by side; what does not fill a row is left out.

    >>> columns(np.arange(7), 2).tolist()
    [[0, 1, 2], [3, 4, 5]]
    """
    time = len(stream) // batch
    if time < 2:
        raise ValueError(f"{len(stream)} tokens cannot fill {batch} streams of two or more")
    return stream[: batch * time].reshape(batch, time)
