"""The cores that this process may use: what is shared out is shared out over these."""

import os


def cores() -> tuple[int, ...]:
    """Their numbers; fewer than the machine has, where a scheduler or `taskset` says so."""
    if hasattr(os, "sched_getaffinity"):
        return tuple(sorted(os.sched_getaffinity(0)))
    return tuple(range(os.cpu_count() or 1))
