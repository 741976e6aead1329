"""torch modules in and out; torch is imported only when asked for."""

import dataclasses
from collections.abc import Callable, Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..cells import output, Stack
from ..nets import Recurrent, unroll
from . import live, state_dict
from .reading import Options, Taken
from .recording import import_torch, record, recurrent_parts, unwrap
from .safetensors import finite
from .saving import kind_of, tensors_of


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
    torch = import_torch()
    module = unwrap(torch, module)
    inner = recurrent_parts(torch, module)
    if len(inner) != 1:
        names = [name or type(m).__name__ for name, m in inner.items()]
        raise ValueError(f"one recurrent module would do, got {len(inner)}: {names}")
    ((prefix, recurrent),) = inner.items()
    if getattr(recurrent, "bidirectional", False):
        raise ValueError("a bidirectional module is several networks; recurrent_modules gives each")
    if head is not None and readout:
        raise ValueError("a head takes the place of the readout; one of the two would do")
    tensors = {k: _plain(torch, v) for k, v in module.state_dict().items()}
    tensors |= _tensors(torch, recurrent, f"{prefix}." if prefix else "")
    word = getattr(recurrent, "nonlinearity", "tanh")
    (read,) = state_dict.networks(finite(tensors)).values()
    options = Options(word, embedding, "" if head else readout, positions, live=True)
    net, taken = read(options)
    if head is not None:
        net = dataclasses.replace(net, head=head)
    given = {"embedding": embedding, "readout": readout}
    compared = tuple(end for end, name in given.items() if name != "" or head is not None)
    if type(module).forward is torch.nn.Module.forward:  # it has none of its own
        names = [getattr(taken, end) for end in compared if not given[end]]
        guessed = [name for name in names if name]
        if guessed:
            raise ValueError(
                f"{type(module).__name__} has no forward, so that {guessed[0]} cannot be "
                "compared with it; named by embedding= or readout=, it would do"
            )
        compared = ()
    live.refuse_mismatch(torch, module, prefix, net, ends=compared, example=example)
    return net


def live_networks(module: Any) -> dict[str, tuple[Recurrent, Taken]]:
    """Every recurrent network inside a module by its name, compared with it, without ends."""
    torch = import_torch()
    module = unwrap(torch, module)
    found: dict[str, tuple[Recurrent, Taken]] = {}
    for name, recurrent in recurrent_parts(torch, module).items():
        word = getattr(recurrent, "nonlinearity", "tanh")
        inside = state_dict.networks(finite(_tensors(torch, recurrent, "")))
        for part, read in inside.items():
            net, taken = read(Options(word, embedding="", readout=""))
            if not part:
                live.refuse_mismatch(torch, recurrent, "", net, ends=())
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
                outputs.append([_states(net.cell, x)[turn] for x in inputs])


def _states(cell: Any, xs: np.ndarray) -> np.ndarray:
    """A cell's output after every input, from its empty state."""
    h0 = cell.initial_state()
    states = unroll(cell, h0, jnp.asarray(xs, jax.tree.leaves(h0)[0].dtype))
    return np.asarray(jax.vmap(lambda h: output(cell, h))(states))


def _tensors(torch: Any, recurrent: Any, prefix: str) -> dict[str, np.ndarray]:
    """The weights that a recurrent module uses, also where they are parametrised."""
    depths = [f"_l{depth}" for depth in range(getattr(recurrent, "num_layers", 0))]
    endings = [f"{d}{back}" for d in depths for back in ("", "_reverse")] or [""]
    parts = ("weight_ih", "weight_hh", "weight_hr", "bias_ih", "bias_hh")
    names = [f"{part}{ending}" for ending in endings for part in parts]
    found = {name: getattr(recurrent, name, None) for name in names}
    return {
        f"{prefix}{name}": _plain(torch, tensor)
        for name, tensor in found.items()
        if tensor is not None
    }


def _plain(torch: Any, tensor: Any) -> np.ndarray:
    """As `load` reads it: half precisions in float32, which holds them exactly."""
    half = tensor.dtype in (torch.float16, torch.bfloat16)
    return (tensor.float() if half else tensor).detach().cpu().numpy()


def to_torch(net: Any) -> Any:
    """The torch module that computes the same, time first.

    A bare cell becomes `torch.nn.RNN`, `LSTM` or `GRU`; with an embedding or a
    readout, a module with those three parts (`embedding`, `rnn`, `readout`).
    """
    torch = import_torch()
    net = net if isinstance(net, Recurrent) else Recurrent(net)
    if net.head is not None:
        raise ValueError(
            "a head that is a function in JAX has no module of torch's; W_y and b_y have"
        )
    kind = kind_of(net.cell)
    if kind is None:
        raise ValueError(
            f"torch has no module for {type(net.cell).__name__}; "
            "Elman (tanh or ReLU), LSTM, GRU and stacks of one kind have one"
        )
    layers = net.cell.cells if isinstance(net.cell, Stack) else (net.cell,)
    first = layers[0]
    options: dict[str, Any] = {"num_layers": len(layers), "bias": first.b is not None}
    if kind == "rnn":
        options["nonlinearity"] = "tanh" if first.activation is jnp.tanh else "relu"
    make = {"rnn": torch.nn.RNN, "lstm": torch.nn.LSTM, "gru": torch.nn.GRU}[kind]
    tensor = lambda array: torch.from_numpy(np.array(array))
    dtype = tensor(first.W_h).dtype
    rnn = make(first.W_x.shape[1], first.W_h.shape[1], dtype=dtype, **options)
    parts = {k: tensor(v) for k, v in tensors_of(net.cell).items()}
    rnn.load_state_dict(parts, strict=True)
    if net.embedding is None and net.W_y is None:
        return rnn
    return _with_ends(torch, rnn, net, tensor)


def _with_ends(torch: Any, rnn: Any, net: Recurrent, tensor: Any) -> Any:
    class RecurrentNetwork(torch.nn.Module):
        """Embedding, recurrent module, readout at every step or at the last."""

        def __init__(self):
            super().__init__()
            self.embedding = self.readout = None
            if net.embedding is not None:
                rows = tensor(net.embedding)
                self.embedding = torch.nn.Embedding.from_pretrained(rows, freeze=False)
            self.rnn = rnn
            if net.W_y is not None:
                outputs, units = net.W_y.shape
                dtype = tensor(net.W_y).dtype
                bias = net.b_y is not None
                self.readout = torch.nn.Linear(units, outputs, bias=bias, dtype=dtype)
                with torch.no_grad():
                    self.readout.weight.copy_(tensor(net.W_y))
                    if bias:
                        self.readout.bias.copy_(tensor(net.b_y))

        def forward(self, xs: Any) -> Any:
            if self.embedding is not None:
                xs = self.embedding(xs)
            states, _ = self.rnn(xs)
            if net.readout == "last":
                states = states[-1]
            return states if self.readout is None else self.readout(states)

    return RecurrentNetwork()
