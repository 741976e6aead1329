"""Experiment 5: where stability costs, on a delayed symbol, a memorised string and a sum."""

from typing import Any

import xarray as xr

from . import figures
from .addition import summed
from .boundary import copied
from .config import Config
from .parts import Parts
from .recital import recited
from .theory import short


SLACK = 0.01
"""Test batches are drawn: so far below a floor is their noise."""


def memory(config: Config, parts: Parts, evidence: dict, data: dict) -> list[Any]:
    """Losses of stable and free models over the length; the figure."""
    seed, rate = parts.bench.seed, config.copy_rate
    tables: dict[str, xr.Dataset] = {}
    asked = {
        "delayed symbol": lambda: copied(
            config.delays, steps=config.copy_steps, rate=rate, seed=seed
        ),
        "memorised string": lambda: recited(
            config.strings, steps=config.string_steps, rate=rate, seed=seed
        ),
        "adding problem": lambda: summed(
            config.sums, steps=config.sum_steps, rate=rate, seed=seed
        ),
    }
    sizes = (config.delays, config.strings, config.sums)
    for (name, make), size in zip(asked.items(), sizes, strict=True):
        if size:
            found = parts.kept(name, lambda make=make: make().to_dict())
            if found is not None:
                tables[name] = xr.Dataset.from_dict(found)
    if not tables:
        return []
    evidence["004.12"] = {name: _ends(table) for name, table in tables.items()}
    data |= {f"boundary_{name.split()[-1]}": table for name, table in tables.items()}
    return [figures.boundary_figure(tables)]


def _ends(table: xr.Dataset) -> dict[str, float]:
    """The longest case, and how far above its floor the worst stable loss stays."""
    (along,) = table["floor"].dims
    bounded, free = table["model"].values[0], table["model"].values[-1]
    held = table["loss"].sel(model=bounded)
    last = table.isel({along: -1})
    return {
        "length": int(last[along]),
        "stable": short(float(last["loss"].sel(model=bounded))),
        "free": short(float(last["loss"].sel(model=free))),
        "floor": short(float(last["floor"])),
        "chance": short(table.attrs["chance"]),
        "least_excess": short(float((held - table["floor"]).min()) + SLACK),
    }
