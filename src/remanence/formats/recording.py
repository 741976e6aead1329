"""What the recurrent modules inside a torch model really receive: recorded by forward hooks.

The model is run in evaluation mode without gradients; afterwards its modes, its hooks and
torch's random state are as before, also if it raised.
"""

import contextlib
import dataclasses
import io
import pathlib
import warnings
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import numpy as np

from .._atomic_write import write_atomically
from .calls import join, recorded_calls


KINDS = ("RNN", "LSTM", "GRU", "RNNCell", "LSTMCell", "GRUCell")


class Recorded(dict[str, np.ndarray]):
    """The inputs of each recurrent module by its name, `sequences x time x width`.

    `lengths` has those whose sequences are not all of one length, padded with zeros.
    """

    lengths: dict[str, np.ndarray]
    from_zero: dict[str, bool]
    """Whether every sequence of a module began in the state of zeros."""

    def sequences(self, name: str) -> list[np.ndarray]:
        """The sequences of one module without padding."""
        inputs = self[name]
        ends = self.lengths.get(name, [inputs.shape[1]] * len(inputs))
        return [x[:end] for x, end in zip(inputs, ends, strict=True)]

    def save(self, folder: str | pathlib.Path) -> list[pathlib.Path]:
        """Write `NAME.npy` for `--inputs`, and `NAME.lengths.npy` for `--lengths`."""
        folder = pathlib.Path(folder)
        stem = lambda name: name.replace("/", "_") or "model"
        files = {f"{stem(name)}.npy": array for name, array in self.items()}
        files |= {f"{stem(name)}.lengths.npy": ends for name, ends in self.lengths.items()}
        folder.mkdir(parents=True, exist_ok=True)
        written = []
        for name, array in files.items():
            np.save(buffer := io.BytesIO(), array)
            written.append(write_atomically(folder / name, buffer.getvalue()))
        return written


def record(model: Any, batch: Any) -> Recorded:
    """The inputs that every recurrent module inside a torch model receives.

    The model is called on `batch`: a tuple gives its arguments, a dictionary its keywords,
    a list several batches, one call each. A module that is called again with the state in
    which it ended goes on with the same sequences; other calls are more sequences.
    """
    torch = import_torch()
    model = unwrap(torch, model)
    with (
        evaluation_mode(torch, model),
        recorded_calls(torch, recurrent_parts(torch, model)) as calls,
    ):
        for each in batch if isinstance(batch, list) else [batch]:
            call_on(model, each)
    recorded = Recorded()
    recorded.lengths, recorded.from_zero = {}, {}
    for name, found in calls.items():
        if found:
            recorded[name], ends = pad(join(found, "inputs"))
            recorded.from_zero[name] = all(call.from_zero or call.follows for call in found)
            recorded.lengths |= {} if ends is None else {name: ends}
    if not recorded:
        raise ValueError("the model did not call its recurrent modules on this batch")
    return recorded


def pad(sequences: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray | None]:
    """Sequences filled up with zeros, and their lengths if these differ."""
    ends = np.array([len(x) for x in sequences])
    padded = np.zeros((len(ends), ends.max(), sequences[0].shape[1]), sequences[0].dtype)
    for row, x in zip(padded, sequences, strict=True):
        row[: len(x)] = x
    return padded, ends if len({*ends}) > 1 else None


def import_torch() -> Any:
    """torch, which is imported only when asked for."""
    try:
        return import_module("torch")
    except ImportError:
        raise ValueError("torch is not installed; `pip install '.[torch]'` would do") from None


def unwrap(torch: Any, model: Any) -> Any:
    """The module inside those that torch.compile and DataParallel put round it."""
    if not isinstance(model, torch.nn.Module):
        raise ValueError(f"a torch.nn.Module would do, got {type(model).__name__}")
    parallel = (torch.nn.DataParallel, torch.nn.parallel.DistributedDataParallel)
    while (inner := getattr(model, "_orig_mod", None)) is not None or isinstance(model, parallel):
        model = inner if inner is not None else model.module
    return model


def recurrent_parts(torch: Any, model: Any) -> dict[str, Any]:
    """The recurrent modules inside a module, itself included, by name."""
    kinds = (torch.nn.RNNBase, torch.nn.RNNCellBase)
    found = {name: m for name, m in model.named_modules() if isinstance(m, kinds)}
    for name, part in model.named_modules():
        kind = getattr(part, "original_name", type(part).__name__)
        if isinstance(part, torch.jit.ScriptModule) and (kind in KINDS or part is model):
            raise ValueError(
                f"{name or kind} is a ScriptModule, which cannot be hooked; the module "
                "before torch.jit.script would do"
            )
        if "quantized" in type(part).__module__ and kind in KINDS:
            raise ValueError(f"{name or kind} is quantised; the float model would do")
    if not found:
        raise ValueError(f"no RNN, LSTM or GRU is inside {type(model).__name__}")
    return found


@contextlib.contextmanager
def evaluation_mode(torch: Any, module: Any) -> Iterator[None]:
    """The module in evaluation mode without gradients, left as it was."""
    modes = [(part, part.training) for part in module.modules()]
    module.eval()
    try:
        with (
            torch.no_grad(),
            torch.random.fork_rng(devices=[]),
            warnings.catch_warnings(action="ignore"),  # torch's own, of how it computes
        ):
            yield
    finally:
        for part, mode in modes:
            part.training = mode


@dataclasses.dataclass(frozen=True, eq=False)
class Arguments:
    """A batch that is both arguments and keywords."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any]


def call_on(model: Any, batch: Any) -> Any:
    """What the model returns: a tuple gives its arguments, a dictionary its keywords."""
    if isinstance(batch, Arguments):
        return model(*batch.args, **batch.kwargs)
    if isinstance(batch, dict):
        return model(**batch)
    # A PackedSequence is a tuple too.
    return model(*batch) if type(batch) is tuple else model(batch)
