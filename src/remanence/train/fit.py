r"""A training that can be stopped at any moment and continued to the same bits."""

import contextlib
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
from .loop import as_jax, before_training, chunk, Progress, Recipe
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


advance = eqx.filter_jit(chunk)


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
    recipe = Recipe(loss, optimizer, batch, metrics, project)
    start, rest = before_training(model, recipe, steps=steps, every=every)
    data = as_jax(data)
    rows: dict[str, list] = {}
    with contextlib.ExitStack() as scope:
        state, save = start, lambda state: None
        if folder is not None:
            # What the run is made of; steps is left out, since a run may be made longer.
            identity = {
                "key": jax.random.key_data(key).tolist(),
                "every": every,
                "model": digest((named_arrays(start.params), rest)),
                "data": digest(data),
                **{name: digest(getattr(recipe, name)) for name in vars(recipe)},
            }
            store = scope.enter_context(opened_store(folder, identity, loss))
            state, rows = _resumed(store, start, steps)

            def save(state: Progress) -> None:
                history = {f"history.{name}": np.asarray(rows[name]) for name in rows}
                save_checkpoint(store, int(state.step), named_arrays(state) | history)

        done = int(state.step)
        bar = progress_bar(title or "training", total=steps, done=done, unit="steps", quiet=quiet)
        due, saved = 0.0, done if rows else -1
        show = scope.enter_context(bar)
        try:
            while done < steps and int(state.diverged_at) < 0:
                end = min(done + every - done % every, steps)
                state, row = advance(recipe, state, rest, data, key, jnp.int32(end))
                row = {"step": np.int64(end)} | jax.device_get(row)
                rows = {name: [*rows.get(name, ()), row[name]] for name in row}
                done = int(state.step)
                show(done)
                check_stop()
                # A checkpoint may cost a tenth of the time, however small the chunks.
                began = time.monotonic()
                if began >= due:
                    save(state)
                    saved, due = done, time.monotonic() + 9 * (time.monotonic() - began)
        except KeyboardInterrupt:
            save(state)
            how = "with a folder, the same call continues there"
            raise KeyboardInterrupt(f"stopped after {done} of {steps} steps; {how}") from None
        if saved != done or int(state.diverged_at) >= 0:
            save(state)
    at = int(state.diverged_at)
    model, diverged = eqx.combine(state.params, rest), None if at < 0 else at
    # A metric that is an array has axes of its own.
    columns = {name: np.asarray(values) for name, values in rows.items()}
    axes = {name: [f"{name} {i}" for i in range(a.ndim - 1)] for name, a in columns.items()}
    values = {name: (("step", *axes[name]), columns[name]) for name in columns}
    return Fit(model, xr.Dataset(values), done, diverged)


def _resumed(store: Store, start: Progress, steps: int) -> tuple[Progress, dict[str, list]]:
    """Where the run in this store is; `start` if there is none to continue."""
    found = newest_checkpoint(store)
    if found is None:
        return start, {}
    history = [name for name in found if name.startswith("history.")]
    rows = {name.removeprefix("history."): list(found[name]) for name in history}
    state = with_arrays(start, found)
    if (done := int(state.step)) > steps:
        more = f"more than the {steps} asked for"
        raise ValueError(f"{store.folder} holds {done} steps already, {more}")
    return state, rows
