r"""Any network, one page: every measure of memory on one sequence of inputs."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree

from .._precision import as_double, double
from ..cells import dimension, input_size, jacobian, Stack
from ..measure import fixed_points, lyapunov_spectrum, memory_horizon
from ..measure.drive import driven, refuse_fractions
from ..measure.fourier import spectrum as energies
from ..nets import Recurrent, unroll
from .record import Checkup


LARGE = 400  # state dimension above which fixed points cost minutes
LEAST = 20  # steps below which nothing can be said
FEW = 8  # exponents of a quick look


def checkup(
    net: Any,
    inputs: Any,
    *,
    name: str = "network",
    heard: str | None = None,
    taken: str = "",
    error: float = 1e-3,
    k: int | None = None,
    lengths: Any = None,
    quick: bool = False,
    time_limit: float = 60.0,
    tell: Callable[[str], None] = lambda sentence: None,
    progress: Callable[[int, int], None] | None = None,
) -> Checkup:
    """How long a network (or bare cell) remembers, from every side, on one sequence.

    `inputs` are `time x width`, several such sequences (exponents use them all, the
    rest the first), or tokens. Where sequences are padded, `lengths` says how long each
    is, and the longest stands for the rest. `error` is the output error that windows are held to.
    `heard` and `taken` say in words what the inputs are and what of a file the network
    was made from.
    `quick` measures a few exponents and skips what takes minutes. `tell` hears each
    stage, `progress` the steps of the longest one.

    >>> import jax.numpy as jnp
    >>> from remanence.cells import Linear
    >>> cell = Linear(0.9 * jnp.eye(2), jnp.eye(2))
    >>> checkup(cell, jnp.ones((200, 2)), quick=True).verdict.split(";")[0]
    'remembers about 10 steps'
    """
    refuse_fractions(k=k)
    net = net if isinstance(net, Recurrent) else Recurrent(net)
    xs = np.asarray(inputs)
    with double():
        drive = driven(net, xs, lengths=lengths)
    shortest = drive.time if lengths is None else int(np.min(lengths))
    if shortest < LEAST:
        raise ValueError(f"a checkup needs at least {LEAST} steps, got {shortest}")
    size = dimension(net.cell)
    k = (min(FEW, size) if quick else size) if k is None else min(k, size)
    tell(f"Lyapunov exponents: {k} of {size} over {drive.time} steps")
    spectrum = lyapunov_spectrum(net, xs, k=k, lengths=lengths, progress=progress)
    limit = min(time_limit, 5.0) if quick else time_limit
    panel = memory_horizon(
        net,
        xs,
        error=error,
        lengths=lengths,
        quick=quick,
        spectrum=spectrum,
        time_limit=limit,
        tell=tell,
    )
    tell("states, eigenvalues and singular values")
    with double():
        longest = 0 if lengths is None else int(np.argmax(lengths))
        cell, one = drive.cell, drive.xs[longest]
        if lengths is not None:
            one = one[: int(np.max(lengths))]
        states = unroll(cell, cell.initial_state(), one)
        orbit = np.asarray(jax.vmap(lambda h: ravel_pytree(h)[0])(states))
        if not np.isfinite(orbit).all():
            raise ValueError(
                "the state leaves the range of floats on these inputs: the network is "
                "unstable, and there is nothing else to measure"
            )
        mean_x = np.asarray(one).mean(axis=0)
        middle = jnp.asarray(orbit[len(orbit) // 5 :].mean(axis=0))
        unravel = ravel_pytree(cell.initial_state())[1]
        J = np.asarray(jacobian(cell, unravel(middle), jnp.asarray(mean_x)))
    fixed, remark = _fixed(net, mean_x, orbit, size, quick, tell)
    return Checkup(
        name=name,
        network=description(net),
        heard=heard or f"{drive.sequences} sequence(s) of {drive.time} steps, as given",
        quick=quick,
        horizon=panel,
        fixed=fixed,
        fixed_remark=remark,
        eigenvalues=np.linalg.eigvals(J).astype(complex),
        singular=_singular(net),
        fourier=_fourier(net),
        orbit=orbit,
        taken=taken,
    )


def description(net: Recurrent) -> str:
    """A network in a few words."""
    layers = net.cell.cells if isinstance(net.cell, Stack) else (net.cell,)
    kinds = " + ".join(type(layer).__name__ for layer in layers)
    parts = [f"{kinds}, state of {dimension(net.cell)} numbers"]
    if (width := input_size(net.cell)) is not None:
        parts.append(f"{width} inputs")
    if net.embedding is not None:
        parts.append(f"{net.embedding.shape[0]} tokens")
    if net.W_y is not None:
        parts.append(f"{net.W_y.shape[0]} outputs")
    return ", ".join(parts)


def _fixed(net, mean_x, orbit, size, quick, tell):
    if quick and size > LARGE // 4:
        return (
            (),
            f"not looked for: {size} state variables are too many for a quick look",
        )
    tell("fixed and slow points")
    starts = 4 if size > LARGE else 8 if quick else 24
    steps = 30 if size > LARGE else 100
    near = orbit[len(orbit) // 5 :]
    return fixed_points(net, mean_x, starts=starts, near=near, steps=steps), ""


def _matrices(net: Recurrent) -> dict[str, np.ndarray]:
    found = {}
    for path, leaf in jax.tree_util.tree_leaves_with_path(as_numpy_floats(net)):
        if getattr(leaf, "ndim", 0) == 2:
            found[jax.tree_util.keystr(path).lstrip(".")] = leaf
    return found


def as_numpy_floats(tree: Any) -> Any:
    """The arrays of a network as float64 NumPy arrays."""
    with double():
        return jax.tree.map(
            lambda leaf: np.asarray(leaf) if hasattr(leaf, "ndim") else leaf,
            as_double(tree),
        )


def _singular(net: Recurrent) -> dict[str, np.ndarray]:
    """Singular values of each weight matrix, gate by gate where there are gates."""
    found = {}
    for name, W in _matrices(net).items():
        if name.endswith("embedding") or np.iscomplexobj(W):
            continue
        gates = _gates(net, name, W)
        for part, block in zip(gates, np.split(W, len(gates)), strict=True):
            found[f"{name}{part}"] = np.linalg.svd(block, compute_uv=False)
    return found


def _gates(net: Recurrent, name: str, W: np.ndarray) -> tuple[str, ...]:
    layers = net.cell.cells if isinstance(net.cell, Stack) else (net.cell,)
    kinds = {type(layer).__name__ for layer in layers}
    if "W_h" in name and W.shape[0] == 4 * W.shape[1] and "LSTM" in kinds:
        return (" i", " f", " g", " o")
    if "W_h" in name and W.shape[0] == 3 * W.shape[1] and "GRU" in kinds:
        return (" r", " z", " n")
    return ("",)


def _fourier(net: Recurrent) -> dict[str, np.ndarray]:
    """Energy by frequency along tokens (embedding), inputs and outputs."""
    found = {}
    for name, W in _matrices(net).items():
        if np.iscomplexobj(W):
            continue
        along = W.T if "W_x" in name else W
        if not (name.endswith(("embedding", "W_y")) or "W_x" in name) or len(along) < 8:
            continue
        energy = energies(along - along.mean(axis=0))
        found[name] = energy / max(energy.sum(), 1e-300)
    return found
