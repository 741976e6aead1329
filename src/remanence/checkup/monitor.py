"""Memory while a torch model trains: a row for every look at it on one batch, to any logger."""

import contextlib
import copy
import csv
import math
import os
import pathlib
import time
from importlib import import_module
from typing import Any

import jax
import numpy as np

from ..formats import model_networks
from ..formats.recording import Arguments, pad, recurrent_parts
from ..measure import lyapunov_spectrum, replay_window
from ..measure.gradients import gradient_decay


SEQUENCES, STEPS = 4, 256  # the most that is measured of the batch
FIRST = 15.0  # seconds that a first look is expected to take, whose programs are compiled
MEASURED = ("largest_exponent", "stderr", "gradient_horizon", "window")


class Monitor(contextlib.AbstractContextManager["Monitor"]):
    """The rows of a training so far; `close()` ends it, as does leaving it as a context.

    `rows` are those of all looks, `passes` the training passes seen, `spent` the seconds that
    looks took, `expected` those that the next one is expected to take.
    """

    def __init__(self, model: Any, every: int, log: Any, batch: Any, budget: float, error: float):
        self.rows: list[dict[str, Any]] = []
        self.passes, self.spent, self.expected = 0, 0.0, FIRST
        self.log, self.every, self.budget, self.error = log, every, budget, error
        self._torch, self._model, parts = recurrent_parts(model)
        self._batch, self._looking, self._root = batch, False, None
        self._looked, self._begun = 0, time.perf_counter()
        inside, seen = {*parts.values()}, self._before_pass
        # Lightning calls parts of its module: the outermost that holds all recurrent ones.
        roots = [part for part in self._model.modules() if inside <= {*part.modules()}]
        self._handles = [r.register_forward_pre_hook(seen, with_kwargs=True) for r in roots]

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Remove the hooks; the rows stay."""
        while self._handles:
            self._handles.pop().remove()

    @property
    def seconds(self) -> float:
        """Time since the start."""
        return time.perf_counter() - self._begun

    def look(self) -> list[dict[str, Any]]:
        """Measure now, whatever it costs; the new rows."""
        if self._batch is None:
            raise ValueError("no batch was seen yet; monitor(model, batch=...) would do")
        before, self._looking = time.perf_counter(), True
        try:
            found = self._measured()
        finally:
            self._looking = False
        self.expected = time.perf_counter() - before
        self.spent += self.expected
        costs = {"cost_seconds": self.expected, "cost_share": self.spent / self.seconds}
        rows = [{"step": self.passes, "seconds": self.seconds} | row | costs for row in found]
        self.rows += rows
        for row in rows:
            _log(self.log, row)
        return rows

    def _measured(self) -> list[dict[str, Any]]:
        root = self._model if self._root is None else self._root
        rows, unknown = list[dict[str, Any]](), dict.fromkeys(MEASURED, math.nan)
        try:
            for title, net, _, sequences, _ in model_networks(root, self._batch):
                rows.append({"module": title} | unknown)
                rows[-1] |= _measure(sequences, net, self.error) | {"remark": ""}
        except ValueError as error:  # such as weights that are NaN: training goes on
            rows = rows or [{"module": ""} | unknown]
            rows[-1]["remark"] = str(error)
        return rows

    def _before_pass(self, part: Any, args: Any, kwargs: Any) -> None:
        if self._looking or not part.training or not self._torch.is_grad_enabled():
            return
        self._root = part if self._root is None else self._root
        if part is not self._root:
            return
        if self._batch is None:
            # A batch that the training cannot change any more.
            tensor, copied = self._torch.Tensor, copy.deepcopy
            keep = lambda leaf: leaf.detach().clone() if isinstance(leaf, tensor) else copied(leaf)
            self._batch = Arguments(*jax.tree.map(keep, (args, kwargs)))
        self.passes += 1
        due = self.passes // self.every > self._looked
        if due and self.spent + self.expected <= self.budget * self.seconds:
            self._looked = self.passes // self.every
            self.look()


def monitor(
    model: Any,
    *,
    every: int = 500,
    log: Any = None,
    batch: Any = None,
    budget: float = 0.02,
    error: float = 1e-3,
) -> Monitor:
    """Look at a torch model's memory every so many training passes, while it is trained.

    A row has the step, the seconds since the start, the module, its largest exponent with
    its standard error, gradient horizon and replay window (to the output `error`), and what
    looks cost: seconds, and their share of all time so far. `log` is a function of a row,
    TensorBoard's writer, or the path of a CSV file. The batch is that of the first training pass unless given.
    Looks take at most the share `budget` of the time: one that would take more waits.
    """
    if every < 1 or not budget > 0:
        raise ValueError(f"every must be at least 1 and budget positive, got {every}, {budget}")
    return Monitor(model, every, log, batch, budget, error)


def lightning_callback(**options: Any) -> Any:
    """A callback for Lightning's Trainer that monitors its module; options as `monitor`'s."""
    for name in ("lightning.pytorch", "pytorch_lightning"):
        try:
            base = import_module(name).Callback
            break
        except ImportError:
            continue
    else:
        raise ValueError("Lightning is not installed; `pip install lightning` would do")

    class MemoryMonitor(base):
        monitor: Monitor | None = None

        def on_train_start(self, trainer: Any, pl_module: Any) -> None:
            self.monitor = monitor(pl_module, **options)

        def on_train_end(self, trainer: Any, pl_module: Any) -> None:
            if self.monitor is not None:
                self.monitor.close()

        on_exception = lambda self, trainer, pl_module, _: self.on_train_end(trainer, pl_module)

    return MemoryMonitor()


def _measure(sequences: list[np.ndarray], net: Any, error: float) -> dict[str, float]:
    xs, lengths = pad([x[:STEPS] for x in sorted(sequences, key=len)[-SEQUENCES:]])
    spectrum = lyapunov_spectrum(net, xs, k=1, lengths=lengths)
    decay = gradient_decay(net, xs, lengths=lengths)
    window = replay_window(net, xs, error=error, lengths=lengths).worst
    values = (spectrum.exponents[0], spectrum.stderr[0], decay.remembers, window)
    return dict(zip(MEASURED, map(float, values), strict=True))


def _log(log: Any, row: dict[str, Any]) -> None:
    if log is None:
        return
    if hasattr(log, "add_scalar"):
        for key in (*MEASURED, "cost_seconds", "cost_share"):
            log.add_scalar(f"memory/{row['module']}/{key}", row[key], row["step"])
    elif isinstance(log, str | os.PathLike):
        with pathlib.Path(log).open("a", newline="") as file:
            writer = csv.DictWriter(file, list(row))
            if not file.tell():
                writer.writeheader()
            writer.writerow(row)
    else:
        log(row)
