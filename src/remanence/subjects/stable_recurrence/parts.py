"""The finished parts of a run: numbers in JSON, models in checkpoints, and the time left.

A part that is there and was made by the same code is read back; JSON keeps every bit
of a float. A training is advanced slice by slice, so that a time limit loses at most
the part that it falls into, and the study still ends with what is finished.
"""

import dataclasses
import io
import json
import math
import pathlib
import time
from collections.abc import Callable
from typing import Any

import equinox as eqx

from ..._whole import written_whole
from ...report import Bench
from ...train import fit
from ...train.checkpoint import last_step
from ...train.identity import digest, environment


RESERVE = 180.0
"""Seconds of a time limit that are left for measuring, figures and pages; of a short
limit, a quarter."""
SLICES = 16
"""A training looks at the clock so many times."""
TELLING = 15.0
"""Seconds between two sentences about a long training."""


class OutOfTime(Exception):
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
        if limit is None:
            return
        if time.monotonic() - self.begun > limit - min(RESERVE, limit / 4):
            raise OutOfTime

    def kept(self, name: str, make: Callable[[], Any]) -> Any:
        """A part made of plain values; None without the time or the data for it."""
        path = self.bench.folder / "kept" / f"{name}.json"
        here = json.loads(json.dumps(environment(Parts)))
        if path.is_file():
            record = json.loads(path.read_text())
            if record["environment"] == here:
                return record["value"]
        self.bench.tell(name)
        try:
            self.watch()
            value = make()
        except OutOfTime:
            self.missing.append(name)
            self.bench.tell(f"no time is left for: {name}")
            return None
        except FileNotFoundError as missing:
            # What cannot be measured stays open; the other parts go on.
            self.missing.append(name)
            self.bench.tell(f"{name} is left out: {missing}")
            return None
        text = json.dumps({"environment": here, "value": value})
        path.parent.mkdir(parents=True, exist_ok=True)
        written_whole(path, text.encode())
        return json.loads(text)["value"]

    def trained(
        self,
        name: str,
        model: Any,
        loss,
        optimizer,
        *,
        steps: int,
        price: Callable[[Any], float] | None = None,
        **how,
    ):
        """`fit` with checkpoints, a slice at a time; the model, or None if it diverged.

        With a `price` the model of the cheapest slice is given, not that of the last.
        """
        folder = self.bench.folder / "models" / name
        reached = last_step(folder)
        slice_ = max(1, -(-steps // SLICES))
        best = Best(folder / f"best-{digest(environment(Parts))[:12]}.eqx", price)
        again = price is not None and reached > 0  # it may not have been priced
        done, told = None, time.monotonic()
        while done is None or done.steps < steps:
            self.watch()
            if not again:
                reached = min(max(reached, slice_ * (reached // slice_ + 1)), steps)
            again = False
            done = fit(
                model,
                loss,
                optimizer,
                steps=reached,
                every=slice_,
                folder=folder,
                title=name,
                quiet=True,
                **how,
            )
            if done.diverged_at is not None:
                self.bench.tell(f"{name} diverged at step {done.diverged_at}")
                return None
            best.seen(done.model)
            if time.monotonic() - told > TELLING:
                self.bench.tell(f"{name}: {done.steps} of {steps} steps")
                told = time.monotonic()
        return best.of(done.model)


@dataclasses.dataclass(frozen=True)
class Best:
    """The cheapest of the models seen, in a file, so that a stopped run still knows it."""

    path: pathlib.Path
    price: Callable[[Any], float] | None

    def seen(self, model: Any) -> None:
        """Keep the model if it is cheaper than the one kept."""
        if self.price is None:
            return
        value = float(self.price(model))
        if value < self._kept(model)[0]:
            whole = io.BytesIO()
            eqx.tree_serialise_leaves(whole, (value, model))
            written_whole(self.path, whole.getvalue())

    def of(self, last: Any) -> Any:
        """The cheapest model; the last one where none has a price."""
        return last if self.price is None else self._kept(last)[1]

    def _kept(self, like: Any) -> tuple[float, Any]:
        if not self.path.is_file():
            return math.inf, like
        return eqx.tree_deserialise_leaves(self.path, (0.0, like))
