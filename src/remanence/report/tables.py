"""Labelled arrays as files: zarr for the results, CSV and NetCDF for the figures.

The cross table has the networks of every document down and every measurement across; a
study offers its own by putting `cross_table([...])` under `data["cross"]`.
"""

import collections
import dataclasses
import math
import pathlib
import warnings
from collections.abc import Mapping, Sequence
from typing import Any, TYPE_CHECKING

import numpy as np

from .stored_result import DamagedResult


if TYPE_CHECKING:  # imported where it is used: a command that shows no table waits for none
    from xarray import Dataset
else:
    Dataset = Any


Number = float | int | np.floating | np.integer | None
LARGEST = 2**30  # bytes of one stored dataset that are read


def as_dataset(data: Any) -> Dataset | None:
    """A dataset from a dataset, an array, or named columns; None from nothing."""
    if data is None:
        return None
    import xarray as xr

    # Sorted by name: a run that read back some of its parts found them in another order.

    if isinstance(data, xr.DataArray):
        data = data.to_dataset(name=data.name or "value")
    if isinstance(data, xr.Dataset):
        return xr.Dataset(
            {name: data.variables[name] for name in sorted(data.data_vars, key=str)},
            {name: data.variables[name] for name in sorted(data.coords, key=str)},
            dict(sorted(data.attrs.items())),
        )
    columns: dict[str, Any] = {}
    for name, values in sorted(dict(data).items()):
        array = np.asarray(values)
        axes = [f"axis{n}_{size}" for n, size in enumerate(array.shape)]
        columns[str(name)] = (axes if array.ndim > 1 else [f"row_{n}" for n in array.shape], array)
    return xr.Dataset(columns)


def csv_tables(dataset: Dataset) -> dict[str, str]:
    """CSV texts by suffix: "" alone, or named by their axes where axes differ."""
    tables: dict[str, str] = {}
    groups = collections.defaultdict(list)
    for name, variable in dataset.data_vars.items():
        groups[tuple(map(str, variable.dims))].append(str(name))
    for axes, names in groups.items():
        part = dataset[names]
        if axes:
            frame = part.to_dataframe(dim_order=list(axes)).reset_index()
            frame = frame[[c for c in frame.columns if not str(c).startswith("row_")]]
            text = frame.to_csv(index=False, float_format="%.10g", lineterminator="\n")
        else:
            values = [str(part[name].item()) for name in names]
            text = f"{','.join(names)}\n{','.join(values)}\n"
        tables["" if len(groups) == 1 else "-".join(axes) or "scalars"] = text
    return tables


def netcdf_bytes(dataset: Dataset) -> bytes:
    """The dataset as a classic NetCDF file, which knows no complex numbers and no long integers."""
    import xarray as xr

    variables: dict[str, Any] = {}
    for name, variable in dataset.variables.items():
        found = xr.Variable(variable.dims, variable.values)
        if found.dtype.kind == "c":
            variables |= {f"{name}_real": found.real, f"{name}_imag": found.imag}
            continue
        long = found.dtype.kind in "iu" and np.any(np.abs(found.values) >= 2**31)
        small = found.dtype == np.float16
        variables[str(name)] = found.astype(np.float64) if long or small else found
    attributes = {k: v for k, v in dataset.attrs.items() if isinstance(v, str | int | float)}
    plain = xr.Dataset(variables, attrs=attributes)
    return bytes(plain.to_netcdf(engine="scipy", format="NETCDF3_CLASSIC"))


def write_data(data: Mapping[str, Dataset], path: pathlib.Path) -> None:
    """The datasets as groups of one zarr store (format 2)."""
    import zarr

    zarr.open_group(str(path), mode="w", zarr_format=2)
    for name, dataset in data.items():
        fresh = dataset.drop_encoding()
        words = [n for n, v in fresh.variables.items() if v.dtype.kind == "O"]
        fresh = fresh.assign({n: fresh[n].astype("U") for n in words})
        with warnings.catch_warnings():
            # Fixed-width strings have no specification in zarr 3; we write format 2.
            warnings.filterwarnings("ignore", module=r"zarr\..*")
            fresh.to_zarr(str(path), group=name, mode="w", zarr_format=2, consolidated=False)


def read_data(path: pathlib.Path, names: Sequence[str] | None = None) -> dict[str, Dataset]:
    """The datasets of a stored result, or those of them that are asked for, loaded."""
    import xarray as xr
    import zarr

    found = {}
    try:
        for name in sorted(zarr.open_group(str(path), mode="r").group_keys()):
            if names is None or name in names:
                dataset = xr.open_zarr(str(path), group=name, consolidated=False)
                if dataset.nbytes > LARGEST:
                    raise ValueError(f"{name} says that it has {dataset.nbytes:,} bytes")
                found[name] = dataset.load()
    except Exception as problem:  # a damaged store raises whatever its codecs raise
        why = " ".join(str(problem).split())[:200]
        raise DamagedResult(
            f"{path} is damaged: it cannot be read ({type(problem).__name__}: {why})"
        ) from None
    return found


@dataclasses.dataclass(frozen=True, kw_only=True)
class Row:
    """What was measured on one network; None where nothing was."""

    network: str
    dimension: Number = None  # of the state
    largest_exponent: Number = None  # nats per step
    certified_rate: Number = None  # proved contraction per step; 1 or more proves nothing
    window: Number = None  # inputs that suffice for a state error of 1e-3, proved
    rank: Number = None  # of the recurrent matrix, as far as the task needs it
    key_frequencies: str = ""  # the frequencies it lives on, in words

    @property
    def horizon(self) -> Number:
        """Steps until the slowest direction has faded by a factor e; inf if it never does."""
        top = self.largest_exponent
        if top is None or math.isnan(top):
            return None
        return -1 / top if top < 0 else math.inf


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
    import xarray as xr

    words = {"network", "key_frequencies"}
    kind = lambda name: np.str_ if name in words else np.float64
    values = lambda name: np.array([getattr(row, name) for row in networks], dtype=kind(name))
    columns = {name: ("network", values(name)) for name in COLUMNS}
    return xr.Dataset(columns, coords={"network": values("network")})


def cells(table: Dataset) -> list[list[str]]:
    """The rows of a stored table in words, the network first, a dash where nothing was."""
    if "network" not in table.dims:
        raise ValueError("a cross table needs the dimension 'network'")
    networks = table["network"].values
    columns = [table[name].values if name in table else [""] * len(networks) for name in COLUMNS]
    return [[str(row[0]), *map(_word, row[1:])] for row in zip(networks, *columns, strict=True)]


def _word(value: Any) -> str:
    if isinstance(value, str):
        return value or "–"
    return "–" if np.isnan(value) else f"{value:.4g}".replace("inf", "∞")
