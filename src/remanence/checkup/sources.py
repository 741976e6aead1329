"""What a command reads: models, and inputs from a file of numbers, a text, or white noise."""

import dataclasses
import pathlib
import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from .._natural_sort import natural_sort_key
from ..formats import load_and_tell, recurrent_modules
from ..formats.hugging_face import is_model
from ..nets import Recurrent
from .inputs import from_npy, Inputs, read_npy, STEPS, white_noise
from .text import from_text


LEAST = 20  # steps below which nothing can be said
CHECKPOINTS = [
    *(".safetensors", ".pt", ".pth", ".bin", ".ckpt", ".npz", ".onnx"),
    *(".h5", ".hdf5", ".keras"),
]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Sources:
    """The options that name inputs; refused where they contradict each other."""

    inputs: pathlib.Path | None = None
    lengths: pathlib.Path | None = None
    text: pathlib.Path | None = None
    vocab: pathlib.Path | None = None
    noise: bool = False
    steps: str | None = None  # a number, or "all"
    seed: int = 0

    def __post_init__(self):
        if sum((self.inputs is not None, self.text is not None, self.noise)) > 1:
            raise ValueError("give one of --inputs, --text and --noise")
        if self.lengths is not None and self.inputs is None:
            raise ValueError("--lengths go with --inputs, and there are none")
        if self.vocab is not None and self.text is None:
            raise ValueError("--vocab goes with --text, and there is none")
        if self.seed < 0:
            raise ValueError(f"--seed must not be negative, got {self.seed}")
        steps = "all" if self.steps is None else self.steps
        if steps != "all" and not (re.fullmatch("[0-9]{1,18}", steps) and int(steps) >= LEAST):
            raise ValueError(f"--steps takes a number, at least {LEAST}, or all; got {steps!r}")

    @property
    def paths(self) -> list[pathlib.Path]:
        """The files that are read."""
        files = (self.inputs, self.lengths, self.text, self.vocab)
        return [path for path in files if path is not None]

    def refuse_unnamed(self) -> None:
        """Refuse a gate on inputs that nobody named."""
        if self.inputs is None and self.text is None and not self.noise:
            raise ValueError(
                "--require needs inputs to hold on: --inputs, --text, or --noise where "
                "white noise is meant"
            )

    def read(self, net: Recurrent) -> tuple[Inputs, Any]:
        """The inputs of a network, and their lengths where they are padded."""
        count = None if self.steps == "all" else int(self.steps or STEPS)
        if self.inputs is not None:
            ends = None if self.lengths is None else np.array(read_npy(self.lengths))
            return from_npy(self.inputs, count if self.steps else None, ends), ends
        if self.text is not None:
            partial = self.steps is None
            return from_text(self.text, net, count, vocab=self.vocab, partial=partial), None
        if count is None:
            raise ValueError("--steps all goes with --inputs or --text, noise has no end")
        return white_noise(net, count, self.seed), None


def model_files(given: list[pathlib.Path]) -> list[pathlib.Path]:
    """The files to examine, each once, the last one last; checkpoints by their numbers."""
    models: dict[pathlib.Path, pathlib.Path] = {}
    for path in given:
        inside = [path]
        if path.is_dir() and not is_model(path):
            inside = [file for file in path.iterdir() if file.suffix in CHECKPOINTS]
            inside.sort(key=lambda file: natural_sort_key(file.name))
        if not inside:
            raise FileNotFoundError(f"{path} holds no checkpoint ({', '.join(CHECKPOINTS)})")
        for file in inside:
            if not file.exists():  # before the others have taken their minutes
                raise FileNotFoundError(f"there is no file {file}")
            models.pop(file.resolve(), None)
            models[file.resolve()] = file
    return list(models.values())


def networks_in(
    path: pathlib.Path, prefix: str | None, options: Sequence[str], **reading: Any
) -> list[tuple[str, Recurrent, str]]:
    """The networks of a file: name within it, network, what it was made from; `options` go with one."""
    found = {} if prefix is not None else recurrent_modules(path, activation=reading["activation"])
    if len(found) > 1 and options:
        raise ValueError(
            f"{path.name} holds the recurrent networks {list(found)}, and {options[0]} "
            "goes with one; --prefix names it"
        )
    if len(found) > 1:
        return [(name, each.net, str(each.taken)) for name, each in found.items()]
    return [("", *load_and_tell(path, prefix=prefix, **reading))]
