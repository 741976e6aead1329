"""Calls of recurrent torch modules, recorded by forward hooks: what came in, what went out."""

import contextlib
import dataclasses
from collections.abc import Iterator
from typing import Any

import numpy as np


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
    handles = []
    try:
        for name, part in parts.items():
            hooks = _hooks(torch, part, calls[name])
            handles.append(part.register_forward_pre_hook(hooks[0], with_kwargs=True))
            handles.append(part.register_forward_hook(hooks[1], with_kwargs=True))
        yield calls
    finally:
        for handle in handles:
            handle.remove()


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
        y = ends[0] if cell else out[0]
        outputs = _sequences(torch, part, y)
        calls.append(Call(inputs, outputs, from_zero, bool(calls) and follows))
        ended[:] = ends

    return before, after


def join(calls: list[Call], what: str) -> list[np.ndarray]:
    """The sequences of several calls, those that go on put behind each other in time."""
    runs: list[list[list[np.ndarray]]] = []
    for call in calls:
        sequences = getattr(call, what)
        if call.follows and runs and len(sequences) == len(runs[-1][-1]):
            runs[-1].append(sequences)
        else:
            runs.append([sequences])
    return [np.concatenate(parts) for run in runs for parts in zip(*run, strict=True)]


def _arrays(state: Any) -> list[np.ndarray]:
    state = state if isinstance(state, tuple) else () if state is None else (state,)
    return [array(h) for h in state]


def array(tensor: Any) -> np.ndarray:
    """A copy in NumPy; half precisions in float32, which holds them exactly."""
    if isinstance(tensor, np.ndarray):
        return tensor
    tensor = tensor.detach().cpu()
    return np.array((tensor.float() if tensor.element_size() < 4 else tensor).numpy())


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
