r"""How many frequencies a network settles on, as fraction, decay and width vary."""

from typing import Any

import equinox as eqx
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import optax
import xarray as xr
from jaxtyping import Array

from ...measure.fourier import key_frequencies
from ...nets import Recurrent
from ...report import Bench
from ...sweeps import sweep
from ...train import trained
from .all_pairs import table_logits, table_states
from .config import Config, Recipe
from .fit_modular import adamw, modular_network
from .task import Modular


def count_frequencies(config: Config, bench: Bench) -> xr.Dataset:
    """One batched sweep over fractions, decays, widths and seeds.

    `count by …` follows one axis with the others at the recipe's own values.
    """
    base = config.sweep
    done = sweep(
        Lane(base, max(config.widths)),
        {
            "fraction": list(config.fractions),
            "decay": list(config.decays),
            "width": list(config.widths),
            "seed": range(config.sweep_seeds),
        },
        chunk=config.chunk,
        dims={"W_fc": ("token", "column"), "held_out": ()},
        folder=bench.folder / "counting",
        title="number of frequencies against fraction, decay and width",
        quiet=bench.quiet,
        seed=bench.seed,
        time_limit=bench.time_limit,
        on=bench.on,
    )
    found = _counts(done)
    at = {"fraction": base.fraction, "decay": base.weight_decay, "width": base.units}
    for name in at:
        rest = {other: value for other, value in at.items() if other != name}
        found[f"count by {name}"] = found["count"].sel(rest, drop=True)
    return found


class Lane:
    """One training on a masked table, pure, so that many run as one program."""

    def __init__(self, recipe: Recipe, units: int):
        self.recipe, self.units = recipe, units

    def __call__(self, point: dict[str, Any], key: Any, data: Any) -> dict[str, Array]:
        recipe, task = self.recipe, Modular(self.recipe.modulus)
        key_split, key_net = jr.split(key)
        pairs = task.modulus**2
        place = jr.permutation(key_split, pairs).reshape(task.modulus, task.modulus)
        seen = place < jnp.round(point["fraction"] * pairs).astype(place.dtype)
        answers = jnp.asarray(task.answers)
        net = narrowed(
            modular_network(task, units=self.units, embedding=recipe.embedding, key=key_net),
            point["width"],
        )

        def loss(net, data, key):
            logits = table_logits(net, table_states(net, task.modulus).third)
            each = optax.softmax_cross_entropy_with_integer_labels(logits, answers)
            return jnp.where(seen, each, 0.0).sum() / seen.sum().astype(each.dtype)

        net, _ = trained(
            net,
            loss,
            adamw(recipe.learning_rate, point["decay"]),
            steps=recipe.steps,
            every=recipe.every,
            key=key,
        )
        logits = table_logits(net, table_states(net, task.modulus).third)
        right = logits.argmax(-1) == answers
        held_out = (right & ~seen).sum() / (~seen).sum()
        return {"W_fc": net.W_y, "held_out": held_out}


def narrowed(net: Recurrent, width: Any) -> Recurrent:
    """The network with its first `width` units alone, in arrays of the same size.

    The others start at zero and stay there: a rectifier that gets nothing passes
    no gradient, and decay leaves zero alone. So widths differ in numbers only, and
    all of them train as one program.
    """
    units, W_y = net.cell.W_h.shape[0], net.W_y
    assert W_y is not None
    alive = jnp.arange(units) < width
    # As large as a network of that width would start.
    wider = jnp.sqrt(units / jnp.asarray(width, W_y.dtype))
    return eqx.tree_at(
        lambda n: (n.cell.W_h, n.cell.W_x, n.W_y),
        net,
        (
            jnp.where(alive[:, None] & alive, wider * net.cell.W_h, 0.0),
            jnp.where(alive[:, None], net.cell.W_x, 0.0),
            jnp.where(alive, wider * W_y, 0.0),
        ),
    )


def _counts(done: xr.Dataset) -> xr.Dataset:
    """Key frequencies of each lane by the rule; NaN where the sums were not learned."""
    axes = ("fraction", "decay", "width", "seed")
    done = done.transpose(*axes, ...)
    held_out = np.asarray(done.held_out.values, dtype=float)
    every = np.arange(1, done.sizes["token"] // 2 + 1)
    key = np.zeros((*held_out.shape, len(every)), dtype=bool)
    learned = held_out >= 0.99
    for at in zip(*np.nonzero(learned), strict=True):
        W = np.asarray(done["W_fc"].values[at], dtype=float)
        key[at] = np.isin(every, key_frequencies(W).frequencies)
    return xr.Dataset(
        {
            "count": (axes, np.where(learned, key.sum(-1), np.nan)),
            "held_out": (axes, held_out),
            "key": ((*axes, "frequency"), key),
        },
        coords={axis: done[axis].values for axis in axes} | {"frequency": every},
    )
