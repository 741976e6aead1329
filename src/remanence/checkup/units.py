r"""How long each unit holds its own value: $\tau_i = -1/\langle\log|\partial h'_i/\partial h_i|\rangle$.

The mean is over states visited. Units that hand their memory on hold it longer than each alone.
"""

import dataclasses
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree

from .._precision import double
from ..cells import output, Stack
from ..measure.drive import Drive


STATES = 64  # places at which the Jacobian is taken
LARGEST = 2048  # numbers in the state beyond which its Jacobian is too large


@dataclasses.dataclass(frozen=True)
class UnitTimescales:
    """The timescale of every unit of one layer, in steps."""

    layer: int
    timescales: np.ndarray  # inf where a unit does not fade by itself
    stderr: np.ndarray

    @property
    def longest(self) -> list[int]:
        """The units in the order of their timescales, the longest first."""
        return np.argsort(-self.timescales, kind="stable").tolist()


@eqx.filter_jit
def _own_slopes(cell: Any, states: Any, xs: Any) -> Any:
    r"""By layer the diagonal of $\partial h' / \partial h$ at each state, $h$ the last of its arrays.

    Of an LSTM's pair (h, c) this is c: its output is computed anew at every step.
    """
    unravel = ravel_pytree(cell.initial_state())[1]

    def of_layer(layer: Any, state: Any, x: Any) -> Any:
        (*others, own), structure = jax.tree.flatten(state)

        def step(flat: Any) -> Any:
            state = jax.tree.unflatten(structure, [*others, flat.reshape(own.shape)])
            return jax.tree.leaves(layer(state, x))[-1].ravel()

        return jnp.diagonal(jax.jacfwd(step)(own.ravel()))

    def diagonals(flat: Any, x: Any) -> list[Any]:
        found, whole = [], unravel(flat)
        states = whole if isinstance(cell, Stack) else (whole,)
        for layer, state in zip(layers_of(cell), states, strict=True):
            found.append(of_layer(layer, state, x))
            x = output(layer, layer(state, x))
        return found

    return jax.lax.map(lambda at: diagonals(*at), (states, xs))


def layers_of(cell: Any) -> tuple[Any, ...]:
    """The cells of a stack, or the one there is."""
    return cell.cells if isinstance(cell, Stack) else (cell,)


def unit_timescales(drive: Drive, states: np.ndarray, ends: np.ndarray) -> tuple[Any, ...]:
    """By layer, at `states` after their first fifth; none if these are too many, or no real numbers."""
    cell = drive.cell
    if states.shape[-1] > LARGEST or np.iscomplexobj(states):
        return ()
    time = np.arange(drive.time)
    row, at = np.nonzero((time > np.maximum(ends[:, None] // 5, 0)) & (time < ends[:, None]))
    every = np.linspace(0, len(row) - 1, min(STATES, len(row))).astype(int)
    row, at = row[every], at[every]
    with double():
        layers = _own_slopes(cell, states[row, at - 1], np.asarray(drive.xs)[row, at])
    return tuple(_timescales(number, np.asarray(of)) for number, of in enumerate(layers, 1))


def _timescales(layer: int, slopes: np.ndarray) -> UnitTimescales:
    """From slopes at several states."""
    logs = np.log(np.maximum(np.abs(slopes), 1e-304))  # a slope of 0 is the smallest float
    mean = logs.mean(axis=0)
    error = logs.std(axis=0, ddof=1) / np.sqrt(len(logs)) if len(logs) > 1 else 0 * mean
    fades, safe = mean < 0, np.where(mean < 0, mean, -1.0)
    times, stderr = np.where(fades, -1 / safe, np.inf), np.where(fades, error / safe**2, np.inf)
    return UnitTimescales(layer, times, stderr)
