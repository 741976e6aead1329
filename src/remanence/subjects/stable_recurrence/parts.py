"""The finished parts of a run: numbers and models in stores, and the time left.

A part that is there and was made by the same code is read back; JSON keeps every bit
of a float. A training is advanced slice by slice, so that a time limit loses at most
the part that it falls into, and the study still ends with what is finished.
"""

import dataclasses
import json
import time
from collections.abc import Callable
from typing import Any

from ...report import Bench
from ...train import fit
from ...train.checkpoint import last_step, named_arrays, with_arrays
from ...train.store import opened_store


RESERVE = 180.0
"""Seconds of a time limit that are left for measuring, figures and pages; of a short
limit, a quarter."""
SLICES = 16
"""A training looks at the clock so many times."""
BETWEEN_SENTENCES = 15.0
"""Seconds between two sentences about a long training."""


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

    def train(
        self,
        name: str,
        model: Any,
        loss: Callable,
        optimizer: Any,
        *,
        steps: int,
        validation: Callable[[Any], float] | None = None,
        **options: Any,
    ) -> Any:
        """`fit` with checkpoints, a slice at a time; the model, or None if it diverged.

        With a `validation` loss the best slice's model is given, not the last one's.
        """
        folder, length = self.bench.folder / "models" / name, max(1, -(-steps // SLICES))
        # The slice that a stopped run reached may not have been validated: it is read again.
        reached = last_step(folder) - (validation is not None)
        done, said = None, time.monotonic()
        with opened_store(folder / "best", {}, Parts) as best:
            while done is None or done.steps < steps:
                self.watch()
                reached = min(length * (max(reached, 0) // length + 1), steps)
                slice_ = {"steps": reached, "every": length, "folder": folder}
                done = fit(model, loss, optimizer, **slice_, **options)
                if done.diverged_at is not None:
                    self.bench.tell(f"{name} diverged at step {done.diverged_at}")
                    return None
                if validation is not None:
                    least, here = best.part("model"), validation(done.model)
                    if least is None or here < least[1]:
                        best.put("model", named_arrays(done.model), here)
                if time.monotonic() - said > BETWEEN_SENTENCES:
                    self.bench.tell(f"{name}: {done.steps} of {steps} steps")
                    said = time.monotonic()
            found = best.get("model")
        return done.model if found is None else with_arrays(done.model, found)
