"""Where a result comes from: the code, the versions, the configuration, the command.

`fingerprint` is what a result depends on. Two results with one fingerprint were
made by the same lines of code from the same configuration and seed.
"""

import dataclasses
import datetime
import functools
import hashlib
import importlib.metadata
import os
import pathlib
import platform
import sys
from collections.abc import Mapping
from typing import Any

from .. import __version__
from .canonical_json import json_bytes, plain


PACKAGES = (
    "jax", "jaxlib", "numpy", "scipy", "equinox", "optax", "diffrax", "llvmlite", "cvxpy",
    "clarabel", "python-flint", "xarray", "zarr", "matplotlib",
)  # fmt: skip


def configuration(config: Any) -> Any:
    """A profile's configuration as plain values."""
    return plain(
        dataclasses.asdict(config)
        if dataclasses.is_dataclass(config) and not isinstance(config, type)
        else config
    )


def versions() -> dict[str, str]:
    """The versions of what the numbers depend on, as far as it is installed."""
    found = {"python": platform.python_version(), "remanence": __version__}
    for name in PACKAGES:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


@functools.cache
def source() -> str:
    """The digest of the package's own source, command line and web left out."""
    package = pathlib.Path(__file__).parents[1]
    total = hashlib.sha256()
    for file in sorted(package.rglob("*.py")):
        name = file.relative_to(package).as_posix()
        if not name.startswith(("cli/", "web/")):
            total.update(name.encode() + b"\0" + file.read_bytes())
    return total.hexdigest()


def _data() -> list[tuple[str, int]]:
    """Names and sizes of the files that `REMANENCE_DATA` offers."""
    folder = os.environ.get("REMANENCE_DATA")
    if not folder:
        return []
    root = pathlib.Path(folder)
    return [
        (file.relative_to(root).as_posix(), file.stat().st_size)
        for file in sorted(root.rglob("*"))
        if file.is_file()
    ]


def fingerprint(name: str, config: Any, seed: int) -> str:
    """The digest of everything that a study's numbers depend on."""
    return hashlib.sha256(
        json_bytes([name, configuration(config), seed, source(), versions(), _data()])
    ).hexdigest()


def _arithmetic() -> dict[str, Any]:
    """On what, and in which precision, the numbers were computed."""
    import jax  # a result is written after a run, so JAX is there already

    from ..train.identity import processor

    device = jax.devices()[0]
    wide = jax.config.jax_enable_x64  # pyright: ignore[reportAttributeAccessIssue]
    return {
        "device": " ".join(dict.fromkeys((device.platform, device.device_kind))),
        "processor": processor(),
        # Measurements widen themselves; this is what everything else ran in.
        "precision": {
            "measurements": "float64",
            "otherwise": "float64" if wide else "float32",
        },
    }


def provenance_in_words(known: Mapping[str, Any]) -> dict[str, str]:
    """Where a result comes from, a line a fact, for a page or a terminal."""
    listed = lambda value: (
        ", ".join(f"{name} {item}" for name, item in value.items())
        if isinstance(value, Mapping)
        else str(value or "unknown")
    )
    machine = [known.get(k) for k in ("device", "processor", "machine", "system")]
    return {
        "command": str(known.get("command", "unknown")),
        "finished": f"{known.get('finished', 'unknown')} (UTC), after "
        f"{known.get('seconds', '?')} s",
        "configuration": listed(known.get("configuration")),
        "versions": listed(known.get("versions")),
        "precision": listed(known.get("precision")),
        "device": ", ".join(str(part) for part in machine if part),
        "sweeps": str(known.get("sweeps", "unknown")),
        "code": str(known.get("code", "unknown")),
    }


def provenance(
    *,
    name: str,
    profile: str,
    config: Any,
    seed: int,
    command: str,
    seconds: float,
    time_limit: float | None,
    sweeps: str = "on this machine",
) -> dict[str, Any]:
    """Everything but the digests of the files, which the store adds.

    Device and processor are of the machine that asked; `sweeps` says who computed those.
    """
    return {
        "study": name,
        "profile": profile,
        "configuration": configuration(config),
        "seed": seed,
        "command": command,
        "finished": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "seconds": round(seconds, 2),
        "time_limit": time_limit,
        "sweeps": sweeps,
        "versions": versions(),
        "code": source(),
        **_arithmetic(),
        "machine": platform.machine(),
        "system": sys.platform,
        "fingerprint": fingerprint(name, config, seed),
    }
