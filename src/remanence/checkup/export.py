"""The truncated network for torch: a module of thirty lines beside its weights."""

import pathlib
import string

from ..formats import save
from ..formats.saving import torch_module
from ..nets import Recurrent
from ..report import write_atomically


SOURCE = pathlib.Path(__file__).parent / "templates" / "truncated.py.txt"


def refuse_no_module(net: Recurrent) -> None:
    """Refuse a network that torch has no module for."""
    if net.head is not None:
        raise ValueError("a head that is any function cannot be written for torch")
    if torch_module(net.cell) is None:
        raise ValueError(f"torch has no module for {type(net.cell).__name__}")


def write_truncated(net: Recurrent, window: float, path: pathlib.Path) -> pathlib.Path:
    """Write `path` (a `.py` file) and its weights: the network cut to `window` inputs."""
    if path.suffix != ".py":
        raise ValueError(f"the truncated network is written as a .py file, got {path.name!r}")
    if not 1 <= window < float("inf"):
        raise ValueError("there is no window to truncate to: none tried keeps the error")
    refuse_no_module(net)
    described = torch_module(net.cell)
    assert described is not None
    kind, (inputs, units), options = described
    words = [f"{inputs}, {units}", *(f"{key}={value!r}" for key, value in options.items())]
    ends = {"embedding": "None", "readout": "None"}
    if net.embedding is not None:
        ends["embedding"] = "torch.nn.Embedding({}, {})".format(*net.embedding.shape)
    if net.W_y is not None:
        outputs = net.W_y.shape[0]
        ends["readout"] = f"torch.nn.Linear({units}, {outputs}, bias={net.b_y is not None})"
    text = string.Template(SOURCE.read_text(encoding="utf-8")).substitute(
        window=int(window),
        units=units,
        rnn=f"torch.nn.{kind}({', '.join(words)})",
        last="states = states[-1]" if net.readout == "last" else "# read at every step",
        **ends,
    )
    save(net, path.with_suffix(".safetensors"))
    write_atomically(path, text.encode())
    return path
