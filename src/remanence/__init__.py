"""remanence: a laboratory for memory in recurrent networks.

The names below are the whole public surface; everything else is reached through
its folder. They are imported on first use, so that `import remanence` is quick
and does not start JAX.
"""

import importlib
import sys
import types


__version__ = "0.1.0"

_HOME = {
    "memorize": "subjects.memorization",
    "minimal_dimension": "subjects.memorization",
    "informed_residual": "subjects.fading_memory",
    "load": "formats",
    "recurrent_modules": "formats",
    "save": "formats",
    "record": "formats",
    "from_torch": "formats",
    "to_torch": "formats",
    "lyapunov_spectrum": "measure",
    "contraction": "measure",
    "replay_window": "measure",
    "truncation_window": "measure",
    "memory_horizon": "measure",
    "truncate": "nets",
    "checkup": "checkup",
    "monitor": "checkup",
    "reproduce": "subjects",
}
FOLDERS = (
    *("cells", "nets", "formats", "tasks", "measure", "train", "sweeps", "report", "checkup"),
    *("subjects", "web", "cli"),
)
"""The folders in the order of imports: each imports only from those before it."""

__all__ = ["__version__", *dict.fromkeys((*_HOME, *FOLDERS))]  # pyright: ignore[reportUnsupportedDunderAll]


class _Package(types.ModuleType):
    """`remanence.checkup` is the function, also once the folder of that name is imported."""

    def __setattr__(self, name: str, value: object) -> None:
        # Python binds an imported folder in its package under the folder's own name.
        if name in _HOME and isinstance(value, types.ModuleType):
            value = getattr(value, name)
        types.ModuleType.__setattr__(self, name, value)


sys.modules[__name__].__class__ = _Package


def __getattr__(name: str):
    if name in _HOME:  # before the folders: `checkup` is a function here
        return getattr(importlib.import_module(f".{_HOME[name]}", __name__), name)
    if name in FOLDERS:
        return importlib.import_module(f".{name}", __name__)
    raise AttributeError(f"module 'remanence' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
