"""A text as tokens: its bytes, or its characters by a stated vocabulary."""

import json
import pathlib
from importlib import import_module

import numpy as np

from ..nets import Recurrent
from .inputs import Inputs, refuse_no_file


LONGEST = 200_000_000  # bytes of a text that is read
TOKENIZER = "tokenizer.json"
MOST_BYTES = 512  # tokens of a network of bytes, with marks such as <pad> and <end>


def from_text(
    path: pathlib.Path,
    net: Recurrent,
    steps: int | None,
    *,
    vocab: pathlib.Path | None = None,
    partial: bool = False,
) -> Inputs:
    """The first `steps` tokens of a text, or all.

    A network of 256 tokens, or some more for marks of its own, takes bytes; a smaller one
    characters, numbered by `vocab` or by code point; a larger one pieces of words.
    """
    if net.embedding is None:
        raise ValueError("a text needs a network with an embedding, and this has none")
    tokens = net.embedding.shape[0]
    content = _content(path)
    if vocab is None and tokens > MOST_BYTES:
        raise ValueError(
            f"the network has {tokens} tokens, which only its own vocabulary tells from "
            f"{path.name}; give tokens by --inputs"
        )
    if vocab is None and tokens >= 256:
        unit, whole = "bytes", len(content)
        values = np.frombuffer(content[:steps], np.uint8).astype(np.int32)
    else:
        text = content.decode("utf-8", "replace")
        if vocab is not None and vocab.name == TOKENIZER:
            # A token is a byte or more, and merges do not reach far: no need to read all of a book.
            ids = _tokenize(text[: None if steps is None else 64 * steps], vocab)
            unit, whole, values = "tokens", len(ids), np.array(ids[:steps], np.int32)
        else:
            unit, whole = "characters", len(text)
            ids = _code_points(path, text, tokens) if vocab is None else vocabulary(vocab, tokens)
            values = _number_characters(path, text[:steps], ids, tokens)
    part = f"all {whole:,}" if len(values) == whole else f"{len(values):,} of {whole:,}"
    part = f"{len(values):,}" if unit == "tokens" else part  # the rest was not counted
    words, partial = f"{part} {unit} of {path.name}", partial and len(values) < whole
    return Inputs(values=values, words=words, unit=unit, partial=partial)


def _tokenize(text: str, vocab: pathlib.Path) -> list[int]:
    """Tokens by a Hugging Face folder's own tokenizer."""
    try:
        tokenizers = import_module("tokenizers")
    except ImportError:
        raise ValueError(
            f"{vocab.name} is read by the package tokenizers, which is not installed; pip "
            "install '.[tokenizers]' in a clone, or tokens by --inputs, would do"
        ) from None
    try:
        tokenizer = tokenizers.Tokenizer.from_str(vocab.read_text(encoding="utf-8"))
    except Exception as problem:  # the package raises plain Exception
        why = " ".join(str(problem).split())[:200]
        raise ValueError(f"{vocab.name} is no tokenizer: {why}") from None
    # The folder may ask for cuts and padding that suit a batch: the text is measured as it is.
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer.encode(text).ids


def vocabulary(path: pathlib.Path, tokens: int) -> dict[str, int]:
    """Each character's token: by a JSON list or dictionary, or by the text that was trained on."""
    text = _content(path).decode("utf-8", "replace")
    if path.suffix != ".json":
        return _code_points(path, text, tokens)
    try:
        entries = json.loads(text)
    except (ValueError, RecursionError):
        raise ValueError(f"{path.name} is not JSON") from None
    if isinstance(entries, list):
        entries = {entry: i for i, entry in enumerate(entries) if isinstance(entry, str)}
    if not isinstance(entries, dict):
        raise ValueError(f"{path.name} is no list and no dictionary of characters")
    ids = {letter: i for letter, i in entries.items() if len(letter) == 1}  # no marks
    if not ids or not all(type(i) is int for i in ids.values()):
        raise ValueError(
            f"{path.name} does not number characters: a list, or a dictionary of whole "
            'numbers such as {"a": 0, "b": 1} would do'
        )
    return ids


def _content(path: pathlib.Path) -> bytes:
    refuse_no_file(path)
    if path.stat().st_size > LONGEST:
        raise ValueError(f"{path.name} is larger than {LONGEST // 10**6} MB; a part of it would do")
    content = path.read_bytes()
    if not content:
        raise ValueError(f"{path.name} is empty")
    return content


def _code_points(path: pathlib.Path, text: str, tokens: int) -> dict[str, int]:
    letters = sorted(set(text))
    if len(letters) != tokens:
        raise ValueError(
            f"{path.name} has {len(letters)} distinct characters and the network {tokens} "
            "tokens; --vocab with the text that was trained on, or with a JSON list of "
            "the characters in their order, would do"
        )
    return {letter: i for i, letter in enumerate(letters)}


def _number_characters(
    path: pathlib.Path, text: str, ids: dict[str, int], tokens: int
) -> np.ndarray:
    if unknown := sorted(set(text) - set(ids)):
        more = f", and {len(unknown) - 1} more" if len(unknown) > 1 else ""
        raise ValueError(f"{path.name} holds {unknown[0]!r}, which the vocabulary does not{more}")
    low, high = min(ids.values()), max(ids.values())
    if not 0 <= low <= high < tokens:
        raise ValueError(
            f"the vocabulary numbers characters from {low} to {high}, and the network has "
            f"{tokens} tokens"
        )
    return np.array([ids[letter] for letter in text], np.int32)
