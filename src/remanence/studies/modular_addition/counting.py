r"""How many frequencies a network settles on, as fraction, decay and width vary."""

from typing import Any

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import optax
import xarray as xr
from jaxtyping import Array

from ...measure.fourier import key_frequencies
from ...nets.table import table_logits, table_states
from ...report import Bench
from ...sweeps import sweep
from ...tasks.modular import Modular
from ...train import trained
from ...train.modular import adamw, modular_network
from .config import Config, Recipe


def counted(config: Config, bench: Bench) -> xr.Dataset:
    """A grid of fractions and decays at one width, then the other widths."""
    base = config.sweep
    grids = {
        "recipe": (config.fractions, config.decays, (base.units,)),
        "width": ((base.fraction,), (base.weight_decay,), config.widths),
    }
    found = {}
    for name, (fractions, decays, widths) in grids.items():
        done = sweep(
            Lane(base),
            {
                "fraction": list(fractions),
                "decay": list(decays),
                "width": list(widths),
                "seed": range(config.sweep_seeds),
            },
            static=("width",),
            chunk=8,
            dims={"W_fc": ("token", "column"), "held_out": ()},
            folder=bench.folder / "counting" / name,
            title=f"number of frequencies against {name}",
            quiet=bench.quiet,
            seed=bench.seed,
            time_limit=bench.time_limit,
            on=bench.on,
        )
        found[name] = _counts(done)
    recipe = found["recipe"].isel(width=0, drop=True)
    return xr.Dataset(
        {
            "count": recipe["count"],
            "held_out": recipe.held_out,
            "count by fraction": recipe["count"].sel(
                decay=base.weight_decay, drop=True
            ),
            "count by decay": recipe["count"].sel(fraction=base.fraction, drop=True),
            "count by width": found["width"]["count"].isel(
                fraction=0, decay=0, drop=True
            ),
        }
    )


class Lane:
    """One training on a masked table, pure, so that many run as one program."""

    def __init__(self, recipe: Recipe):
        self.recipe = recipe

    def __call__(self, point: dict[str, Any], key: Any, data: Any) -> dict[str, Array]:
        recipe, task = self.recipe, Modular(self.recipe.modulus)
        key_split, key_net = jr.split(key)
        pairs = task.modulus**2
        place = jr.permutation(key_split, pairs).reshape(task.modulus, task.modulus)
        seen = place < jnp.round(point["fraction"] * pairs).astype(place.dtype)
        answers = jnp.asarray(task.answers)
        net = modular_network(
            task, units=point["width"], embedding=recipe.embedding, key=key_net
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
        # Widths differ, and energies depend on inner products of rows only.
        W_fc = net.W_y
        gram = W_fc @ W_fc.T
        values, vectors = jnp.linalg.eigh(gram)
        return {
            "W_fc": vectors * jnp.sqrt(jax.nn.relu(values)),
            "held_out": held_out,
        }


def _counts(done: xr.Dataset) -> xr.Dataset:
    """Key frequencies of each lane by the rule; NaN where the sums were not learned."""
    axes = ("fraction", "decay", "width", "seed")
    done = done.transpose(*axes, ...)
    held_out = np.asarray(done.held_out.values, dtype=float)
    count = np.full(held_out.shape, np.nan)
    for at in np.ndindex(*count.shape):
        if held_out[at] >= 0.99:
            W = np.asarray(done["W_fc"].values[at], dtype=float)
            count[at] = len(key_frequencies(W).frequencies)
    return xr.Dataset(
        {"count": (axes, count), "held_out": (axes, held_out)},
        coords={axis: done[axis].values for axis in axes},
    )
