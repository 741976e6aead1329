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
    """One axis varied at a time: a sweep of fractions and decays, then one of widths."""
    base = config.sweep
    lane = Lane(base)
    seeds = range(config.sweep_seeds)
    parts = {
        "fraction": {"fraction": config.fractions, "decay": [base.weight_decay]},
        "decay": {"fraction": [base.fraction], "decay": config.decays},
        "width": {"fraction": [base.fraction], "decay": [base.weight_decay]},
    }
    found = []
    for name, axes in parts.items():
        widths = config.widths if name == "width" else (base.units,)
        done = sweep(
            lane,
            {**axes, "width": list(widths), "seed": seeds},
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
        found.append(_counts(done, name))
    whole = found[0]
    for part in found[1:]:
        whole = whole.assign(part.data_vars)
    return whole


class Lane:
    """One training on a masked table, pure, so that many run as one program."""

    def __init__(self, recipe: Recipe):
        self.recipe = recipe

    def __call__(self, point: dict[str, Any], key: Any, data: Any) -> dict[str, Array]:
        recipe, task = self.recipe, Modular(self.recipe.modulus)
        key_split, key_net = jr.split(key)
        pairs = task.modulus**2
        place = jr.permutation(key_split, pairs).reshape(task.modulus, task.modulus)
        seen = place < jnp.round(point["fraction"] * pairs)
        answers = jnp.asarray(task.answers)
        net = modular_network(
            task, units=point["width"], embedding=recipe.embedding, key=key_net
        )

        def loss(net, data, key):
            logits = table_logits(net, table_states(net, task.modulus).third)
            each = optax.softmax_cross_entropy_with_integer_labels(logits, answers)
            return jnp.where(seen, each, 0.0).sum() / seen.sum()

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


def _counts(done: xr.Dataset, name: str) -> xr.Dataset:
    """Key frequencies of each lane by the rule; NaN where the sums were not learned."""
    kept = [name, "seed"]
    done = done.squeeze([d for d in ("fraction", "decay", "width") if d != name])
    done = done.transpose(*kept, ...)
    count = np.full([done.sizes[d] for d in kept], np.nan)
    for at in np.ndindex(*count.shape):
        if float(done.held_out.values[at]) >= 0.99:
            W = np.asarray(done["W_fc"].values[at], dtype=float)
            count[at] = len(key_frequencies(W).frequencies)
    coords = {d: done[d].values for d in kept}
    return xr.Dataset(
        {
            f"count by {name}": (kept, count),
            f"held_out by {name}": (kept, np.asarray(done.held_out.values, float)),
        },
        coords=coords,
    )
