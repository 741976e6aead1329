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
from ..nets import Recurrent
from .calls import join, recorded_calls
from .recording import evaluation_mode


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

    given: tuple[Any, ...]
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
        run = _run(torch, module, recurrent, net, example)
    if "embedding" in ends:
        _compare_inputs(net, run)
    if "readout" in ends:
        if not run.from_zero:
            raise ValueError(
                "the module starts its recurrent part from a state other than zero; "
                f"{WAY_OUT['readout']}"
            )
        _compare_returned(net, run)


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
    h, states = net.cell.initial_state(), []
    for x in jnp.asarray(xs, jax.tree.leaves(h)[0].dtype):
        h = net.cell(h, x)
        states.append(output(net.cell, h))
    if gap := _gap(np.stack(states), _double(expected)):
        raise ValueError(
            f"the recurrent module's states differ from those of its weights by {gap}; "
            "one that computes torch.nn's own equations would do"
        )


def _run(torch: Any, module: Any, recurrent: Any, net: Recurrent, example: Any) -> Run:
    if example is not None:
        given = example if isinstance(example, tuple) else (example,)
        return _run_on(torch, module, recurrent, given)
    problem: Any = None
    for given in _examples(torch, recurrent, net):
        try:
            run = _run_on(torch, module, recurrent, (given,))
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


def _run_on(torch: Any, module: Any, recurrent: Any, given: tuple[Any, ...]) -> Run:
    """Run a module on its inputs, listening to its recurrent part."""
    with recorded_calls(torch, {"": recurrent}) as calls:
        returned = _first_tensor(torch, module(*given))
    if not calls[""] or returned is None:
        raise ValueError("the module does not use its recurrent part, or returns no tensor")
    inputs, outputs = (_stack(join(calls[""], what)) for what in ("inputs", "outputs"))
    return Run(given, inputs, outputs, calls[""][0].from_zero, _double(returned))


def _stack(sequences: list[np.ndarray]) -> np.ndarray:
    """Sequences side by side, as long as the shortest, in double."""
    shortest = min(map(len, sequences))
    return np.stack([x[:shortest] for x in sequences]).astype(np.float64)


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


def _examples(torch: Any, recurrent: Any, net: Recurrent) -> Iterator[Any]:
    """One sequence with a batch of one before or behind time, then without."""
    rng = np.random.default_rng(1)
    like = next(recurrent.parameters())
    if net.embedding is not None:
        tokens = rng.integers(len(net.embedding), size=STEPS)
        one = torch.as_tensor(tokens).to(like.device)
    else:
        one = torch.as_tensor(rng.normal(size=(STEPS, recurrent.input_size))).to(like)
    first = getattr(recurrent, "batch_first", True)
    yield from (one[None], one[:, None]) if first else (one[:, None], one[None])
    yield one


def _gap(one: Any, two: np.ndarray) -> str:
    """The largest difference in words, or nothing where it is rounding."""
    apart = float(np.abs(np.asarray(one, np.float64) - two).max(initial=0.0))
    scale = float(np.abs(two).max(initial=0.0))
    if apart <= TOLERANCE * scale:
        return ""
    return f"up to {apart:.2g}, where they reach {scale:.2g}"


def _compare_inputs(net: Recurrent, run: Run) -> None:
    """The inputs of the recurrent part, beside the rows of the embedding or the module's."""
    first = _double(run.given[0])
    if net.embedding is not None:
        if run.given[0].is_floating_point():
            raise ValueError(
                "an embedding was found, but the module was given no tokens; "
                f"{WAY_OUT['embedding']}"
            )
        first = np.asarray(net.embedding, np.float64)[first.astype(int)]
    ways = [first[None] if first.ndim == 2 else first]
    ways += [ways[0].swapaxes(0, 1)] if ways[0].ndim == 3 else []
    gaps = [_gap(way, run.inputs) for way in ways if way.shape == run.inputs.shape]
    # Of another shape they are a front end's: nobody takes them for the module's inputs.
    if (gaps or net.embedding is not None) and all(gaps):
        size = f" by {gaps[0]}" if gaps else ""
        raise ValueError(
            "the inputs of the recurrent module differ from the "
            f"{'embedding' if net.embedding is not None else 'inputs'}{size}: something "
            f"acts on it before; {WAY_OUT['embedding']}"
        )


def _compare_returned(net: Recurrent, run: Run) -> None:
    B, T = run.outputs.shape[:2]
    dtype = jax.tree.leaves(net.cell.initial_state())[0].dtype
    decode = jax.vmap(jax.vmap(net.decode))
    expected = np.asarray(decode(jnp.asarray(run.outputs, dtype)), np.float64)
    outputs, every = expected.shape[-1], net.readout == "every"
    came, size = run.returned, run.returned.size
    if not every:
        expected = expected[:, -1]
    if size != expected.size:
        would = WAY_OUT["readout"]
        if size in (B * T * outputs, B * outputs):
            would = f"positions='{'last' if every else 'every'}' would do"
        raise ValueError(
            f"the module returns {list(came.shape)} numbers where the network read from it "
            f"gives {list(expected.shape)}; {would}"
        )
    ways: list[np.ndarray] = [came.reshape(expected.shape)]
    if every:  # time first, or time last as torch's cross entropy wants it
        ways.append(came.reshape(T, B, outputs).swapaxes(0, 1))
        ways.append(came.reshape(B, outputs, T).swapaxes(1, 2))
    gaps = [_gap(expected, way) for way in ways]
    if all(gaps):
        raise ValueError(
            f"the module's outputs differ from those of the network read from it by "
            f"{gaps[0]}: something acts between its states and its outputs; "
            f"{WAY_OUT['readout']}"
        )
