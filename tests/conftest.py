"""Strict settings for every test."""

import ctypes
import os
import pathlib
import resource
import subprocess
import sys

import hypothesis
import jax
import pytest


jax.config.update("jax_numpy_dtype_promotion", "strict")
# The first call compiles, so a deadline would only measure XLA.
hypothesis.settings.register_profile("remanence", deadline=None, derandomize=True, max_examples=40)
hypothesis.settings.load_profile("remanence")


def pytest_collection_modifyitems(config, items):
    """Leave `slow` tests out unless they are asked for by `-m` or RUN_SLOW."""
    if config.getoption("-m") or os.environ.get("RUN_SLOW"):
        return
    fast, slow = [], []
    for item in items:
        (slow if item.get_closest_marker("slow") else fast).append(item)
    config.hook.pytest_deselected(items=slow)
    items[:] = fast


@pytest.fixture(scope="module", autouse=True)
def free_programs():
    """Compiled programs are dropped between modules once a worker has grown to 2 GB."""
    yield
    pages = pathlib.Path("/proc/self/statm")  # on Linux; elsewhere workers may grow
    if pages.exists() and int(pages.read_text().split()[1]) * resource.getpagesize() > 2e9:
        jax.clear_caches()
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # glibc keeps what was freed
        if trim is not None:
            trim(0)


@pytest.fixture
def key():
    return jax.random.key(0)


@pytest.fixture
def on_two_devices():
    """Run a program in a process whose JAX has two devices; it must end well."""

    def run(code: str) -> None:
        flags = {"XLA_FLAGS": "--xla_force_host_platform_device_count=2"}
        done = subprocess.run(
            [sys.executable, "-c", code],
            env=os.environ | flags,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        assert done.returncode == 0, done.stderr

    return run
