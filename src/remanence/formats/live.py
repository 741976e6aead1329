"""A live torch module beside the network that was read from it: both are run, and must agree.

Weights do not show what a module does between its embedding, its recurrent part and its
readout. So the module is run once, in evaluation mode: the inputs and outputs of its
recurrent part, and what the module returned, are compared with the network.
"""

import copy
from collections.abc import Iterator, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..cells import output
from ..nets import Recurrent, unroll
from .recording import Call, evaluation_mode, join, recorded_calls


STEPS = 6
"""Few, so that a chaotic network does not blow up float32's rounding."""
TOLERANCE = 1e-3
"""Relative to the largest number compared; rounding stays far below."""
WAY_OUT = {
    "embedding": "embedding='' reads a network with the inputs of the recurrent module",
    "readout": "readout='' reads the states alone, head= takes a function in W_y's place",
}


def refuse_mismatch(
    torch: Any, module: Any, prefix: str, net: Recurrent, ends: Sequence[str], example: Any = None
) -> None:
    """Refuse a network that does not compute what the module does, with the size of it.

    `ends` are those of "embedding" and "readout" that are compared beside the states.
    """
    if any(p.dtype in (torch.float16, torch.bfloat16) for p in module.parameters()):
        module = copy.deepcopy(module).float()
    with evaluation_mode(torch, module):
        recurrent = module.get_submodule(prefix)
        xs = np.random.default_rng(0).normal(size=(STEPS, recurrent.input_size))
        expected = _states(torch, recurrent, torch.as_tensor(xs).to(next(recurrent.parameters())))
        if gap := _gap(expected, states_of(net.cell, xs)):
            differ = f"the recurrent module's states differ from those of its weights by {gap}"
            raise ValueError(f"{differ}; one that computes torch.nn's own equations would do")
        if module is recurrent or not ends:
            return
        if example is None:
            given, calls, returned = _first_run(torch, module, recurrent, net)
        else:
            given, *more = example if isinstance(example, tuple) else (example,)
            calls, returned = _run(torch, module, recurrent, given, *more)
    if "embedding" in ends:
        _compare_inputs(net, given, _joined(calls, "inputs"))
    if "readout" in ends:
        _compare_returned(net, calls, returned)


def states_of(cell: Any, xs: np.ndarray) -> np.ndarray:
    """A cell's output after every input, from its empty state."""
    h0 = cell.initial_state()
    states = unroll(cell, h0, jnp.asarray(xs, jax.tree.leaves(h0)[0].dtype))
    return np.asarray(jax.vmap(lambda h: output(cell, h))(states))


def _states(torch: Any, recurrent: Any, given: Any) -> np.ndarray:
    """A recurrent module's own outputs, a cell's step by step."""
    if isinstance(recurrent, torch.nn.RNNBase):
        return _double(recurrent(given)[0])
    state, steps = None, []
    for x in given:
        state = recurrent(x, state)
        steps.append(state[0] if isinstance(state, tuple) else state)
    return _double(torch.stack(steps))


def _first_run(
    torch: Any, module: Any, recurrent: Any, net: Recurrent
) -> tuple[Any, list[Call], np.ndarray]:
    """The module on a short sequence of our own, in the first arrangement that it takes."""
    problems: list[str] = []
    for given in _examples(torch, recurrent, net):
        try:
            calls, returned = _run(torch, module, recurrent, given)
            if _joined(calls, "inputs").shape[:2] == (1, STEPS):
                return given, calls, returned
        except Exception as error:  # whatever the user's own forward raises
            problems.append(" ({})".format(str(error).partition("\n")[0]))
    what = "tokens" if net.embedding is not None else f"{recurrent.input_size} numbers"
    why = "".join(problems[:1])
    raise ValueError(
        f"the module does not run on one sequence of {what} a step{why}, so that its ends "
        "could not be compared; example= with inputs that it takes would do, or "
        "embedding='' and readout='' for its recurrent part alone"
    )


def _examples(torch: Any, recurrent: Any, net: Recurrent) -> Iterator[Any]:
    """One sequence with a batch of one before or behind time, then without."""
    rng, like = np.random.default_rng(1), next(recurrent.parameters())
    one = torch.as_tensor(rng.normal(size=(STEPS, recurrent.input_size))).to(like)
    if net.embedding is not None:
        one = torch.as_tensor(rng.integers(len(net.embedding), size=STEPS)).to(like.device)
    first = getattr(recurrent, "batch_first", True)
    yield from (one[None], one[:, None]) if first else (one[:, None], one[None])
    yield one


def _run(torch: Any, module: Any, recurrent: Any, *given: Any) -> tuple[list[Call], np.ndarray]:
    """The calls of its recurrent part while a module runs, and what it returned."""
    with recorded_calls(torch, {"": recurrent}) as calls:
        returned = _first_tensor(torch, module(*given))
    if not calls[""] or returned is None:
        raise ValueError("the module does not use its recurrent part, or returns no tensor")
    return calls[""], _double(returned)


def _first_tensor(torch: Any, value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return value
    if isinstance(value, dict):
        value = [value["logits"]] if "logits" in value else list(value.values())
    inside = value if isinstance(value, list | tuple) else ()
    found = (_first_tensor(torch, each) for each in inside)
    return next((tensor for tensor in found if tensor is not None), None)


def _joined(calls: list[Call], what: str) -> np.ndarray:
    """What the recurrent part took or gave, `sequences x time x width`, in double."""
    sequences = join(calls, what)
    shortest = min(map(len, sequences))
    return np.stack([x[:shortest] for x in sequences], dtype=np.float64)


def _double(tensor: Any) -> np.ndarray:
    return tensor.detach().cpu().double().numpy()


def _gap(came: np.ndarray, *ways: np.ndarray) -> str:
    """How far the first of several arrangements is off, in words; "" where one agrees."""
    if came.size != ways[0].size:
        return "another shape"
    scale = float(np.abs(came).max(initial=0.0))
    apart = [float(np.abs(way.ravel() - came.ravel()).max(initial=0.0)) for way in ways]
    if min(apart) <= TOLERANCE * scale:
        return ""
    return f"up to {apart[0]:.2g}, where they reach {scale:.2g}"


def _compare_inputs(net: Recurrent, given: Any, inputs: np.ndarray) -> None:
    """The inputs of the recurrent part, beside the rows of the embedding or the module's."""
    first, what, way_out = _double(given), "inputs", WAY_OUT["embedding"]
    if net.embedding is not None:
        if given.is_floating_point():
            found = "an embedding was found, but the module was given no tokens"
            raise ValueError(f"{found}; {way_out}")
        first, what = np.asarray(net.embedding, np.float64)[first.astype(int)], "embedding"
    elif first.size != inputs.size:
        return  # they are a front end's: nobody takes them for the module's inputs
    if gap := _gap(inputs, first, *([first.swapaxes(0, 1)] if first.ndim == 3 else [])):
        differ = f"the inputs of the recurrent module differ from the {what} by {gap}"
        raise ValueError(f"{differ}: something acts on it before; {way_out}")


def _compare_returned(net: Recurrent, calls: list[Call], came: np.ndarray) -> None:
    way_out = WAY_OUT["readout"]
    if not calls[0].from_zero:
        starts = "the module starts its recurrent part from a state other than zero"
        raise ValueError(f"{starts}; {way_out}")
    dtype = jax.tree.leaves(net.cell.initial_state())[0].dtype
    decoded = jax.vmap(jax.vmap(net.decode))(jnp.asarray(_joined(calls, "outputs"), dtype))
    every, last = np.asarray(decoded, np.float64), np.asarray(decoded[:, -1], np.float64)
    # Also time first, or time last as torch's cross entropy wants it.
    ways, other, word = [every, every.swapaxes(0, 1), every.swapaxes(1, 2)], last, "last"
    if net.readout == "last":
        ways, other, word = [last], every, "every"
    if came.size != ways[0].size:
        would = f"positions='{word}' would do" if came.size == other.size else way_out
        raise ValueError(
            f"the module returns {list(came.shape)} numbers where the network read from it "
            f"gives {list(ways[0].shape)}; {would}"
        )
    if gap := _gap(came, *ways):
        differ = f"the module's outputs differ from those of the network read from it by {gap}"
        raise ValueError(f"{differ}: something acts between its states and its outputs; {way_out}")
