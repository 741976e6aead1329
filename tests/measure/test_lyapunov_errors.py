"""Error bars hold what they promise, over two hundred drawn networks."""

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
from scipy.stats import t as student

from remanence._precision import double
from remanence.cells import Elman
from remanence.measure import exponents_along
from remanence.measure.lyapunov_errors import batch_means
from remanence.measure.lyapunov_frame import segment, start_frame


def test_error_bars_cover_the_long_run():
    """200 networks: the 95 % interval holds the long-run value in 90 to 99 of 100.

    So it does for the first exponent, one in the middle and the last.
    """
    drawn, restarts, batches, steps, units = 200, 8, 24, 50, 5
    with double():

        def network(key):
            key_cell, key_gain = jr.split(key)
            gain = jr.uniform(key_gain, minval=0.5, maxval=2.0)
            cell = Elman.init(1, units, key=key_cell)
            return eqx.tree_at(lambda c: c.W_h, cell, gain * cell.W_h)

        cells = jax.vmap(network)(jr.split(jr.key(5), drawn))
        key_long, key_short = jr.split(jr.key(6))
        long = jr.normal(key_long, (30_000, 1))
        short = jr.normal(key_short, (restarts, 100 + batches * steps, 1))
        how = {"interval": 1, "adaptive": False}

        def truth(cell):
            options = {"warmup": 500, "interval": 1}
            return exponents_along(cell, jnp.zeros(units), long, **options)

        def growth(cell, xs):
            h = jnp.zeros(units)
            Q = start_frame(h, units, key=jr.key(0))
            h, Q, *_ = segment(cell, h, Q, xs, start=0, stop=100, **how)

            def batch(carry, start):
                stop = start + steps
                done = segment(cell, *carry, xs, start=start, stop=stop, **how)
                return (done.h, done.Q), done.growth

            starts = 100 + steps * jnp.arange(batches, dtype=jnp.int32)
            return jax.lax.scan(batch, (h, Q), starts)[1]

        right = np.asarray(jax.jit(jax.vmap(truth))(cells))
        every = jax.vmap(jax.vmap(growth, in_axes=(None, 0)), in_axes=(0, None))
        seen = np.asarray(jax.jit(every)(cells, short))
    spans = np.full((1, batches), steps)
    found = [[batch_means(run[None], spans) for run in net] for net in seen]
    reach = student.ppf(0.975, batches - 1)
    means = np.array([[run.mean for run in net] for net in found])
    stderrs = np.array([[run.stderr for run in net] for net in found])
    # As a spectrum does it: largest first, each with its own error.
    order = np.argsort(-means, axis=-1, kind="stable")
    means, stderrs = (np.take_along_axis(a, order, -1) for a in (means, stderrs))
    for j in (0, units // 2, units - 1):
        mean, stderr = means[..., j], stderrs[..., j]
        hits = np.abs(mean - right[:, j, None]) <= reach * stderr
        assert 0.90 <= hits.mean() <= 0.99, f"exponent {j}: {hits.mean()}"
        assert 0.90 <= hits[:, 0].mean() <= 0.99, f"exponent {j}: {hits[:, 0].mean()}"
        ratio = np.median(stderr, axis=1) / mean.std(axis=1, ddof=1)
        assert 0.5 < np.median(ratio) < 2.0
