"""One run of a live torch module: the inputs and outputs of its recurrent part."""

import contextlib
import copy
import dataclasses
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np


@dataclasses.dataclass(frozen=True)
class Run:
    """One run of a module; arrays are `batch x time x width`."""

    given: tuple[Any, ...]
    inputs: np.ndarray
    outputs: np.ndarray
    from_zero: bool
    returned: np.ndarray


@contextlib.contextmanager
def evaluated(torch: Any, module: Any) -> Iterator[Any]:
    """The module (half precisions: a copy in float32) in evaluation mode, left as it was."""
    half = (torch.float16, torch.bfloat16)
    if any(p.dtype in half for p in module.parameters()):
        module = copy.deepcopy(module).float()
    modes = [(part, part.training) for part in module.modules()]
    module.eval()
    try:
        with (
            torch.no_grad(),
            torch.random.fork_rng(devices=[]),
            warnings.catch_warnings(action="ignore"),  # torch's own, of how it computes
        ):
            yield module
    finally:
        for part, mode in modes:
            part.training = mode


def recorded(torch: Any, module: Any, recurrent: Any, given: tuple[Any, ...]) -> Run:
    """Run a module on its inputs, listening to its recurrent part."""
    calls: list[tuple[np.ndarray, np.ndarray, bool]] = []

    def look(part: Any, args: Any, kwargs: Any, out: Any) -> None:
        x = args[0] if args else kwargs["input"]
        hx = args[1] if len(args) > 1 else kwargs.get("hx")
        starts = hx if isinstance(hx, tuple) else () if hx is None else (hx,)
        zero = not any(bool(h.any()) for h in starts)
        y = out[0] if isinstance(out, tuple) else out
        calls.append((_batch_time(torch, part, x), _batch_time(torch, part, y), zero))

    handle = recurrent.register_forward_hook(look, with_kwargs=True)
    try:
        returned = _first_tensor(torch, module(*given))
    finally:
        handle.remove()
    if not calls or returned is None:
        raise ValueError("the module does not use its recurrent part, or returns no tensor")
    inputs, outputs = (np.concatenate([c[i] for c in calls], axis=1) for i in (0, 1))
    return Run(given, inputs, outputs, calls[0][2], array(returned))


def _batch_time(torch: Any, part: Any, x: Any) -> np.ndarray:
    """An input or output of the recurrent part, one step or many, batched or not."""
    if isinstance(x, torch.nn.utils.rnn.PackedSequence):
        x, lengths = torch.nn.utils.rnn.pad_packed_sequence(x, batch_first=True)
        return array(x)[:, : int(lengths.min())]
    values = array(x)
    if not isinstance(part, torch.nn.RNNBase):  # one step of a cell
        return values[:, None] if values.ndim == 2 else values[None, None]
    if values.ndim == 2:
        return values[None]
    return values if part.batch_first else values.swapaxes(0, 1)


def _first_tensor(torch: Any, value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return value
    if isinstance(value, dict):
        value = [value["logits"]] if "logits" in value else list(value.values())
    if isinstance(value, list | tuple):
        found = (_first_tensor(torch, part) for part in value)
        return next((tensor for tensor in found if tensor is not None), None)
    return None


def array(tensor: Any) -> np.ndarray:
    """A tensor in NumPy, in double."""
    return tensor.detach().cpu().double().numpy()
