r"""One network trained on pixels or on the adding problem: the lanes of the sweeps.

The residual and the coupling are given, not learned: only $W_h$, $W_x$, $b$ and
the readout are in the hands of the optimiser.
"""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import optax

from ...cells import GRU, LSTM, Residual, WeaklyCoupled
from ...measure import exponents_along
from ...nets import on_batch, Recurrent
from ...tasks import adding
from ...train import trained
from .config import Config
from .residual_spectrum import orthogonal, rotation_blocks


ACTIVATIONS = {"tanh": jnp.tanh, "ReLU": jax.nn.relu, "leaky ReLU": jax.nn.leaky_relu}
GATES = {"GRU": GRU, "LSTM": LSTM}


class NonlinearByNumber(eqx.Module):
    """A nonlinear residual whose activation is traced: all of them train in one program."""

    R: Any
    which: Any

    def __call__(self, h: Any) -> Any:
        every = jnp.stack([f(self.R @ h) for f in ACTIVATIONS.values()])
        return every[self.which]


def learned(net: Recurrent) -> tuple[Any, Any]:
    """The network in two: what is trained, and the rest with residual and coupling."""
    mask = jax.tree.map(eqx.is_inexact_array, net)
    keep = lambda net: (net.cell.R, net.cell.coupling)
    fixed = jax.tree.map(lambda _: False, keep(mask))
    return eqx.partition(net, eqx.tree_at(keep, mask, fixed))


def optimizer(rate: Any, clip: Any) -> optax.GradientTransformation:
    """Adam after clipping by the global norm; both numbers may be traced."""
    return optax.chain(optax.clip_by_global_norm(clip), optax.scale_by_adam(), optax.scale(-rate))


def pixel_results(
    net: Recurrent, point: Any, data: Any, config: Config, key: Any
) -> tuple[dict[str, Any], Recurrent]:
    """Train on pixel sequences; accuracy on both held-out halves at every mark."""
    part, rest = learned(net)
    length = data["train_x"].shape[1]
    order = jnp.where(point["permuted"], data["order"], jnp.arange(length))

    def loss(part, batch, key):
        xs, ys = batch
        logits = on_batch(eqx.combine(part, rest), xs)
        return optax.softmax_cross_entropy_with_integer_labels(logits, ys).mean()

    def batch(data, step, key):
        rows = jr.randint(key, (config.batch,), 0, data["train_y"].shape[0])
        return data["train_x"][rows][:, order], data["train_y"][rows]

    def metrics(part, data):
        logits = on_batch(eqx.combine(part, rest), data["test_x"][:, order])
        right = logits.argmax(1) == data["test_y"]
        half = right.shape[0] // 2
        return {
            "tuning": right[:half].mean(dtype=jnp.float32),
            "accuracy": right[half:].mean(dtype=jnp.float32),
        }

    part, history = trained(
        part,
        loss,
        optimizer(point["rate"], point["clip"]),
        steps=config.steps,
        key=key,
        data=data,
        batch=batch,
        metrics=metrics,
        every=config.every,
    )
    return history, eqx.combine(part, rest)


def largest_exponent(cell: Residual, xs: Any) -> Any:
    """In nats a step, along some images one after another; a fifth is warm-up."""
    h, warmup = cell.initial_state(), xs.shape[0] // 5
    return exponents_along(cell, h, xs, k=1, interval=8, warmup=warmup)[0]


def table_lane(config: Config):
    """The lane of one row of the table of cases."""

    def lane(point: dict[str, Any], key: Any, data: Any) -> dict[str, Any]:
        row = {name: column[point["case"]] for name, column in data["table"].items()}
        cell_key, net_key, train_key = jr.split(key, 3)
        R = rotation_blocks(row["radii"][point["seed"]], row["angles"][point["seed"]])
        base = Residual.init(1, config.units, key=cell_key)
        Q = orthogonal(config.units, key=cell_key)
        W_h = jnp.stack([base.W_h, Q, Q @ R @ Q.T])[row["draw"]]
        cell = Residual(
            jnp.where(row["residual"], R, jnp.zeros_like(R)),
            W_h,
            base.W_x,
            base.b,
            jnp.where(row["residual"], jnp.float32(config.coupling), jnp.float32(1)),
        )
        net = Recurrent.init(cell, outputs=10, key=net_key, readout="last")
        before = largest_exponent(cell, data["inputs"])
        history, net = pixel_results(net, row, data, config, train_key)
        cell = net.cell
        weights = {"W_h": cell.W_h, "W_x": cell.W_x[:, 0], "b": cell.b}
        after = largest_exponent(cell, data["inputs"])
        return {**history, **weights, "before": before, "after": after}

    return lane


def _trained_alone(net: Recurrent, point: Any, data: Any, config: Config, key: Any):
    training = {"permuted": False, "rate": point["rate"], "clip": jnp.float32(1e9)}
    return pixel_results(net, training, data, config, key)[0]


def nonlinear_lane(config: Config):
    """The lane of nonlinear residuals; `activation` is a place in `ACTIVATIONS`."""

    def lane(point: dict[str, Any], key: Any, data: Any) -> dict[str, Any]:
        cell_key, net_key, train_key = jr.split(key, 3)
        cell = Residual.init(
            1,
            config.units,
            key=cell_key,
            residual=NonlinearByNumber(data["informed"], point["activation"]),
            coupling=jnp.float32(config.coupling),
        )
        net = Recurrent.init(cell, outputs=10, key=net_key, readout="last")
        return _trained_alone(net, point, data, config, train_key)

    return lane


def gated_lane(config: Config):
    """The lane of gated cells, alone or behind a residual; `kind` is static.

    A gated cell by itself is the row with R = 0 and coupling 1; behind a residual it
    takes the informed one, as the plain cells do.
    """

    def lane(point: dict[str, Any], key: Any, data: Any) -> dict[str, Any]:
        cell_key, net_key, train_key = jr.split(key, 3)
        R, behind = data["informed"], point["behind"] > 0
        cell = WeaklyCoupled(
            GATES[point["kind"]].init(1, config.units, key=cell_key),
            jnp.where(behind, R, jnp.zeros_like(R)),
            jnp.where(behind, jnp.float32(config.coupling), jnp.float32(1)),
        )
        net = Recurrent.init(cell, outputs=10, key=net_key, readout="last")
        return _trained_alone(net, point, data, config, train_key)

    return lane


def adding_lane(config: Config):
    """The lane of the adding problem; `length` is static, `kind` picks a row."""

    def lane(point: dict[str, Any], key: Any, data: Any) -> dict[str, Any]:
        cell_key, net_key, train_key, data_key = jr.split(key, 4)
        residual = data["residual"][point["kind"]]
        radii = data["radii"][point["kind"]] ** (1 / point["length"])
        R = rotation_blocks(radii, data["angles"][point["kind"]])
        base = Residual.init(2, config.units, key=cell_key)
        Q = orthogonal(config.units, key=cell_key)
        cell = Residual(
            jnp.where(residual, R, jnp.zeros_like(R)),
            jnp.where(residual, base.W_h, Q),
            base.W_x,
            base.b,
            jnp.where(residual, jnp.float32(config.coupling), jnp.float32(1)),
        )
        net = Recurrent.init(cell, outputs=1, key=net_key, readout="last")
        part, rest = learned(net)

        def loss(part, batch, key):
            xs, y = batch
            return jnp.square(on_batch(eqx.combine(part, rest), xs)[:, 0] - y).mean()

        # Drawn once and picked from: a draw inside the step takes long to compile.
        count = config.adding_steps * config.batch
        drawn = adding(count + 250, point["length"], key=data_key)
        held_out = jax.tree.map(lambda part: part[count:], drawn)

        def batch(data, step, key):
            at = lambda part: jax.lax.dynamic_slice_in_dim(part, step * config.batch, config.batch)
            return jax.tree.map(at, drawn)

        _, history = trained(
            part,
            loss,
            optimizer(point["rate"], jnp.float32(1.0)),
            steps=config.adding_steps,
            key=train_key,
            batch=batch,
            metrics=lambda part, data: {"error": loss(part, held_out, key)},
            every=config.adding_steps // 4,
        )
        return history

    return lane
