"""Labelled arrays as files that everything reads: CSV and NetCDF.

Variables that share their axes share a CSV table. NetCDF is the classic format
(version 3), which knows neither complex numbers nor long integers: a complex
variable becomes two, a long integer that does not fit becomes a float.
"""

from typing import Any

import numpy as np
import xarray as xr


def as_dataset(data: Any) -> xr.Dataset | None:
    """A dataset from a dataset, an array, or named columns; None from nothing."""
    if data is None or isinstance(data, xr.Dataset):
        return data
    if isinstance(data, xr.DataArray):
        return data.to_dataset(name=data.name or "value")
    columns: dict[str, Any] = {}
    for name, values in dict(data).items():
        array = np.asarray(values)
        axes = tuple(
            f"axis{n}_{size}" if array.ndim > 1 else f"row_{size}"
            for n, size in enumerate(array.shape)
        )
        columns[str(name)] = (axes, array)
    return xr.Dataset(columns)


def _group(dataset: xr.Dataset) -> dict[tuple[str, ...], list[str]]:
    groups: dict[tuple[str, ...], list[str]] = {}
    for name, variable in dataset.data_vars.items():
        groups.setdefault(tuple(map(str, variable.dims)), []).append(str(name))
    return groups


def csv_tables(dataset: xr.Dataset) -> dict[str, str]:
    """CSV texts by suffix: "" alone, or named by their axes where axes differ."""
    tables = {}
    groups = _group(dataset)
    for axes, names in groups.items():
        part = dataset[names]
        if axes:
            frame = part.to_dataframe(dim_order=list(axes)).reset_index()
            frame = frame[[c for c in frame.columns if not str(c).startswith("row_")]]
            text = frame.to_csv(index=False, float_format="%.10g", lineterminator="\n")
        else:
            text = ",".join(names) + "\n"
            text += ",".join(str(part[name].item()) for name in names) + "\n"
        tables["" if len(groups) == 1 else "-".join(axes) or "scalars"] = text
    return tables


def _classic(variable: xr.Variable) -> xr.Variable:
    if variable.dtype.kind in "iu" and variable.dtype.itemsize > 4:
        fits = variable.size == 0 or np.abs(variable.values).max() < 2**31
        return variable.astype(np.int32 if fits else np.float64)
    if variable.dtype.kind in "OU":
        return variable.astype(np.str_)
    if variable.dtype.kind == "u":
        return variable.astype(np.int32)
    if variable.dtype == np.float16:
        return variable.astype(np.float32)
    return variable


def netcdf_bytes(dataset: xr.Dataset) -> bytes:
    """The dataset as a classic NetCDF file."""
    variables: dict[str, xr.Variable] = {}
    for name, variable in dataset.variables.items():
        if variable.dtype.kind == "c":
            variables[f"{name}_real"] = variable.real
            variables[f"{name}_imag"] = variable.imag
        else:
            variables[str(name)] = _classic(variable)
    attributes = {
        key: value
        for key, value in dataset.attrs.items()
        if isinstance(value, str | int | float)
    }
    plain = xr.Dataset(
        {
            name: xr.Variable(variable.dims, variable.values)
            for name, variable in variables.items()
        },
        attrs=attributes,
    )
    return bytes(plain.to_netcdf(engine="scipy", format="NETCDF3_CLASSIC"))
