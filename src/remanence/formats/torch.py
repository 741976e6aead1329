"""torch modules in and out; torch is imported only when asked for."""

import dataclasses
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..nets import Recurrent
from . import live, state_dict
from .reading import extra_library, Options, Taken
from .recording import array, record, recurrent_parts
from .safetensors import finite
from .saving import tensors_of, torch_module, with_ends


def from_torch(
    module: Any,
    *,
    embedding: str | None = None,
    readout: str | None = None,
    positions: str = "every",
    head: Callable | None = None,
    example: Any = None,
) -> Recurrent:
    """The network in a `torch.nn` RNN, LSTM or GRU, or in a module round one of them.

    An embedding and a linear readout are found by their shapes; `embedding=` and
    `readout=` name them (an empty string: none). The module is then run, in evaluation
    mode, and refused if it computes anything else than the network: on `example`
    (its inputs, a tuple for several) or on a short sequence of our own. `head` is a
    function in JAX that does what the module does after its recurrent part, where
    that is not linear.
    """
    torch, module, inner = recurrent_parts(module)
    if len(inner) != 1:
        names = [name or type(m).__name__ for name, m in inner.items()]
        raise ValueError(f"one recurrent module would do, got {len(inner)}: {names}")
    ((prefix, recurrent),) = inner.items()
    if getattr(recurrent, "bidirectional", False):
        raise ValueError("a bidirectional module is several networks; recurrent_modules gives each")
    if head is not None and readout:
        raise ValueError("a head takes the place of the readout; one of the two would do")
    tensors = {name: array(tensor) for name, tensor in module.state_dict().items()}
    tensors |= _tensors(recurrent, f"{prefix}." if prefix else "")
    word = getattr(recurrent, "nonlinearity", "tanh")
    (read,) = state_dict.networks(finite(tensors)).values()
    net, _ = read(Options(word, embedding, "" if head else readout, positions, live=True))
    net = net if head is None else dataclasses.replace(net, head=head)
    ends = ["embedding"] if embedding != "" else []
    ends += ["readout"] if readout != "" or head else []
    live.refuse_mismatch(torch, module, prefix, net, ends, example)
    return net


def live_networks(module: Any) -> dict[str, tuple[Recurrent, Taken]]:
    """Every recurrent network inside a module by its name, compared with it, without ends."""
    torch, _, parts = recurrent_parts(module)
    found: dict[str, tuple[Recurrent, Taken]] = {}
    for name, recurrent in parts.items():
        word = getattr(recurrent, "nonlinearity", "tanh")
        for part, read in state_dict.networks(finite(_tensors(recurrent, ""))).items():
            net, taken = read(Options(word, embedding="", readout=""))
            if not part:
                live.refuse_mismatch(torch, recurrent, "", net, ())
            title = ".".join(word for word in (name, part) if word)
            found[title] = net, dataclasses.replace(taken, name=name)
    return found


def model_networks(
    model: Any, batch: Any
) -> Iterator[tuple[str, Recurrent, Taken, list[np.ndarray], bool]]:
    """Every recurrent network inside a model that a batch reaches, with its inputs.

    The inputs are a list of sequences, `time x width`; beside them, whether the model
    starts from zero. A backward direction has them from the end; an upper layer
    of a bidirectional module has the outputs of both directions below.
    """
    networks, recorded = live_networks(model), record(model, batch)
    for name in recorded:
        sequences, outputs = recorded.sequences(name), []
        for title, (net, taken) in networks.items():
            if taken.name != name:
                continue
            backward = taken.remarks.get("direction", "").startswith("backward")
            if outputs and not backward:  # the layer above the two directions
                both = zip(*outputs, strict=True)
                sequences, outputs = [np.concatenate(pair, 1) for pair in both], []
            turn = slice(None, None, -1) if backward else slice(None)
            inputs = [x[turn] for x in sequences]
            yield title, net, taken, inputs, recorded.from_zero[name]
            if "direction" in taken.remarks:
                outputs.append([live.states_of(net.cell, x)[turn] for x in inputs])


def _tensors(recurrent: Any, prefix: str) -> dict[str, np.ndarray]:
    """The weights that a recurrent module uses, also where they are parametrised."""
    depths = [f"_l{depth}" for depth in range(getattr(recurrent, "num_layers", 0))]
    endings = [f"{d}{back}" for d in depths for back in ("", "_reverse")] or [""]
    names = [f"{part}{ending}" for ending in endings for part in state_dict.PARTS]
    found = {f"{prefix}{name}": getattr(recurrent, name, None) for name in names}
    return {name: array(tensor) for name, tensor in found.items() if tensor is not None}


def to_torch(net: Any) -> Any:
    """The torch module that computes the same, time first.

    A bare cell becomes `torch.nn.RNN`, `LSTM` or `GRU`; with an embedding or a
    readout, a module with those three parts (`embedding`, `rnn`, `readout`).
    """
    torch = extra_library("torch", "torch")
    net, ends = with_ends(net)
    described = torch_module(net.cell)
    if described is None:
        would = "Elman (tanh or ReLU), LSTM, GRU and stacks of one kind have one"
        raise ValueError(f"torch has no module for {type(net.cell).__name__}; {would}")
    kind, sizes, options = described

    class RecurrentNetwork(torch.nn.Module):
        """Embedding, recurrent module, readout at every step or at the last."""

        def forward(self, xs: Any) -> Any:
            states, _ = self.rnn(xs if self.embedding is None else self.embedding(xs))
            states = states[-1] if net.readout == "last" else states
            return states if self.readout is None else self.readout(states)

    W_e, W_y, module = net.embedding, net.W_y, RecurrentNetwork()
    module.rnn = getattr(torch.nn, kind)(*sizes, **options)
    module.embedding = None if W_e is None else torch.nn.Embedding(*W_e.shape)
    linear = lambda shape: torch.nn.Linear(*shape[::-1], bias=net.b_y is not None)
    module.readout = None if W_y is None else linear(W_y.shape)
    found = tensors_of(net.cell, "rnn.") | ends
    tensors = {name: torch.from_numpy(np.array(array)) for name, array in found.items()}
    module.to(tensors["rnn.weight_hh_l0"].dtype).load_state_dict(tensors, strict=True)
    return module if ends else module.rnn
