r"""The cross table: networks of every document down, every measurement across.

A study offers its networks by putting `cross_table([...])` under `data["cross"]`.
Each row is one network; a measurement that was not made, or has no meaning for
that network, is left out and shown as a dash.

>>> row = Row(network="rotation, (0001)⁺", dimension=2, largest_exponent=0.0)
>>> table = cross_table([row])
>>> table.sizes["network"], float(table["dimension"][0])
(1, 2.0)
>>> cells(table)[0][:3]
['rotation, (0001)⁺', '2', '0']
"""

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np

from .tables import Dataset


Number = float | int | np.floating | np.integer | None


@dataclasses.dataclass(frozen=True, kw_only=True)
class Row:
    """What was measured on one network; None where nothing was."""

    network: str
    dimension: Number = None
    """Of the state."""
    largest_exponent: Number = None
    """Nats per step."""
    horizon: Number = None
    """Steps until the slowest direction has faded by a factor e; inf if it never does."""
    certified_rate: Number = None
    """Proved contraction per step; 1 or more proves nothing."""
    window: Number = None
    """Inputs that suffice for a state error of 1e-3, proved."""
    rank: Number = None
    """Of the recurrent matrix, as far as the task needs it."""
    key_frequencies: str = ""
    """The frequencies it lives on, in words."""


COLUMNS = {
    "dimension": "dimension",
    "largest_exponent": "largest exponent (nats/step)",
    "horizon": "horizon (steps)",
    "certified_rate": "certified rate (per step)",
    "window": "window (steps)",
    "rank": "rank",
    "key_frequencies": "key frequencies",
}
"""The fields of a row and their headings, in order."""


def cross_table(networks: Sequence[Row]) -> Dataset:
    """The rows as one dataset along `network`, NaN where nothing was measured."""
    columns = {
        name: (
            "network",
            np.array([row.key_frequencies for row in networks], dtype=np.str_)
            if name == "key_frequencies"
            else np.array([getattr(row, name) for row in networks], dtype=np.float64),
        )
        for name in COLUMNS
    }
    names = np.array([row.network for row in networks], dtype=np.str_)
    import xarray as xr

    return xr.Dataset(columns, coords={"network": names})


def cells(table: Dataset) -> list[list[str]]:
    """The rows of a stored table in words, the network first, a dash where nothing was."""
    if "network" not in table.dims:
        raise ValueError("a cross table needs the dimension 'network'")
    columns = [table[name].values if name in table else None for name in COLUMNS]
    return [
        [str(network), *("–" if c is None else _word(c[place]) for c in columns)]
        for place, network in enumerate(table["network"].values)
    ]


def _word(value: Any) -> str:
    if isinstance(value, str):
        return value or "–"
    return "–" if np.isnan(value) else f"{value:.4g}".replace("inf", "∞")
