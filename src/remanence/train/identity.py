"""What a run is: a digest of everything that its bits depend on.

Two runs with equal digests compute the same numbers, so one may continue the
other. A digest sees through closures: a loss that closes over another learning
rate, or a lane over another number of units, is another run.
"""

import dataclasses
import functools
import hashlib
import importlib.metadata
import os
import pathlib
import platform
import types
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from .. import __version__, FOLDERS


PACKAGE = pathlib.Path(__file__).parents[1]
ENGINE = ("_[a-z]*.py", *FOLDERS[: FOLDERS.index("report")])
"""The parts of the package that can change what a lane or a training computes."""
HARMLESS = ("--xla_cpu_multi_thread_eigen", "--xla_force_host_platform_device_count")
"""Flags that say where the work is done, not what is computed."""
LIBRARIES = ["jax", "jaxlib", "numpy", "equinox", "optax", "diffrax"]


def digest(thing: Any) -> str:
    """A sha256 of arrays, records, functions with their closures, and plain values."""
    state = hashlib.sha256()
    _feed(state, thing, {})
    return state.hexdigest()


def _feed(state: Any, thing: Any, seen: dict[int, Any]) -> None:
    put = lambda *words: state.update(("\0".join(map(str, words)) + "\0").encode())
    if id(thing) in seen:  # functions may call each other in a circle
        return put("again")
    kind = type(thing)
    if kind in (type(None), bool, int, float, complex, str, bytes, type(...)):
        return put(kind.__name__, repr(thing))
    if isinstance(thing, jax.Array) and jnp.issubdtype(thing.dtype, jax.dtypes.prng_key):
        put("key", thing.dtype)
        thing = jax.random.key_data(thing)
    if isinstance(thing, jax.Array | np.ndarray | np.generic):
        array = np.asarray(thing)
        put("array", array.dtype.str, array.shape)
        return state.update(np.ascontiguousarray(array).tobytes())
    if hasattr(thing, "__wrapped__"):
        return _feed(state, thing.__wrapped__, seen)
    if isinstance(thing, functools.partial):
        parts = (thing.func, thing.args, thing.keywords)
    elif isinstance(thing, types.MethodType):
        parts = (thing.__func__, thing.__self__)
    elif isinstance(thing, types.FunctionType):
        seen[id(thing)] = thing
        parts = _parts_of_function(thing)
    elif isinstance(thing, types.CodeType):
        parts = (thing.co_code, thing.co_consts, thing.co_names, thing.co_varnames)
    elif isinstance(thing, type | types.ModuleType):
        return put("named", getattr(thing, "__module__", ""), thing.__name__)
    elif isinstance(thing, dict):
        items = ((digest(key), value) for key, value in thing.items())
        parts = tuple(sorted(items, key=lambda item: item[0]))
    elif isinstance(thing, set | frozenset):
        parts = tuple(sorted(digest(part) for part in thing))
    elif isinstance(thing, tuple | list | range):
        parts = tuple(thing)
    elif dataclasses.is_dataclass(thing):
        fields = dataclasses.fields(thing)
        parts = tuple((field.name, getattr(thing, field.name, None)) for field in fields)
    elif hasattr(thing, "__dict__") and not is_installed(kind):
        seen[id(thing)] = thing
        parts = tuple(sorted(vars(thing).items()))
    else:
        parts = (getattr(thing, "__name__", ""),)
    put(kind.__module__, kind.__qualname__, len(parts))
    for part in parts:
        _feed(state, part, seen)
    return None


def _parts_of_function(function: types.FunctionType) -> tuple[Any, ...]:
    # Cells without content, of names that are not bound yet, equal an empty one.
    closure, empty = function.__closure__ or (), types.CellType()
    cells = ["empty" if cell == empty else cell.cell_contents for cell in closure]
    own = (function.__code__, function.__defaults__, function.__kwdefaults__)
    parts = (function.__qualname__, *own, *cells)
    if is_installed(function):
        return (function.__module__, *parts)
    # A user's script: what its functions take from the module belongs to them too.
    # (The package's own modules are covered by the hash of their code.)
    names = sorted(set(function.__code__.co_names) & function.__globals__.keys())
    return (*parts, *((name, function.__globals__[name]) for name in names))


def is_installed(thing: Any) -> bool:
    """Is it part of this package or of an installed library, not of a user's script?"""
    home = getattr(getattr(thing, "__code__", None), "co_filename", "")
    root = (getattr(thing, "__module__", "") or "").split(".")[0]
    return (
        root in ("remanence", "builtins", "jax", "jaxlib", "numpy", "optax", "equinox")
        or "site-packages" in home
        or home.startswith("<frozen")
    )


@functools.cache
def code_hash(*parts: str) -> str:
    """A sha256 of the package's source files; of these folders and files only, if named."""
    state = hashlib.sha256()
    roots = [root for part in parts or ("*",) for root in PACKAGE.glob(part)]
    files = {path for root in roots for path in (root.rglob("*.py") if root.is_dir() else [root])}
    for path in sorted(path for path in files if path.suffix == ".py"):
        state.update(f"{path.relative_to(PACKAGE).as_posix()}\0".encode())
        state.update(hashlib.sha256(path.read_bytes()).digest())
    return state.hexdigest()


@functools.cache
def versions() -> dict[str, str]:
    """The versions of this package and of the libraries that decide the bits."""
    found = {name: importlib.metadata.version(name) for name in LIBRARIES}
    return {"remanence": __version__, **found}


def environment(function: Any = None) -> dict[str, Any]:
    """Where the bits come from: code, versions, device and precision.

    `function` adds the package folder or file in which it is defined.
    """
    root, *home = (getattr(function, "__module__", None) or "").split(".")[:3]
    own = "/".join(home) if root == "remanence" else ""
    own += "" if not own or (PACKAGE / own).is_dir() else ".py"
    device, flags = jax.devices()[0], os.environ.get("XLA_FLAGS", "").split()
    return {
        "code": code_hash(*ENGINE, *([own] if own else [])),
        "versions": versions(),
        "device": f"{device.platform} {device.device_kind}",
        "processor": processor(),
        "xla_flags": " ".join(sorted(f for f in flags if not f.startswith(HARMLESS))),
        "x64": bool(jax.config.jax_enable_x64),  # pyright: ignore[reportAttributeAccessIssue]
    }


@functools.cache
def processor() -> str:
    """The model of the processor: XLA writes other code for other models."""
    info = pathlib.Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.is_file() else []
    found = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return (found or [platform.processor() or platform.machine()])[0]
