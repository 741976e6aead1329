r"""Any network, one page: every measure of memory on one sequence of inputs."""

import itertools
from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import numpy as np
from jax.flatten_util import ravel_pytree

from .._escape import printable
from .._precision import double
from ..cells import dimension, input_size, Stack
from ..formats import model_networks
from ..formats.recording import pad
from ..measure import fixed_points, lyapunov_spectrum, memory_horizon
from ..measure.drive import Drive, driven, refuse_fractions
from ..measure.fixed_points import jacobian_at
from ..nets import Recurrent, unroll
from .inputs import (
    as_inputs,
    extent,
    in_acting_inputs,
    Inputs,
    refuse_other_axes,
    refuse_too_large,
    words_for,
)
from .language_model import is_language_model, language_checkup
from .record import Checkup, Checkups
from .units import layers_of, unit_timescales


MOST = 20_000  # states kept for the search and the picture
LARGE = 400  # state dimension above which fixed points cost minutes
LEAST = 20  # steps below which nothing can be said
FEW = 8  # exponents of a quick look


def checkup(
    net: Any,
    inputs: Any,
    *,
    name: str = "network",
    weights: str = "",
    error: float = 1e-3,
    k: int | None = None,
    lengths: Any = None,
    targets: Any = None,
    quick: bool = False,
    time_limit: float = 60.0,
    tell: Callable[[str], None] = lambda sentence: None,
    progress: Callable[[int, int], None] | None = None,
) -> Any:
    """How long a network (or bare cell) remembers, from every side, on these inputs.

    A torch model is called on `inputs` as its batch, and every recurrent module inside is
    checked on what it then receives: the result is a dictionary of checkups by name.
    Of a recurrent language model and its tokens it is a `LanguageCheckup`.

    `inputs` are `time x width`, several such sequences, tokens, or `Inputs` with words of
    their own for the headline. Where sequences are padded, `lengths` says how long each
    is. `error` is the output error that windows are held to; with `targets` (whole numbers,
    one a position; tokens of a language model are their own) their cost is given in nats.
    `weights` says in words what of a file the network was made from.
    `quick` measures a few exponents and skips what takes minutes. `tell` gets each
    stage, `progress` the steps of the longest one.

    >>> import jax.numpy as jnp
    >>> from remanence.cells import Linear
    >>> cell = Linear(0.9 * jnp.eye(2), jnp.eye(2))
    >>> print(checkup(cell, jnp.ones((200, 2)), quick=True).verdict.split(",")[0])
    on 200 steps as given: replay the last 91 steps: every output is within 0.001 (7.3e-05 of their scale)
    """
    refuse_fractions(k=k)
    if is_torch_module(net):
        options = {"error": error, "k": k, "quick": quick, "time_limit": time_limit}
        return _of_torch_model(net, inputs, **options, tell=tell, progress=progress)
    net = net if isinstance(net, Recurrent) else Recurrent(net)
    whole, given = net, as_inputs(inputs, lengths)
    if is_language_model(net):
        words = {"name": name, "weights": weights, "error": error}
        return language_checkup(net, given, **words, tell=tell, progress=progress)
    refuse_other_axes(net, given.values)
    size = dimension(net.cell)
    k = (min(FEW, size) if quick else size) if k is None else min(k, size)
    refuse_too_large(net, extent(net, given.values), k)
    net, xs, combined = in_acting_inputs(net, given.values)
    with double():
        drive = driven(net, xs, lengths=lengths)
    ends = np.full(drive.sequences, drive.time) if lengths is None else np.asarray(lengths)
    remarks = _doubts(drive.sequences, drive.time, ends)
    remarks += (combined,) if combined else ()
    tell(f"Lyapunov exponents: {k} of {size} over {drive.time} steps")
    # The warm-up is a fifth of the longest sequence, and no use within a shorter one.
    warmup = int(ends.max()) // 5
    long = ends > 2 * warmup
    measured = {"k": k, "warmup": warmup, "progress": progress}
    if long.all():
        spectrum = lyapunov_spectrum(net, xs, lengths=lengths, **measured)
    else:
        remarks += (
            f"The exponents are those of the {int(long.sum())} sequences, of {len(ends)}, "
            f"that are longer than {2 * warmup} steps.",
        )
        spectrum = lyapunov_spectrum(net, xs[long], lengths=ends[long], **measured)
    options = {"lengths": lengths, "targets": targets, "error": error, "quick": quick}
    limit = min(time_limit, 5.0) if quick else time_limit
    panel = memory_horizon(net, xs, **options, spectrum=spectrum, time_limit=limit, tell=tell)
    tell("states and eigenvalues")
    orbit, mean_x, eigenvalues, units = _orbit(drive, ends)
    fixed, remark = _fixed(net, mean_x, orbit, size, quick, tell)
    return Checkup(
        name=printable(name),
        network=description(whole),
        inputs=printable(given.words),
        unit=given.unit,
        quick=quick,
        horizon=panel,
        fixed=fixed,
        fixed_remark=remark,
        eigenvalues=eigenvalues,
        units=units,
        orbit=orbit,
        weights=printable(weights),
        remarks=remarks,
    )


def is_torch_module(value: Any) -> bool:
    """Whether something is a module of torch's, which need not be imported for it."""
    return any(base.__module__.startswith("torch.nn.") for base in type(value).__mro__)


def _of_torch_model(model: Any, batch: Any, **options: Any) -> Checkups:
    """A checkup of every recurrent network that the batch reaches, on what it receives."""
    found = Checkups()
    for title, net, taken, sequences, from_zero in model_networks(model, batch):
        values, lengths = pad(sequences)
        backward = taken.remarks.get("direction", "").startswith("backward")
        turned = ", from the end" if backward else ""
        words = f"{words_for(values, lengths)} that {title or 'it'} received{turned}"
        start = "" if from_zero else ", measured from zero though the model starts elsewhere"
        options |= {"name": title or type(model).__name__, "weights": f"{taken}{start}"}
        given = Inputs(values=values, words=words)
        found[title] = checkup(net, given, lengths=lengths, **options)
    return found


def _doubts(sequences: int, time: int, ends: np.ndarray) -> tuple[str, ...]:
    """What the shape of the inputs leaves in doubt; refuses what is too short."""
    turned = (
        f"The inputs came as {sequences:,} sequences of {time:,} steps; if time comes "
        "first in them, inputs.swapaxes(0, 1) is what was meant."
    )
    if ends.max() < LEAST:
        hint = f". {turned}" if sequences >= LEAST else ""
        raise ValueError(f"a checkup needs at least {LEAST} steps, got {int(ends.max())}{hint}")
    return (turned,) if sequences > 4 * time else ()


@eqx.filter_jit
def _visited(cell: Any, xs: Any) -> Any:
    """The flat states on every sequence."""
    flat = jax.vmap(lambda h: ravel_pytree(h)[0])
    return jax.vmap(lambda xs: flat(unroll(cell, cell.initial_state(), xs)))(xs)


def _orbit(drive: Drive, ends: np.ndarray) -> tuple[Any, ...]:
    """States visited after a fifth of each sequence, mean input, eigenvalues there, units."""
    with double():
        states = np.asarray(_visited(drive.cell, drive.xs))
        inside = np.arange(drive.time) < ends[:, None]
        if not np.isfinite(states[inside]).all():
            raise ValueError(
                "the state leaves the range of floats on these inputs: the network is "
                "unstable, and there is nothing else to measure"
            )
        mean_x = np.asarray(drive.xs)[inside].mean(axis=0)
        orbit = states[inside & (np.arange(drive.time) >= ends[:, None] // 5)]
        orbit = orbit[:: -(-len(orbit) // MOST)]
        J = np.asarray(jacobian_at(drive.cell, orbit.mean(axis=0), mean_x))
        # The Jacobian of a stack is block triangular: its eigenvalues are those of its layers.
        edges = np.cumsum([0, *map(dimension, layers_of(drive.cell))])
    units = unit_timescales(drive, states, ends)
    each = [np.linalg.eigvals(J[a:b, a:b]) for a, b in itertools.pairwise(edges)]
    return orbit, mean_x, np.concatenate(each).astype(complex), units


def description(net: Recurrent) -> str:
    """A network in a few words."""
    layers = net.cell.cells if isinstance(net.cell, Stack) else (net.cell,)
    kinds = " + ".join(type(layer).__name__ for layer in layers)
    parts = [f"{kinds}, state of {dimension(net.cell)} numbers"]
    rows = lambda matrix: None if matrix is None else len(matrix)
    sizes = {"inputs": input_size(net.cell), "tokens": rows(net.embedding)}
    sizes |= {"outputs": rows(net.W_y)}
    parts += [f"{size} {name}" for name, size in sizes.items() if size is not None]
    return ", ".join(parts)


def _fixed(net, mean_x, orbit, size, quick, tell):
    if quick and size > LARGE // 4:
        return ((), f"not looked for: {size} state variables are too many for a quick look")
    tell("fixed and slow points")
    starts = 4 if size > LARGE else 8 if quick else 24
    steps = 30 if size > LARGE else 100
    return fixed_points(net, mean_x, starts=starts, near=orbit, steps=steps), ""
