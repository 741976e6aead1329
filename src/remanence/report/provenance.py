"""Where a result comes from: the code, the versions, the configuration, the command."""

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


def versions() -> dict[str, str]:
    """The versions of what the numbers depend on."""
    from ..train.identity import versions as of_the_bits

    others = {name: importlib.metadata.version(name) for name in ALSO}
    return {"python": platform.python_version()} | of_the_bits() | others


def source() -> str:
    """The digest of the package's own source, command line and web left out."""
    from ..train.identity import code_hash

    return code_hash("_[a-z]*.py", *FOLDERS[: FOLDERS.index("web")])


def fingerprint(name: str, config: Any, seed: int) -> str:
    """The digest of everything that a study's numbers depend on: code, configuration and seed."""
    root = os.environ.get("REMANENCE_DATA", "")
    files = [path for path in pathlib.Path(root).rglob("*") if path.is_file()] if root else []
    data = [(path.relative_to(root).as_posix(), path.stat().st_size) for path in sorted(files)]
    identity = [name, dataclasses.asdict(config), seed, source(), versions(), data]
    return hashlib.sha256(json_bytes(identity)).hexdigest()


def provenance_in_words(known: Mapping[str, Any]) -> dict[str, str]:
    """Where a result comes from, a line a fact, for a page or a terminal."""
    left_out = ("files", "figures", "thumbnail")
    told = {name: value for name, value in known.items() if name not in left_out}
    return {_plain(name): _in_words(value) for name, value in told.items() if value is not None}


def _plain(name: str) -> str:
    return name.replace("_", " ")


def _in_words(value: Any, depth: int = 0) -> str:
    if isinstance(value, Mapping) and depth < 5:
        pairs = [f"{_plain(name)} {_in_words(item, depth + 1)}" for name, item in value.items()]
        return f"({', '.join(pairs)})" if depth else ", ".join(pairs)
    if isinstance(value, list) and depth < 5:
        words = [_in_words(item, depth + 1) for item in value]
        nested = [isinstance(item, list) for item in value]
        bracketed = (f"({w})" if deep else w for w, deep in zip(words, nested, strict=True))
        return " ".join(bracketed) or "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "none" if value is None else str(value)


def provenance(
    study: str,
    config: Any,
    bench: Bench,
    *,
    command: str,
    seconds: float,
    sweeps: str = "on this machine",
) -> dict[str, Any]:
    """All but the digests of the files; device and processor are of the machine that asked."""
    from ..train.identity import environment

    known = environment()
    # Measurements widen themselves; `otherwise` is what everything else ran in.
    otherwise = "float64" if known["x64"] else "float32"
    return {
        "study": study,
        "profile": bench.profile,
        "configuration": plain(dataclasses.asdict(config)),
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
        "precision": {"measurements": "float64", "otherwise": otherwise},
        "machine": platform.machine(),
        "system": sys.platform,
        "fingerprint": fingerprint(study, config, bench.seed),
    }
