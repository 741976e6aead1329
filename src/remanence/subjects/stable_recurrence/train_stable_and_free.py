"""One training for stable and free models of every task, in parts that a stopped run reads back.

A stable model is projected onto the stable set after every step; a free one is not. A
training is advanced slice by slice, so that a time limit loses at most one slice. What
there is no time or data for is left out, and the study ends with what is finished.
"""

import dataclasses
import functools
import json
import math
import time
from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax.numpy as jnp
import jax.random as jr
import optax
from jaxtyping import Array

from ...cells import Elman, LSTM
from ...nets import Recurrent
from ...report import Bench
from ...train import fit
from ...train.checkpoint import last_step, named_arrays, with_arrays
from ...train.projection import INPUT_BOUND, stable
from ...train.store import opened_store


CELLS = {"rnn": Elman, "lstm": LSTM}
SLICES = 16
"""A training looks at the clock so many times."""
RESERVE = 180.0
"""Seconds of a time limit that are left for measuring, figures and pages; of a short
limit, a quarter."""
RATE = 0.97
"""The largest spectral norm of stable tanh cells, where a task does not say another."""
Models = dict[str, list[dict[str, Any]]]
"""What was measured on every training of each model, by its name."""


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
            # JSON keeps every bit of a float: what is made is what is read back.
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


def network_of(
    kind: str, inputs: int, units: int, outputs: int, *, key: Any, **options: Any
) -> Recurrent:
    """An untrained network of one kind of cell."""
    key_cell, key_net = jr.split(key)
    cell = CELLS[kind].init(inputs, units, key=key_cell)
    return Recurrent.init(cell, outputs=outputs, key=key_net, **options)


def project(net: Recurrent, rate: float = RATE) -> Recurrent:
    """The network with its cell, and the tokens that it reads, in the stable set."""
    net = eqx.tree_at(lambda net: net.cell, net, stable(net.cell, rate=rate))
    if not isinstance(net.cell, LSTM) or net.embedding is None:
        return net
    bounded = jnp.clip(net.embedding, -INPUT_BOUND, INPUT_BOUND)
    return eqx.tree_at(lambda net: net.embedding, net, bounded)


@functools.cache
def projection(rate: float) -> Callable[[Recurrent], Recurrent]:
    """`project` for one rate: the same function, so that trainings share a compiled program."""
    return eqx.filter_jit(functools.partial(project, rate=rate))


@functools.cache
def falling_adam(rate: float, steps: int) -> optax.GradientTransformation:
    """Adam on clipped gradients, its rate falling to a twentieth along half a cosine."""

    # optax's own schedule rewrites its closure at the first call, and a stopped run
    # would no longer know itself.
    def falling(count):
        share = jnp.minimum(jnp.asarray(count, jnp.float32) / steps, 1.0)
        return rate * (0.05 + 0.475 * (1 + jnp.cos(jnp.pi * share)))

    return optax.chain(optax.clip_by_global_norm(1.0), optax.adam(falling))


@dataclasses.dataclass(frozen=True, kw_only=True)
class Task:
    """What models are trained on and how they are measured."""

    name: str
    network: Callable[[str, bool, Any], Any]
    """An untrained network, from the kind of cell, whether it is free, and a key."""
    loss: Callable[[Any, Any, Any], Array]
    measure: Callable[[Any, bool, int], dict[str, Any]]
    """Plain numbers of a trained network, from whether it is free and which draw it is."""
    steps: int
    rates: tuple[float, ...]
    """Of several, each kind takes the one whose free model has the least validation loss
    after `pilot_steps`."""
    pilot_steps: int = 0
    data: Any = None
    batch: Callable | None = None
    validation: Callable[[Any], float] | None = None
    """With one, the best of some evenly spaced moments is kept, not the last."""
    kinds: tuple[str, ...] = ("rnn", "lstm")
    draws: dict[str, int] = dataclasses.field(default_factory=dict)
    """Trainings of each kind, 1 unless given."""
    rate: float = RATE

    def train(
        self, name: str, kind: str, free: bool, parts: Parts, seed: int, steps: int, rate: float
    ) -> Any:
        """One network from its start, a slice at a time; None if it diverged.

        With a `validation` loss the best slice's model is given, not the last one's.
        """
        start, onto = self.network(kind, free, jr.key(seed)), projection(self.rate)
        folder = parts.bench.folder / "models" / name.replace(" ", "-")
        length, done = max(1, -(-steps // SLICES)), None
        # The slice that a stopped run reached may not have been validated: it is read again.
        reached = last_step(folder) - (self.validation is not None)
        with opened_store(folder / "best", {}, Parts) as best:
            while done is None or done.steps < steps:
                parts.watch()
                reached = min(length * (max(reached, 0) // length + 1), steps)
                done = fit(
                    start if free else onto(start),
                    self.loss,
                    falling_adam(rate, steps),
                    steps=reached,
                    every=length,
                    key=jr.key(seed + 1),
                    data=self.data,
                    batch=self.batch,
                    project=None if free else onto,
                    folder=folder,
                )
                if done.diverged_at is not None:
                    parts.bench.tell(f"{name} diverged at step {done.diverged_at}")
                    return None
                if self.validation is not None:
                    least, here = best.part("model"), self.validation(done.model)
                    if least is None or here < least[1]:
                        best.put("model", named_arrays(done.model), here)
            found = best.get("model")
        return done.model if found is None else with_arrays(done.model, found)

    def train_and_measure(
        self, label: str, kind: str, free: bool, draw: int, parts: Parts
    ) -> dict[str, Any]:
        """What is measured on one trained network, and its learning rate."""
        seed, (rate, *others) = parts.bench.seed, self.rates
        if others and self.validation is not None:
            losses = {}
            for rate in self.rates:
                name = f"{self.name}-{kind}-pilot-{rate:g}"
                done = self.train(name, kind, True, parts, seed, self.pilot_steps, rate)
                losses[rate] = math.inf if done is None else self.validation(done)
            rate = min(losses, key=losses.__getitem__)
        done = self.train(label, kind, free, parts, seed + 1_000 * draw, self.steps, rate)
        if done is None:
            return {"diverged": True}
        return self.measure(done, free, draw) | {"learning_rate": rate}


def model_name(task: str, kind: str, free: bool) -> str:
    """What a model is called in tables."""
    return f"{task} {kind} {'free' if free else 'stable'}"


def train_stable_and_free(task: Task, parts: Parts) -> Models:
    """Every kind of cell, free and stable, and every draw: what the task measures on each."""
    found: Models = {}
    for kind in task.kinds:
        for draw in range(task.draws.get(kind, 1)):
            for free in (True, False):
                name = model_name(task.name, kind, free)
                label = f"{name}-{draw + 1}" if draw else name
                make = functools.partial(task.train_and_measure, label, kind, free, draw, parts)
                value = parts.get_or_make(label, make)
                if value is not None:
                    found.setdefault(name, []).append(value)
    return found
