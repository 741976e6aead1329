"""Files that a checkup writes: judged before the work begins, never in the place of its own inputs."""

import os
import pathlib
import string
from collections.abc import Sequence
from typing import Any

from ..formats import save
from ..formats.saving import torch_module
from ..nets import Recurrent
from .headline import TITLE


PAGES = (".html", ".htm", ".json")
TRUNCATED = pathlib.Path(__file__).parent / "templates" / "truncated.py.txt"


def refuse_bad_outputs(
    page: pathlib.Path | None,
    truncated: pathlib.Path | None,
    sources: Sequence[pathlib.Path],
    *,
    named: bool,
) -> None:
    """Refuse what could not be written or would replace an input, or, not `named`, another page."""
    wanted: list[tuple[str, pathlib.Path, tuple[str, ...]]] = []
    if page is not None:
        wanted += [("--out", page, PAGES)]
    if truncated is not None:
        wanted += [("--truncate-to", truncated, (".py",))]
        wanted += [("--truncate-to", truncated.with_suffix(".safetensors"), (".safetensors",))]
    for option, path, ends in wanted:
        if path.suffix not in ends:
            raise ValueError(f"{option} takes a {' or '.join(ends)} file, got {path.name!r}")
        if path.is_dir():
            raise ValueError(f"{option} takes a file, and {path} is a folder")
        for source in sources:
            if path.exists() and source.exists() and path.samefile(source):
                raise ValueError(f"{option} would replace {source}, which is read from")
        home = next(parent for parent in path.parents if parent.exists())
        if not home.is_dir() or not os.access(home, os.W_OK):
            raise ValueError(f"{option}: nothing can be written to {home}")
    if page is not None and not named and page.exists():
        with page.open("rb") as file:
            ours = f"{TITLE}</title>".encode() in file.read(10_000)
        if not ours:
            raise ValueError(f"{page} exists and is no checkup; --out FILE or --no-page would do")


def document(found: Sequence[Any]) -> dict:
    """The checkups of several networks as one document; of one, its own."""
    documents = [each.document for each in found]
    return documents[0] if len(found) == 1 else {"checkups": documents}


def write_page(found: Sequence[Any], path: str | pathlib.Path) -> pathlib.Path:
    """Write the page, or the document where the name ends in .json, whole or not at all."""
    from ..report import json_bytes, write_atomically  # only once the verdict is out

    path = pathlib.Path(path)
    if path.suffix not in PAGES:
        raise ValueError(f"a checkup is saved as .html or .json, got {path.name!r}")
    if path.suffix == ".json":
        return write_atomically(path, json_bytes(document(found)))
    return write_atomically(path, found[-1].page(found).encode())


def module_for_torch(net: Recurrent) -> tuple[str, tuple[int, int], dict]:
    """The kind, sizes and options of the torch module of a network; refuses if there is none."""
    if net.head is not None:
        raise ValueError("a head that is any function cannot be written for torch")
    if (described := torch_module(net.cell)) is None:
        raise ValueError(f"torch has no module for {type(net.cell).__name__}")
    return described


def write_truncated(net: Recurrent, window: float, path: pathlib.Path) -> pathlib.Path:
    """Write `path` (a `.py` file) and its weights: the network cut to `window` inputs."""
    from ..report import write_atomically

    if path.suffix != ".py":
        raise ValueError(f"the truncated network is written as a .py file, got {path.name!r}")
    if not 1 <= window < float("inf"):
        raise ValueError("there is no window to truncate to: none tried keeps the error")
    kind, (inputs, units), options = module_for_torch(net)
    words = [f"{inputs}, {units}", *(f"{key}={value!r}" for key, value in options.items())]
    ends = {"embedding": "None", "readout": "None"}
    if net.embedding is not None:
        ends["embedding"] = "torch.nn.Embedding({}, {})".format(*net.embedding.shape)
    if net.W_y is not None:
        ends["readout"] = f"torch.nn.Linear({units}, {len(net.W_y)}, bias={net.b_y is not None})"
    text = string.Template(TRUNCATED.read_text(encoding="utf-8")).substitute(
        window=int(window),
        units=units,
        rnn=f"torch.nn.{kind}({', '.join(words)})",
        last="states = states[-1]" if net.readout == "last" else "# read at every step",
        **ends,
    )
    save(net, path.with_suffix(".safetensors"))
    write_atomically(path, text.encode())
    return path
