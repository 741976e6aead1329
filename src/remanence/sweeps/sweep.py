"""Many runs as one: a pure lane over a grid of named axes, as an `xarray.Dataset`."""

import contextlib
import math
import pathlib
import time
import types
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import jax
import numpy as np
import xarray as xr

from .._stop import check_stop
from ..train.identity import digest
from ..train.loop import as_jax
from ..train.progress import progress_bar
from ..train.store import opened_store
from .cluster import connected
from .grid import Grid, grid
from .local import Local
from .worker import LostError, Unfinished, Work


def sweep(
    lane: Callable[[dict[str, Any], Any, Any], Mapping[str, Any]],
    axes: Mapping[str, Iterable[Any]],
    *,
    seed: int = 0,
    static: Iterable[str] = (),
    chunk: int = 16,
    dims: Mapping[str, tuple[str, ...]] | None = None,
    data: Any = None,
    folder: str | pathlib.Path | None = None,
    title: str = "",
    quiet: bool = True,
    time_limit: float | None = None,
    on: Any = None,
    x64: bool = False,
    fast_compile: bool = False,
    cores: int | None = None,
) -> xr.Dataset:
    """`lane(point, key, data)` at every point of the grid, labelled by its axes.

    `lane` is pure and returns named arrays; it is batched by `vmap` over chunks of at
    most `chunk` lanes. Axes in `static` reach it as Python values, one program each;
    the others as traced numbers. `key` is `fold_in(key(seed), point["seed"])` if there
    is a `seed` axis, so that lanes differing only elsewhere draw the same numbers,
    and by position otherwise. `dims` names the trailing dimensions of a result.

    With a `folder` each chunk is stored as it ends, and a killed sweep continues to
    the same bits. `time_limit` (seconds) stops between chunks with `Unfinished`.
    `on` is the address of a running Dask scheduler, a Dask client or cluster, whose
    workers then compute the chunks, to the same bits. Without it all cores are used that
    this process may use, or at most `cores` of them, by XLA inside a chunk and by further
    processes. `fast_compile` compiles in half the time; it may change the last bits.

    >>> def lane(point, key, data):
    ...     return {"square": point["x"] ** 2}
    >>> sweep(lane, {"x": [1.0, 2.0, 3.0]}).square.values.tolist()
    [1.0, 4.0, 9.0]
    """
    whole = grid(axes, static=static, chunk=chunk, seed=seed)
    end = math.inf if time_limit is None else time.monotonic() + time_limit
    dims = {name: tuple(labels) for name, labels in (dims or {}).items()}
    if cores is not None and (type(cores) is not int or cores < 1):
        raise ValueError(f"cores must be a whole number from 1 on, got {cores!r}")
    with jax.enable_x64(x64):
        work = Work(whole, lane, as_jax(data), x64, fast_compile)
        plan = {
            "axes": list(whole.axes),
            **{f"axis {name}": list(values) for name, values in whole.axes.items()},
            "static": list(whole.static),
            "chunk": chunk,
            "seed": seed,
            "x64": x64,
            "lane": digest(lane),
            "data": digest(work.data),
            **({"fast_compile": True} if fast_compile else {}),
        }
        with contextlib.ExitStack() as scope:
            local = on is None
            engine = Local(work, cores) if local else scope.enter_context(connected(work, on))
            parts: dict[str, dict[str, np.ndarray]] = {}  # without a folder
            store: Any = types.SimpleNamespace(get=parts.get, put=parts.__setitem__, notices=[])
            if folder is not None:
                folder = pathlib.Path(folder)
                store = scope.enter_context(opened_store(folder, plan, here=engine.environment))
            todo = [part for part in whole.parts if store.get(part.name) is None]
            done = whole.total - sum(part.lanes for part in todo)
            counts: Any = {"total": whole.total, "done": done, "unit": "lanes"}
            show = scope.enter_context(progress_bar(title or "sweep", **counts, quiet=quiet))
            reason = "stopped at the time limit"
            late = lambda: check_stop() or time.monotonic() >= end
            try:
                for part, arrays in engine.compute(todo, late):
                    _check_names(arrays, whole, dims)
                    store.put(part.name, arrays)
                    done += part.lanes
                    show(done)
            except KeyboardInterrupt:
                stopped = Unfinished("stopped", done, whole.total, folder)
                raise KeyboardInterrupt(str(stopped)) from None
            except LostError as fault:
                reason = str(fault)
            if done < whole.total:
                raise Unfinished(reason, done, whole.total, folder)
            return _assembled(store, whole, dims)


def _check_names(
    arrays: Mapping[str, np.ndarray], grid: Grid, dims: Mapping[str, tuple[str, ...]]
) -> None:
    for name in arrays:
        if name in grid.axes:
            raise ValueError(f"the lane returns {name!r}, which is the name of an axis")
    for name, labels in dims.items():
        if name not in arrays:
            raise ValueError(f"dims names {name!r}, which the lane does not return")
        if len(labels) != (own := arrays[name].ndim - 1):
            raise ValueError(f"dims names {len(labels)} dimensions of {name!r}, which has {own}")


def _assembled(store: Any, grid: Grid, dims: Mapping[str, tuple[str, ...]]) -> xr.Dataset:
    """All parts in one dataset; only results are held, a part at a time beside them."""
    whole: dict[str, np.ndarray] = {}
    for part in grid.parts:
        arrays = store.get(part.name)
        if arrays is None:
            raise ValueError(f"{part.name} was damaged while the sweep ran; run it again")
        for name, array in arrays.items():
            shape = (grid.total, *array.shape[1:])
            if whole.setdefault(name, np.empty(shape, array.dtype)).shape != shape:
                raise ValueError(f"{name!r} has other sizes at other static points")
            whole[name][grid.lanes(part)] = array
    variables = {}
    for name, array in sorted(whole.items()):
        labels = dims.get(name) or tuple(f"{name}_{i}" for i in range(array.ndim - 1))
        variables[name] = (*grid.axes, *labels), array.reshape(*grid.shape, *array.shape[1:])
    attrs = {"notices": list(store.notices)} if store.notices else {}
    coords = {name: np.asarray(values) for name, values in grid.axes.items()}
    return xr.Dataset(variables, coords=coords, attrs=attrs)
