"""How many programs XLA compiles while something works."""

import jax
import jax.monitoring


_COMPILED = [0]


def _heard(event: str, duration_secs: float, **_: str | int) -> None:
    _COMPILED[0] += event.endswith("backend_compile_duration")


jax.monitoring.register_event_duration_secs_listener(_heard)


def compilations(work) -> int:
    """The programs that XLA compiled while it worked, from an empty cache."""
    jax.clear_caches()
    before = _COMPILED[0]
    work()
    return _COMPILED[0] - before
