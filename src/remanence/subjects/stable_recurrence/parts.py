"""The finished parts of a run, and the time left.

A part that is there and was made by the same code is read back; JSON keeps every bit
of a float. What there is no time for is left out, and the study ends with what is finished.
"""

import dataclasses
import json
import time
from collections.abc import Callable
from typing import Any

from ...report import Bench
from ...train.store import opened_store


RESERVE = 180.0
"""Seconds of a time limit that are left for measuring, figures and pages; of a short
limit, a quarter."""


class OutOfTimeError(Exception):
    """The time limit leaves no room for another part."""


@dataclasses.dataclass
class Parts:
    """Where parts are kept, when time is up, and what was left out for it."""

    bench: Bench
    begun: float = dataclasses.field(default_factory=time.monotonic)
    missing: list[str] = dataclasses.field(default_factory=list)

    def watch(self) -> None:
        """Stop here if time is up."""
        limit = self.bench.time_limit
        if limit is not None and time.monotonic() - self.begun > limit - min(RESERVE, limit / 4):
            raise OutOfTimeError("no time is left")

    def get_or_make(self, name: str, make: Callable[[], Any]) -> Any:
        """A part made of plain values; None without the time or the data for it."""
        with opened_store(self.bench.folder / "numbers", {}, Parts) as store:
            if (found := store.part(name)) is not None:
                return found[1]
            self.bench.tell(name)
            value = self.attempt(name, lambda: json.loads(json.dumps(make())))
            if value is not None:
                store.put(name, {}, value)
        return value

    def attempt(self, name: str, make: Callable[[], Any]) -> Any:
        """What `make` gives; None, and the name among the missing, without time or data."""
        try:
            self.watch()
            return make()
        except (OutOfTimeError, FileNotFoundError) as reason:
            # What cannot be measured stays open; the other parts go on.
            self.missing.append(name)
            self.bench.tell(f"{name} is left out: {reason}")
            return None
