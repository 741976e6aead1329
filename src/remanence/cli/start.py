"""What is set before JAX starts: the compilation cache and the number of devices.

Figures are drawn without a window, too.

Only the command line and workers do this; importing the library never does.
A setting that the user made in the environment stands.
"""

import os
import pathlib


def prepare_jax(devices: int | None = None) -> None:
    """Keep compiled programs in the user's cache folder; call before importing JAX."""
    import pooch

    cache = pathlib.Path(os.fspath(pooch.os_cache("remanence"))) / "xla"
    settings = {
        "MPLBACKEND": "agg",
        "JAX_COMPILATION_CACHE_DIR": str(cache),
        "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0.3",
        "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "0",
    }
    if devices is not None:
        settings["JAX_NUM_CPU_DEVICES"] = str(devices)
    for name, value in settings.items():
        os.environ.setdefault(name, value)
