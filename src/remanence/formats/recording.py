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
from typing import Any

import numpy as np

from .._atomic_write import write_atomically
from .reading import extra_library


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
        folder, written = pathlib.Path(folder), []
        folder.mkdir(parents=True, exist_ok=True)
        for arrays, ending in ((self, ".npy"), (self.lengths, ".lengths.npy")):
            for name, array in arrays.items():
                path = folder / ((name.replace("/", "_") or "model") + ending)
                np.save(buffer := io.BytesIO(), array)
                written.append(write_atomically(path, buffer.getvalue()))
        return written


def record(model: Any, batch: Any) -> Recorded:
    """The inputs that every recurrent module inside a torch model receives.

    The model is called on `batch`: a tuple gives its arguments, a dictionary its keywords,
    a list several batches, one call each. A module that is called again with the state in
    which it ended goes on with the same sequences; other calls are more sequences.
    """
    torch, model, parts = recurrent_parts(model)
    with evaluation_mode(torch, model), recorded_calls(torch, parts) as calls:
        for each in batch if isinstance(batch, list) else [batch]:
            match each:
                case Arguments(args, kwargs):
                    model(*args, **kwargs)
                case dict():
                    model(**each)
                case _:  # a PackedSequence is a tuple too
                    model(*each) if type(each) is tuple else model(each)
    recorded = Recorded()
    recorded.lengths, recorded.from_zero = {}, {}
    for name, found in ((name, found) for name, found in calls.items() if found):
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


def recurrent_parts(model: Any) -> tuple[Any, Any, dict[str, Any]]:
    """torch, the module inside those that torch.compile and DataParallel put round it, and
    the recurrent modules inside that, itself included, by name.
    """
    torch = extra_library("torch", "torch")
    if not isinstance(model, torch.nn.Module):
        raise ValueError(f"a torch.nn.Module would do, got {type(model).__name__}")
    parallel = (torch.nn.DataParallel, torch.nn.parallel.DistributedDataParallel)
    while (inner := getattr(model, "_orig_mod", None)) is not None or isinstance(model, parallel):
        model = inner if inner is not None else model.module
    kinds = (torch.nn.RNNBase, torch.nn.RNNCellBase)
    found = {name: m for name, m in model.named_modules() if isinstance(m, kinds)}
    for name, part in model.named_modules():
        kind = getattr(part, "original_name", type(part).__name__)
        if isinstance(part, torch.jit.ScriptModule) and (kind in KINDS or part is model):
            would = "the module before torch.jit.script would do"
            raise ValueError(f"{name or kind} is a ScriptModule, which cannot be hooked; {would}")
        if "quantized" in type(part).__module__ and kind in KINDS:
            raise ValueError(f"{name or kind} is quantised; the float model would do")
    if not found:
        raise ValueError(f"no RNN, LSTM or GRU is inside {type(model).__name__}")
    return torch, model, found


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


@dataclasses.dataclass(frozen=True, eq=False)
class Call:
    """One call of a recurrent module; each sequence is `time x width`."""

    inputs: list[np.ndarray]
    outputs: list[np.ndarray]
    from_zero: bool
    follows: bool
    """Whether it goes on from where the call before ended."""


@contextlib.contextmanager
def recorded_calls(torch: Any, parts: dict[str, Any]) -> Iterator[dict[str, list[Call]]]:
    """Every call of these modules while the context lasts, by their names."""
    calls: dict[str, list[Call]] = {name: [] for name in parts}
    with contextlib.ExitStack() as scope:
        for name, part in parts.items():
            before, after = _hooks(torch, part, calls[name])
            scope.callback(part.register_forward_pre_hook(before, with_kwargs=True).remove)
            scope.callback(part.register_forward_hook(after, with_kwargs=True).remove)
        yield calls


def _hooks(torch: Any, part: Any, calls: list[Call]) -> tuple[Any, Any]:
    """Hooks that append to the calls: inputs are copied before the module sees them."""
    ended: list[np.ndarray] = []
    begun: list[Any] = []
    cell = isinstance(part, torch.nn.RNNCellBase)

    def before(_: Any, args: Any, kwargs: Any) -> None:
        x = args[0] if args else kwargs["input"]
        hx = args[1] if len(args) > 1 else kwargs.get("hx")
        begun[:] = [_sequences(torch, part, x), _arrays(hx)]

    def after(_: Any, args: Any, kwargs: Any, out: Any) -> None:
        inputs, start = begun
        ends = _arrays(out if cell else out[1])
        same = len(start) == len(ended) and [s.shape for s in start] == [e.shape for e in ended]
        from_zero = not any(s.any() for s in start)
        # A cell is one step: models that change its state in between still go on.
        equal = same and all(map(np.array_equal, start, ended))
        follows = equal or (same and cell and not from_zero)
        outputs = _sequences(torch, part, out[0] if isinstance(out, tuple) else out)
        calls.append(Call(inputs, outputs, from_zero, bool(calls) and follows))
        ended[:] = ends

    return before, after


def join(calls: list[Call], what: str) -> list[np.ndarray]:
    """The sequences of several calls, those that go on put behind each other in time."""
    runs: list[list[list[np.ndarray]]] = []
    for call in calls:
        sequences = getattr(call, what)
        if not (call.follows and runs and len(sequences) == len(runs[-1][-1])):
            runs.append([])
        runs[-1].append(sequences)
    return [np.concatenate(parts) for run in runs for parts in zip(*run, strict=True)]


def _arrays(state: Any) -> list[np.ndarray]:
    state = state if isinstance(state, tuple) else () if state is None else (state,)
    return [array(h) for h in state]


def array(tensor: Any) -> np.ndarray:
    """A copy in NumPy; half precisions in float32, which holds them exactly."""
    tensor = tensor.detach().cpu()
    half = tensor.is_floating_point() and tensor.element_size() < 4
    return np.array((tensor.float() if half else tensor).numpy())


def _sequences(torch: Any, part: Any, x: Any) -> list[np.ndarray]:
    """An input or output of a recurrent module, one step or many, batched or not."""
    if isinstance(x, torch.nn.utils.rnn.PackedSequence):
        padded, lengths = torch.nn.utils.rnn.pad_packed_sequence(x, batch_first=True)
        return [x[:end] for x, end in zip(array(padded), lengths.tolist(), strict=True)]
    values = array(x)
    if isinstance(part, torch.nn.RNNCellBase):  # one step of a cell
        return list(values[:, None] if values.ndim == 2 else values[None, None])
    if values.ndim == 2:
        return [values]
    return list(values if part.batch_first else values.swapaxes(0, 1))
