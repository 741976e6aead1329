r"""Training on modular arithmetic: the whole table at once, AdamW, weight decay.

$$\ell = -\frac{1}{|T|} \sum_{(a, b) \in T} \log \mathrm{softmax}(W_{fc} h_3(a, b) + b_{fc})_{a \circ b}$$
"""

import dataclasses
import functools
import pathlib
from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import optax
from jaxtyping import Array, Float

from ..._types import Key
from ...cells import Elman, GRU, LSTM, Residual
from ...nets import Recurrent
from ...train import Fit, fit
from .all_pairs import pair_logits, Pairs, pairs_of, table_logits, table_states, vocabulary
from .config import Recipe
from .task import Modular


ACTIVATIONS: dict[str, Callable] = {"relu": jax.nn.relu, "tanh": jnp.tanh}
CELLS: dict[str, Callable] = {
    "elman": functools.partial(Elman.init, gain=3**-0.5),
    "lstm": LSTM.init,
    "gru": GRU.init,
    "residual": functools.partial(Residual.init, residual=0.5, coupling=1.0),
}
"""How each kind of cell starts."""


def modular_network(task: Modular, recipe: Recipe, *, cell: str = "elman", key: Key) -> Recurrent:
    """A network before training; the recipe's activation is that of the classical cell."""
    known = {"cell": CELLS, "activation": ACTIVATIONS, "start": ("small", "torch")}
    asked = {"cell": cell, "activation": recipe.activation, "start": recipe.start}
    for name, value in asked.items():
        if value not in known[name]:
            raise ValueError(f"{name} must be one of {', '.join(known[name])}, got {value!r}")
    units = recipe.units
    key_cell, key_net = jr.split(key)
    options = {"activation": ACTIVATIONS[recipe.activation]} if cell == "elman" else {}
    drawn = CELLS[cell](recipe.embedding, units, key=key_cell, **options)
    size: Any = {"outputs": task.modulus, "tokens": task.tokens}
    net = Recurrent.init(drawn, readout="last", key=key_net, **size)
    E, W_y = vocabulary(net, task.modulus)
    if recipe.start == "small":
        scaled = (recipe.embedding**-0.5 * E, 3**-0.5 * W_y)
        return eqx.tree_at(lambda n: (n.embedding, n.W_y), net, scaled)
    arrays, static = eqx.partition(net, eqx.is_inexact_array)
    draw = lambda k, shape, dtype: jr.uniform(k, shape, dtype, -1.0, 1.0) / units**0.5
    net = eqx.combine(optax.tree.random_like(key, arrays, draw), static)
    return eqx.tree_at(lambda n: n.embedding, net, jr.normal(key_net, E.shape))


def table_loss(net: Recurrent, data: tuple[Pairs, Array], key: Any) -> Float[Array, ""]:
    """Cross-entropy over the pairs of the training set, all at once."""
    pairs, seen = data
    logits = pair_logits(net, pairs, len(seen))
    return optax.softmax_cross_entropy_with_integer_labels(logits, pairs.answer).mean()


@functools.cache
def adamw(learning_rate: float, weight_decay: float) -> optax.GradientTransformation:
    """AdamW on every weight; the same object each time, so that seeds share a program."""
    return optax.adamw(learning_rate, b1=0.9, b2=0.98, weight_decay=weight_decay)


def fit_modular(
    recipe: Recipe,
    *,
    operation: str = "+",
    cell: str = "elman",
    seed: int = 0,
    folder: str | pathlib.Path | None = None,
    quiet: bool = True,
) -> Fit:
    """Train a fresh network by a recipe on a random fraction of the table.

    `history` has loss, accuracies on `train` and `held_out` pairs, and the `energy` of
    the embedding by frequency.

    >>> done = fit_modular(Recipe(modulus=5, steps=60, units=16, embedding=8, every=30))
    >>> done.history.energy.dims, done.history.step.values.tolist()
    (('step', 'frequency'), [30, 60])
    """
    task = Modular(recipe.modulus, operation)
    key_split, key_net = jr.split(jr.key(seed))
    seen = task.training_pairs(recipe.fraction, key=key_split)
    done = fit(
        modular_network(task, recipe, cell=cell, key=key_net),
        table_loss,
        adamw(recipe.learning_rate, recipe.weight_decay),
        steps=recipe.steps,
        key=jr.key(seed),
        data=(pairs_of(seen, task.answers), jnp.asarray(seen)),
        metrics=progress_on(task),
        every=recipe.every,
        folder=folder,
        title=f"{operation} modulo {recipe.modulus}, {cell}, seed {seed}",
        quiet=quiet,
    )
    return dataclasses.replace(done, history=done.history.rename({"energy 0": "frequency"}))


@functools.cache
def progress_on(task: Modular) -> Callable[[Recurrent, Any], dict[str, Array]]:
    """What is looked at while training: accuracies, and the energies of the embedding."""
    answers, order = jnp.asarray(task.answers), jnp.asarray(task.elements)

    def progress(net: Recurrent, data: tuple[Pairs, Array]) -> dict[str, Array]:
        seen = data[1]
        logits = table_logits(net, table_states(net, task.modulus).third)
        right = logits.argmax(-1) == answers
        return {
            "train": (right & seen).sum() / seen.sum(),
            "held_out": (right & ~seen).sum() / (~seen).sum(),
            "energy": rows_spectrum(vocabulary(net, task.modulus)[0][order]),
        }

    return progress


def rows_spectrum(rows: Float[Array, "period columns"]) -> Float[Array, " frequencies"]:
    """`measure.spectrum`, traced: the energy of the rows at each frequency."""
    period = len(rows)
    power = (jnp.abs(jnp.fft.rfft(rows, axis=0)) ** 2).sum(1)
    alone = 2 * np.arange(len(power)) % period == 0  # 0, and half an even period
    return power * np.where(alone, 1.0, 2.0).astype(np.float32) / period
