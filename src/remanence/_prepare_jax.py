"""What is set before JAX starts: the compilation cache, the number of threads.

Figures are drawn without a window, too.

Only the command line and workers do this; importing the library never does.
A setting that the user made in the environment stands.
"""

import gc
import os
import pathlib


def prepare_jax(*, one_thread: bool = False) -> None:
    """Keep compiled programs in the user's cache folder; call before importing JAX.

    On one thread the bits of a result do not depend on how many cores are free.
    """
    import pooch

    cache = pathlib.Path(os.fspath(pooch.os_cache("remanence"))) / "xla"
    settings = {
        "MPLBACKEND": "agg",
        "JAX_COMPILATION_CACHE_DIR": str(cache),
        "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
        "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "0",
    }
    if one_thread:
        settings["OMP_NUM_THREADS"] = "1"
        settings["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false"
    # Imports and traces make a million objects that stay; looking for garbage among them costs.
    gc.set_threshold(100_000)
    for name, value in settings.items():
        os.environ.setdefault(name, value)
