"""remanence: a laboratory for memory in recurrent networks.

The names below are the whole public surface; everything else is reached through
its folder. They are imported on first use, so that `import remanence` is quick
and does not start JAX.
"""

import importlib


__version__ = "0.1.0"

_HOME = {
    "memorize": "construct",
    "minimal_dimension": "construct",
    "informed_residual": "construct",
    "load": "formats",
    "save": "formats",
    "from_torch": "formats",
    "to_torch": "formats",
    "lyapunov_spectrum": "measure",
    "contraction": "measure",
    "truncation_window": "measure",
    "memory_horizon": "measure",
    "truncate": "nets",
    "checkup": "checkup",
    "reproduce": "studies",
}
_FOLDERS = (
    "cells",
    "nets",
    "formats",
    "tasks",
    "measure",
    "construct",
    "train",
    "sweeps",
    "report",
    "studies",
)

__all__ = ["__version__", *_HOME, *_FOLDERS]  # pyright: ignore[reportUnsupportedDunderAll]


def __getattr__(name: str):
    if name in _FOLDERS:
        return importlib.import_module(f".{name}", __name__)
    if name in _HOME:
        return getattr(importlib.import_module(f".{_HOME[name]}", __name__), name)
    raise AttributeError(f"module 'remanence' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
