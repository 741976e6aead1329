"""How much memory a checkup takes, estimated before it starts."""

import os
import pathlib
from typing import Any

import equinox as eqx
import numpy as np

from ..cells import dimension
from .acting_inputs import acting_inputs


PROGRAMS = 500_000_000  # bytes of the interpreter, JAX and compiled programs
GATHERED = 48 * 257  # inputs kept for the gradients, from that many places and lags


def refuse_too_large(net: Any, shape: tuple[int, int, int], k: int | None = None) -> None:
    """Refuse inputs of `sequences x time x width` whose checkup cannot fit."""
    needed, free = estimated_bytes(net, shape, k), available_bytes()
    if free is not None and needed > free:
        extent = " x ".join(f"{n:,}" for n in shape)
        raise ValueError(
            f"a checkup of inputs of shape {extent} takes about {needed / 1e9:,.1f} GB, and "
            f"{free / 1e9:,.1f} GB are free; fewer steps (--steps) would do"
        )


def extent(net: Any, values: np.ndarray) -> tuple[int, int, int]:
    """The sequences, steps and numbers a step of inputs or tokens."""
    shape = values.shape
    if np.issubdtype(values.dtype, np.integer) and net.embedding is not None:
        shape = (*shape, net.embedding.shape[1])
    sequences, time, width = (1, 1, 1, *shape)[-3:]
    return sequences, time, width


def estimated_bytes(net: Any, shape: tuple[int, int, int], k: int | None = None) -> int:
    """The largest arrays of a checkup in double precision, as many copies as were seen."""
    sequences, time, width = shape
    size = dimension(net.cell)
    outputs = eqx.filter_eval_shape(net.read, net.cell.initial_state()).size
    acting = acting_inputs(net, width)
    steps = sequences * time * (width + 6 * acting + 6 * size + 5 * outputs)
    frames = 3 * sequences * size * (size if k is None else k) + 8 * size * size
    return PROGRAMS + 8 * (steps + frames + GATHERED * acting)


def available_bytes() -> int | None:
    """Memory that a process may still take, by the kernel and by its group; None if unknown."""
    found = []
    try:
        lines = pathlib.Path("/proc/meminfo").read_text().splitlines()
        found += [1024 * int(s.split()[1]) for s in lines if s.startswith("MemAvail")]
        group = pathlib.Path("/sys/fs/cgroup/memory.max")
        if group.exists() and (limit := group.read_text().strip()).isdigit():
            used = group.with_name("memory.current").read_text()
            found.append(int(limit) - int(used))
    except (OSError, ValueError, IndexError):
        pass
    if not found and hasattr(os, "sysconf") and "SC_PHYS_PAGES" in os.sysconf_names:
        found.append(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    return min(found, default=None)
