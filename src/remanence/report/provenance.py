"""Where a result comes from: the code, the versions, the configuration, the command.

`fingerprint` is what a result depends on. Two results with one fingerprint were
made by the same lines of code from the same configuration and seed.
"""

import dataclasses
import datetime
import hashlib
import importlib.metadata
import os
import pathlib
import platform
import sys
from collections.abc import Mapping
from typing import Any

from .. import FOLDERS
from .canonical_json import json_bytes, plain
from .study import Bench


ALSO = ("scipy", "python-flint", "xarray", "zarr", "matplotlib")
"""Libraries that a result depends on, beside those that decide the bits of a run."""


def configuration(config: Any) -> Any:
    """A profile's configuration as plain values."""
    return plain(dataclasses.asdict(config))


def versions() -> dict[str, str]:
    """The versions of what the numbers depend on."""
    from ..train.identity import versions as of_the_bits

    others = {name: importlib.metadata.version(name) for name in ALSO}
    return {"python": platform.python_version()} | of_the_bits() | others


def source() -> str:
    """The digest of the package's own source, command line and web left out."""
    from ..train.identity import code_hash

    return code_hash("_[a-z]*.py", *FOLDERS[: FOLDERS.index("web")])


def _data() -> list[tuple[str, int]]:
    """Names and sizes of the files that `REMANENCE_DATA` offers."""
    root = os.environ.get("REMANENCE_DATA", "")
    files = [path for path in pathlib.Path(root).rglob("*") if path.is_file()] if root else []
    return [(path.relative_to(root).as_posix(), path.stat().st_size) for path in sorted(files)]


def fingerprint(name: str, config: Any, seed: int) -> str:
    """The digest of everything that a study's numbers depend on."""
    return hashlib.sha256(
        json_bytes([name, configuration(config), seed, source(), versions(), _data()])
    ).hexdigest()


def provenance_in_words(known: Mapping[str, Any]) -> dict[str, str]:
    """Where a result comes from, a line a fact, for a page or a terminal."""
    listed = lambda value: (
        ", ".join(f"{name} {item}" for name, item in value.items())
        if isinstance(value, Mapping)
        else str(value)
    )
    of_the_files = ("files", "figures", "thumbnail")
    return {k: listed(v) for k, v in known.items() if k not in of_the_files}


def provenance(
    study: str,
    config: Any,
    bench: Bench,
    *,
    command: str,
    seconds: float,
    sweeps: str = "on this machine",
) -> dict[str, Any]:
    """Everything but the digests of the files, which are added when they are written.

    Device and processor are of the machine that asked; `sweeps` says who computed those.
    """
    from ..train.identity import environment

    known = environment()
    return {
        "study": study,
        "profile": bench.profile,
        "configuration": configuration(config),
        "seed": bench.seed,
        "command": command,
        "finished": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "seconds": round(seconds, 2),
        "time_limit": bench.time_limit,
        "sweeps": sweeps,
        "versions": versions(),
        "code": source(),
        "device": known["device"],
        "processor": known["processor"],
        # Measurements widen themselves; this is what everything else ran in.
        "precision": {
            "measurements": "float64",
            "otherwise": "float64" if known["x64"] else "float32",
        },
        "machine": platform.machine(),
        "system": sys.platform,
        "fingerprint": fingerprint(study, config, bench.seed),
    }
