r"""A training that can be stopped at any moment and continued to the same bits."""

import dataclasses
import pathlib
import time
from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
import xarray as xr

from .._stop import check_stop
from .._types import Key
from .checkpoint import named_arrays, newest_checkpoint, save_checkpoint, with_arrays
from .identity import digest
from .loop import as_jax, checked, chunk, Progress, Recipe, started
from .progress import progress_bar
from .store import opened_store, Store


@dataclasses.dataclass(frozen=True)
class Fit:
    """A trained model and how it came about.

    `history` is labelled by `step` (steps done): `loss`, the mean over the chunk of
    steps that ends there (each before its update), and the metrics there.
    `diverged_at` is the step whose loss or update was not finite, if any; `model`
    is then as it was before that step.
    """

    model: Any
    history: xr.Dataset
    steps: int
    diverged_at: int | None


advanced = eqx.filter_jit(chunk)


def fit(
    model: Any,
    loss: Callable,
    optimizer: optax.GradientTransformation,
    *,
    steps: int,
    key: Key,
    data: Any = None,
    batch: Callable | None = None,
    metrics: Callable | None = None,
    every: int = 100,
    project: Callable | None = None,
    folder: str | pathlib.Path | None = None,
    title: str = "",
    quiet: bool = True,
) -> Fit:
    """Minimise `loss(model, batch, key)` over the floating-point arrays of `model`.

    `batch(data, step, key)` draws what one step sees (all of `data` without it);
    `metrics(model, data)` gives named numbers or arrays every `every` steps; `project(model)`
    is applied after each update. All four are pure and traced. With a `folder`,
    checkpoints are kept there and a run that was stopped continues to the same
    bits; the folder of another run is refused. `steps` may grow from run to run.

    >>> import jax.numpy as jnp, jax.random as jr, optax
    >>> loss = lambda w, batch, key: ((w - 3.0) ** 2).sum()
    >>> done = fit(jnp.zeros(2), loss, optax.sgd(0.25), steps=40, key=jr.key(0), every=20)
    >>> [round(w, 3) for w in done.model.tolist()], done.history.step.values.tolist()
    ([3.0, 3.0], [20, 40])
    """
    checked(steps, every)
    recipe = Recipe(loss, optimizer, batch, metrics, project)
    start, rest = started(as_jax(model), optimizer)
    run = _Run(recipe, rest, as_jax(data), key, steps, every, title, quiet)
    if folder is None:
        return run.finished(start, {}, lambda state, rows: None)
    folder = pathlib.Path(folder)
    # What the run is made of; steps is left out, since a run may be made longer.
    identity = {
        "key": jax.random.key_data(key).tolist(),
        "every": every,
        "model": digest((named_arrays(start.params), rest)),
        "data": digest(run.data),
        **{name: digest(getattr(recipe, name)) for name in vars(recipe)},
    }
    with opened_store(folder, identity, loss) as store:
        state, rows = _resumed(store, start, steps)

        def save(state: Progress, rows: dict[str, list]) -> None:
            arrays = named_arrays(state)
            arrays |= {f"history.{name}": np.asarray(rows[name]) for name in rows}
            save_checkpoint(store, int(state.step), arrays)

        return run.finished(state, rows, save)


def _resumed(store: Store, start: Progress, steps: int) -> tuple[Progress, dict[str, list]]:
    """Where the run in this store is; `start` if there is none to continue."""
    found = newest_checkpoint(store)
    if found is None:
        return start, {}
    rows = {
        name.removeprefix("history."): list(array)
        for name, array in found[0].items()
        if name.startswith("history.")
    }
    state = with_arrays(start, found[0])
    if int(state.step) > steps:
        raise ValueError(
            f"{store.folder} holds {int(state.step)} steps already, more than the {steps} asked for"
        )
    return state, rows


@dataclasses.dataclass(frozen=True)
class _Run:
    """Everything of a training that does not change while it runs."""

    recipe: Recipe
    rest: Any
    data: Any
    key: Key
    steps: int
    every: int
    title: str
    quiet: bool

    def finished(self, state: Progress, rows: dict[str, list], save: Callable[..., None]) -> Fit:
        """Advance chunk by chunk to the end, to divergence, or to an interrupt."""
        step, saved = int(state.step), int(state.step) if rows else -1
        due, title = 0.0, self.title or "training"
        try:
            with progress_bar(
                title, total=self.steps, done=step, unit="steps", quiet=self.quiet
            ) as show:
                while step < self.steps and int(state.diverged_at) < 0:
                    end = min(step + self.every - step % self.every, self.steps)
                    state, row = advanced(
                        self.recipe, state, self.rest, self.data, self.key, jnp.int32(end)
                    )
                    row = {"step": np.int64(end)} | jax.device_get(row)
                    step = int(state.step)
                    rows = {name: [*rows.get(name, ()), row[name]] for name in row}
                    show(step)
                    check_stop()
                    # A checkpoint may cost a tenth of the time, however small the chunks.
                    began = time.monotonic()
                    if began >= due:
                        save(state, rows)
                        saved = step
                        due = time.monotonic() + 9 * (time.monotonic() - began)
        except KeyboardInterrupt:
            save(state, rows)
            raise KeyboardInterrupt(
                f"stopped after {step} of {self.steps} steps; "
                "with a folder, the same call continues there"
            ) from None
        if saved != step or int(state.diverged_at) >= 0:
            save(state, rows)
        columns = {name: np.asarray(rows[name]) for name in rows}
        history = xr.Dataset(
            {
                # A metric that is an array has axes of its own.
                name: (("step", *(f"{name} {i}" for i in range(values.ndim - 1))), values)
                for name, values in columns.items()
                if name != "step"
            },
            coords={"step": columns["step"]},
        )
        diverged = int(state.diverged_at)
        return Fit(
            model=eqx.combine(state.params, self.rest),
            history=history,
            steps=step,
            diverged_at=None if diverged < 0 else diverged,
        )
