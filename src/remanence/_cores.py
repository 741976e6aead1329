"""The cores and the memory that this process may use: what is shared out is shared out over these."""

import os
import pathlib


ENOUGH = "REMANENCE_CORES"
"""The variable that says how many are enough; set for processes that run side by side."""


def cores() -> tuple[int, ...]:
    """Their numbers: fewer than the machine has, where a scheduler or `taskset` says so."""
    if hasattr(os, "sched_getaffinity"):
        found = tuple(sorted(os.sched_getaffinity(0)))
    else:
        found = tuple(range(os.cpu_count() or 1))
    enough = os.environ.get(ENOUGH, "")
    return found[: max(1, int(enough))] if enough.isdecimal() else found


def available_bytes() -> int | None:
    """Memory that a process may still take, by the kernel and by its group; None if unknown."""
    found = []
    try:
        lines = pathlib.Path("/proc/meminfo").read_text().splitlines()
        found += [1024 * int(s.split()[1]) for s in lines if s.startswith("MemAvail")]
        group = pathlib.Path("/sys/fs/cgroup/memory.max")
        if group.exists() and (limit := group.read_text().strip()).isdigit():
            used = group.with_name("memory.current").read_text()
            found.append(int(limit) - int(used))
    except (OSError, ValueError, IndexError):
        pass
    if not found and hasattr(os, "sysconf") and "SC_PHYS_PAGES" in os.sysconf_names:
        found.append(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    return min(found, default=None)
