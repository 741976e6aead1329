r"""What a measurement is given: a map $\phi$ in float64 and the sequences that drive it."""

import dataclasses
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Int

from .._precision import as_double
from ..cells import input_size, Started
from ..nets.recurrent import Recurrent, rows_of_tokens


@dataclasses.dataclass(frozen=True)
class Drive:
    """A cell in float64 with its inputs as `sequences x time x width`, or alone."""

    cell: Any
    xs: Any
    ends: Int[np.ndarray, " sequences"]
    """How many steps each sequence has."""

    @property
    def sequences(self) -> int:
        """How many orbits are followed at once."""
        return len(self.ends)

    @property
    def time(self) -> int:
        """Their steps, padding included."""
        return int(self.ends[0]) if self.xs is None else self.xs.shape[1]


def driven(cell: Any, inputs: Any, *, steps: int | None = None, lengths: Any = None) -> Drive:
    """Check and convert a cell (or network) and its inputs; use inside `double()`."""
    inputs = None if inputs is None else _numbers(inputs)
    if isinstance(cell, Recurrent):
        if inputs is not None and np.issubdtype(inputs.dtype, np.integer):
            known = None if cell.embedding is None else np.asarray(cell.embedding)
            inputs = rows_of_tokens(known, inputs)
        cell = cell.cell
    _refuse_bad_weights(cell)
    cell = in_double(cell)
    if inputs is None:
        if steps is None or steps < 1:
            raise ValueError(f"a map without inputs needs steps, at least 1, got {steps}")
        if lengths is not None:
            raise ValueError("lengths go with inputs, and there are none")
        return Drive(cell, None, np.array([steps]))
    if steps is not None:
        raise ValueError("give inputs or steps, not both")
    xs = np.asarray(inputs, dtype=np.float64)
    if xs.ndim not in (2, 3):
        raise ValueError(
            "inputs must be time x width or sequences x time x width (tokens: whole "
            f"numbers), got shape {xs.shape} of {inputs.dtype}"
        )
    width = input_size(cell)
    if width is not None and xs.shape[-1] != width:
        raise ValueError(f"the cell takes {width} numbers a step, the inputs have {xs.shape[-1]}")
    many = xs.ndim == 3
    xs = xs if many else xs[None]
    if 0 in xs.shape[:2]:
        raise ValueError(f"the inputs are empty, of shape {xs.shape}")
    ends = np.full(len(xs), xs.shape[1])
    if lengths is not None:  # padding is not read, whatever it holds
        ends = _lengths(lengths, xs, many)
        xs = np.where(np.arange(xs.shape[1])[:, None] < ends[:, None, None], xs, 0.0)
    if not np.isfinite(xs).all():
        raise ValueError("the inputs hold NaN or infinite numbers")
    _refuse_no_step(cell, xs[0, 0])
    # Not jnp.asarray, which compiles a program for every shape.
    return Drive(cell, jax.device_put(xs), ends)


def in_double(cell: Any) -> Any:
    """A cell and its first state in double; use inside `double()`."""
    if not (callable(cell) and hasattr(cell, "initial_state")):
        raise ValueError(
            "a cell has __call__(h, x) and initial_state(), which "
            f"{type(cell).__name__} has not; from_torch reads modules of torch"
        )
    cell = as_double(cell)
    start = cell.initial_state()
    leaves = jax.tree.leaves(start)
    for kind in map(jnp.result_type, leaves):
        if not jnp.issubdtype(kind, jnp.floating):
            raise ValueError(
                f"the state holds {kind} numbers, and exponents are of real ones; "
                "a state of floating numbers would do (a complex one as two)"
            )
    if all(getattr(leaf, "dtype", None) == jnp.float64 for leaf in leaves):
        return cell
    # A user's own cell may name a precision, or give plain numbers.
    return Started(cell, jax.tree.map(lambda leaf: jnp.asarray(leaf, jnp.float64), start))


def network_in_double(net: Any) -> Recurrent:
    """A network (or bare cell) in double; use inside `double()`."""
    net = net if isinstance(net, Recurrent) else Recurrent(net)
    W_y, b_y, embedding, head = as_double((net.W_y, net.b_y, net.embedding, net.head))
    return Recurrent(in_double(net.cell), W_y, b_y, embedding, net.readout, head)


def refuse_fractions(**counts: Any) -> None:
    """Refuse what counts steps or directions and is no whole number; None is no count."""
    for name, count in counts.items():
        whole = isinstance(count, int | np.integer) and not isinstance(count, bool)
        if count is not None and not whole:
            raise ValueError(f"{name} must be a whole number, got {count!r}")


def _numbers(inputs: Any) -> np.ndarray:
    try:
        array = np.asarray(inputs)
    except ValueError:
        raise ValueError(
            "the inputs must be one array, got rows unlike; sequences of several "
            "lengths are padded, and lengths= gives how long each is"
        ) from None
    if array.dtype.kind in "cOSUMm":
        raise ValueError(f"the inputs must be real numbers, got {array.dtype}")
    return array


def _refuse_no_step(cell: Any, x: Any) -> None:
    """A cell of the user's own may not say how many numbers it reads."""
    h = cell.initial_state()
    try:
        following = eqx.filter_eval_shape(cell, h, x)
    except (TypeError, ValueError, IndexError) as problem:
        why = str(problem).partition("\n")[0]
        raise ValueError(
            f"the cell takes no step on an input of {x.size} numbers: {why}"
        ) from problem
    if shapes(following) != shapes(h):
        raise ValueError(
            f"a step must keep the state's shape, {shapes(h)} became {shapes(following)}"
        )
    if narrow := {str(leaf.dtype) for leaf in jax.tree.leaves(following)} - {"float64"}:
        raise ValueError(f"a step turns a state in double into {narrow.pop()}; double would do")


def shapes(tree: Any) -> list[tuple[int, ...]]:
    """The shapes of a state's arrays, in order."""
    return [np.shape(leaf) for leaf in jax.tree.leaves(tree)]


def _lengths(lengths: Any, xs: np.ndarray, many: bool) -> np.ndarray:
    lengths = np.asarray(lengths)
    if not many or lengths.shape != (xs.shape[0],):
        raise ValueError("lengths go with a batch of sequences, one length each")
    if not np.issubdtype(lengths.dtype, np.integer):
        raise ValueError(f"lengths must be whole numbers, got {lengths.dtype}")
    least, most, T = lengths.min(), lengths.max(), xs.shape[1]
    if least < 1 or most > T:
        raise ValueError(f"lengths must lie in 1 to {T}, got {least} to {most}")
    return lengths.astype(int)


def _refuse_bad_weights(cell: Any) -> None:
    """Refuse a cell with NaN or infinite weights, by the name of the first of them."""
    for path, leaf in jax.tree_util.tree_leaves_with_path(cell):
        if eqx.is_inexact_array_like(leaf) and not np.isfinite(np.asarray(leaf)).all():
            name = jax.tree_util.keystr(path).lstrip(".")
            raise ValueError(f"the weights {name} hold NaN or infinite numbers")


def start_state(cell: Any, h0: Any) -> Any:
    """The state to start from, in double: the cell's own, or `h0` if it fits."""
    own = cell.initial_state()
    if h0 is None:
        return own
    like = f"h0 must be like the cell's own state, arrays of shapes {shapes(own)}, got {shapes(h0)}"
    try:
        h = jax.tree.map(lambda leaf, given: jnp.asarray(given, leaf.dtype), own, h0)
    except (TypeError, ValueError):
        raise ValueError(like) from None
    if shapes(h) != shapes(own):
        raise ValueError(like)
    if not all(bool(jnp.isfinite(leaf).all()) for leaf in jax.tree.leaves(h)):
        raise ValueError("the initial state holds NaN or infinite numbers")
    return h
