"""The cores that this process may use: what is shared out is shared out over these."""

import os


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
