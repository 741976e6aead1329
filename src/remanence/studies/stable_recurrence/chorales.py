"""Experiment 4: polyphonic music (JSB chorales), stable and free: nats a chord."""

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import optax

from ...cells import Elman, LSTM
from ...nets import Recurrent, truncate
from ...report import Bench
from ...tasks import Music, music
from ...train import fit
from ...train.projection import stable


def chord_loss(model, rolls, lengths):
    """Mean negative log-likelihood of the next chord, padding left out."""
    logits = jax.vmap(model)(rolls[:, :-1])
    each = optax.sigmoid_binary_cross_entropy(logits, rolls[:, 1:]).sum(-1)
    real = jnp.arange(each.shape[1])[None] < lengths[:, None] - 1
    return jnp.where(real, each, 0.0).sum() / real.sum()


def chorales(units: int, steps: int, windows: tuple[int, ...], bench: Bench) -> dict:
    """Test loss of four models, and of their truncations."""
    parts = music("jsb")
    found = {}
    for kind, draw in (("rnn", Elman), ("lstm", LSTM)):
        for free in (False, True):
            name = f"jsb-{kind}-{'free' if free else 'stable'}"
            key_cell, key_net = jr.split(jr.key(bench.seed))
            cell = draw.init(88, units, key=key_cell)
            net = Recurrent.init(cell, outputs=88, key=key_net)
            held = lambda net: eqx.tree_at(lambda n: n.cell, net, stable(net.cell))

            def loss(model, batch, key):
                rolls, lengths = batch
                # Notes are 0 or 1; three quarters keep them in the LSTM's domain.
                return chord_loss(_Quiet(model), rolls, lengths)

            def batch(data, step, key):
                rows = jr.randint(key, (32,), 0, data.rolls.shape[0])
                return data.rolls[rows], data.lengths[rows]

            done = fit(
                net if free else held(net),
                loss,
                optax.chain(optax.clip_by_global_norm(1.0), optax.adam(3e-3)),
                steps=steps,
                key=jr.key(bench.seed + 1),
                data=_trimmed(parts["train"], 80),
                batch=batch,
                every=max(steps // 4, 1),
                project=None if free else held,
                folder=bench.folder / "models" / name,
                title=name,
                quiet=bench.quiet,
            )
            test = _trimmed(parts["test"], 129)
            price = eqx.filter_jit(chord_loss)
            rolls, lengths = jnp.asarray(test.rolls), jnp.asarray(test.lengths)
            found[name] = {
                "nll": float(price(_Quiet(done.model), rolls, lengths)),
                "windows": list(windows),
                "truncated": [
                    float(
                        price(_Quiet(truncate(done.model, k)), rolls[:24], lengths[:24])
                    )
                    for k in windows
                ],
            }
    return found


class _Quiet(eqx.Module):
    """A model that hears piano rolls at three quarters of their height."""

    model: eqx.Module

    def __call__(self, xs):
        return self.model(0.75 * xs)  # pyright: ignore[reportCallIssue]


def _trimmed(part: Music, time: int) -> Music:
    return Music(part.rolls[:, :time], np.minimum(part.lengths, time))
