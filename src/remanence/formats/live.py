"""A live torch module beside the network that was read from it: both are run, and must agree.

Weights do not show what a module does between its embedding, its recurrent part and its
readout. So the module is run once, in evaluation mode: the inputs and outputs of its
recurrent part, and what the module returned, are compared with the network.
"""

import copy
import dataclasses
from collections.abc import Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..cells import output
from ..nets import Recurrent, unroll
from .recording import evaluation_mode, join, recorded_calls


STEPS = 6
"""Few, so that a chaotic network does not blow up float32's rounding."""
TOLERANCE = 1e-3
"""Relative to the largest number compared; rounding stays far below."""
WAY_OUT = {
    "embedding": "embedding='' reads a network with the inputs of the recurrent module",
    "readout": "readout='' reads the states alone, head= takes a function in W_y's place",
}


@dataclasses.dataclass(frozen=True)
class Run:
    """One run of a module; arrays are `sequences x time x width`, in double."""

    given: Any
    inputs: np.ndarray
    outputs: np.ndarray
    from_zero: bool
    returned: np.ndarray


def refuse_mismatch(
    torch: Any,
    module: Any,
    prefix: str,
    net: Recurrent,
    *,
    ends: tuple[str, ...],
    example: Any = None,
) -> None:
    """Refuse a network that does not compute what the module does, with the size of it.

    `ends` are those of "embedding" and "readout" that are compared beside the states.
    """
    if any(p.dtype in (torch.float16, torch.bfloat16) for p in module.parameters()):
        module = copy.deepcopy(module).float()
    with evaluation_mode(torch, module):
        recurrent = module.get_submodule(prefix)
        _compare_states(torch, recurrent, net)
        if module is recurrent or not ends:
            return
        if example is None:
            run = _first_run(torch, module, recurrent, net)
        else:
            given = example if isinstance(example, tuple) else (example,)
            run = _run(torch, module, recurrent, given)
    if "embedding" in ends:
        _compare_inputs(net, run)
    if "readout" in ends:
        _compare_returned(net, run)


def states_of(cell: Any, xs: np.ndarray) -> np.ndarray:
    """A cell's output after every input, from its empty state."""
    h0 = cell.initial_state()
    states = unroll(cell, h0, jnp.asarray(xs, jax.tree.leaves(h0)[0].dtype))
    return np.asarray(jax.vmap(lambda h: output(cell, h))(states))


def _compare_states(torch: Any, recurrent: Any, net: Recurrent) -> None:
    xs = np.random.default_rng(0).normal(size=(STEPS, recurrent.input_size))
    given = torch.as_tensor(xs).to(next(recurrent.parameters()))
    if isinstance(recurrent, torch.nn.RNNBase):
        expected = recurrent(given)[0]
    else:
        state, steps = None, []
        for x in given:
            state = recurrent(x, state)
            steps.append(state[0] if isinstance(state, tuple) else state)
        expected = torch.stack(steps)
    if gap := _gap(_double(expected), states_of(net.cell, xs)):
        raise ValueError(
            f"the recurrent module's states differ from those of its weights by {gap}; "
            "one that computes torch.nn's own equations would do"
        )


def _first_run(torch: Any, module: Any, recurrent: Any, net: Recurrent) -> Run:
    """The module on a short sequence of our own, in the first arrangement that it takes."""
    problem: Any = None
    for given in _examples(torch, recurrent, net):
        try:
            run = _run(torch, module, recurrent, (given,))
        except Exception as error:  # whatever the user's own forward raises
            problem = problem or error
            continue
        if run.inputs.shape[:2] == (1, STEPS):
            return run
    what = "tokens" if net.embedding is not None else f"{recurrent.input_size} numbers"
    why = f" ({str(problem).partition(chr(10))[0]})" if problem is not None else ""
    raise ValueError(
        f"the module does not run on one sequence of {what} a step{why}, so that its ends "
        "could not be compared; example= with inputs that it takes would do, or "
        "embedding='' and readout='' for its recurrent part alone"
    )


def _examples(torch: Any, recurrent: Any, net: Recurrent) -> Iterator[Any]:
    """One sequence with a batch of one before or behind time, then without."""
    rng, like = np.random.default_rng(1), next(recurrent.parameters())
    if net.embedding is not None:
        one = torch.as_tensor(rng.integers(len(net.embedding), size=STEPS)).to(like.device)
    else:
        one = torch.as_tensor(rng.normal(size=(STEPS, recurrent.input_size))).to(like)
    first = getattr(recurrent, "batch_first", True)
    yield from (one[None], one[:, None]) if first else (one[:, None], one[None])
    yield one


def _run(torch: Any, module: Any, recurrent: Any, given: tuple[Any, ...]) -> Run:
    """Run a module on its inputs, with its recurrent part recorded."""
    with recorded_calls(torch, {"": recurrent}) as calls:
        returned = _first_tensor(torch, module(*given))
    if not calls[""] or returned is None:
        raise ValueError("the module does not use its recurrent part, or returns no tensor")
    both = [join(calls[""], what) for what in ("inputs", "outputs")]
    shortest = min(map(len, both[0]))
    inputs, outputs = (np.stack([x[:shortest] for x in each], dtype=np.float64) for each in both)
    return Run(given[0], inputs, outputs, calls[""][0].from_zero, _double(returned))


def _first_tensor(torch: Any, value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return value
    if isinstance(value, dict):
        value = [value["logits"]] if "logits" in value else list(value.values())
    if isinstance(value, list | tuple):
        found = (_first_tensor(torch, part) for part in value)
        return next((tensor for tensor in found if tensor is not None), None)
    return None


def _double(tensor: Any) -> np.ndarray:
    return tensor.detach().cpu().double().numpy()


def _gap(came: np.ndarray, *ways: np.ndarray) -> str:
    """How far the first of several arrangements is off, in words; "" where one agrees."""
    scale = float(np.abs(came).max(initial=0.0))
    apart = [float(np.abs(way.ravel() - came.ravel()).max(initial=0.0)) for way in ways]
    if min(apart) <= TOLERANCE * scale:
        return ""
    return f"up to {apart[0]:.2g}, where they reach {scale:.2g}"


def _compare_inputs(net: Recurrent, run: Run) -> None:
    """The inputs of the recurrent part, beside the rows of the embedding or the module's."""
    first, what = _double(run.given), "inputs"
    if net.embedding is not None:
        if run.given.is_floating_point():
            raise ValueError(
                "an embedding was found, but the module was given no tokens; "
                f"{WAY_OUT['embedding']}"
            )
        first, what = np.asarray(net.embedding, np.float64)[first.astype(int)], "embedding"
    elif first.size != run.inputs.size:
        return  # they are a front end's: nobody takes them for the module's inputs
    gap = "another shape"
    if first.size == run.inputs.size:
        gap = _gap(run.inputs, first, *([first.swapaxes(0, 1)] if first.ndim == 3 else []))
    if gap:
        raise ValueError(
            f"the inputs of the recurrent module differ from the {what} by {gap}: something "
            f"acts on it before; {WAY_OUT['embedding']}"
        )


def _compare_returned(net: Recurrent, run: Run) -> None:
    if not run.from_zero:
        raise ValueError(
            "the module starts its recurrent part from a state other than zero; "
            f"{WAY_OUT['readout']}"
        )
    dtype = jax.tree.leaves(net.cell.initial_state())[0].dtype
    decoded = jax.vmap(jax.vmap(net.decode))(jnp.asarray(run.outputs, dtype))
    every, last = np.asarray(decoded, np.float64), np.asarray(decoded[:, -1], np.float64)
    # Also time first, or time last as torch's cross entropy wants it.
    ways, word = [every, every.swapaxes(0, 1), every.swapaxes(1, 2)], "last"
    if net.readout == "last":
        ways, last, word = [last], every, "every"
    came = run.returned
    if came.size != ways[0].size:
        would = f"positions='{word}' would do" if came.size == last.size else WAY_OUT["readout"]
        raise ValueError(
            f"the module returns {list(came.shape)} numbers where the network read from it "
            f"gives {list(ways[0].shape)}; {would}"
        )
    if gap := _gap(came, *ways):
        raise ValueError(
            f"the module's outputs differ from those of the network read from it by {gap}: "
            f"something acts between its states and its outputs; {WAY_OUT['readout']}"
        )
