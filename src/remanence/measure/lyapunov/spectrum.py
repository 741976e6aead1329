r"""Lyapunov exponents of a recurrent map, $\lambda_i = \lim_T T^{-1} \sum_t \log r_{ii}(t)$.

The frame obeys $Q_{t+1} R_{t+1} = J_t Q_t$ with $J = \partial h' / \partial h$.
Iterating with $J^\top$ instead is another flow: its sum is the same and its
members are wrong.
"""

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import jax.random as jr
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Float

from ..._precision import double
from ..._types import Key, State
from ...cells import dimension
from ..drive import driven, refuse_fractions, start_state
from .decay_spectrum import decay_spectrum, offers_decays
from .halves import follow_frame
from .record import Spectrum
from .segment import Count, segment, start_frame
from .summary import summary


def lyapunov_spectrum(
    cell: Any,
    inputs: Any = None,
    *,
    k: int | None = None,
    h0: State | None = None,
    warmup: int | None = None,
    key: Key | None = None,
    steps: int | None = None,
    lengths: Any = None,
    interval: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Spectrum:
    r"""The Lyapunov exponents of any cell, with error bars and a verdict.

    The map is driven by `inputs` (one sequence, `time x width`, or several,
    `sequences x time x width`, padded where `lengths` says so; tokens if `cell` is
    a `Recurrent` with an embedding), or runs by itself for `steps` (`x` is None; a
    `ClosedLoop` reads its own outputs). An LSTM's state is $(h, c)$: it has $2N$ exponents.

    The first `warmup` steps (a fifth, by default) align state and frame and are
    not counted. `k` asks for the first exponents only. The frame is factorised as
    rarely as rounding allows (a block that proves too long is done again);
    `interval` fixes that by hand. `key` draws the first frame. `progress`
    is told the step reached and the last one.

    A cell that offers `log_decays` (or a delta rule's transition), driven by inputs, needs
    no frame: its exponents are means along one forward pass, and `method` says so. There
    `layers` holds them by channel and head with timescales; states that are -inf for
    certain are counted in `lost`. An `interval` asks for frames all the same.

    An exponent is -inf where a Jacobian was exactly singular (a dead ReLU). Where
    rounding hides it, the number given is one that it is below, and `below` says so.

    >>> import jax.numpy as jnp
    >>> from remanence.cells import Linear
    >>> turn = 0.5 * jnp.array([[0.6, -0.8], [0.8, 0.6]])
    >>> found = lyapunov_spectrum(Linear(turn, jnp.zeros((2, 1))), steps=100)
    >>> found.exponents.round(6).tolist(), found.converged
    ([-0.693147, -0.693147], True)
    """
    refuse_fractions(k=k, warmup=warmup, steps=steps, interval=interval)
    with double():
        drive = driven(cell, inputs, steps=steps, lengths=lengths)
        warmup = drive.time // 5 if warmup is None else warmup
        shortest = int(drive.ends.min())
        if not 0 <= warmup < shortest:
            raise ValueError(
                f"the warm-up must be shorter than the sequence: {warmup} steps of warm-up, "
                f"{shortest} steps of sequence"
            )
        size = dimension(drive.cell)
        k = size if k is None else k
        if not 1 <= k <= size:
            raise ValueError(f"k must lie between 1 and {size}, got {k}")
        if interval is not None and interval < 1:
            raise ValueError(f"interval must be at least 1, got {interval}")
        h = start_state(drive.cell, h0)
        if interval is None and drive.xs is not None and offers_decays(drive.cell):
            return decay_spectrum(drive, h, warmup, k, progress)
        # One direction more shows how far the last one asked for has settled.
        columns = min(k + 1, size)
        Q = start_frame(h, columns, key=jr.key(0) if key is None else key)
        run = follow_frame(drive, h, Q, warmup=warmup, fixed=interval, progress=progress)
    return summary(run, k=k, dimension=size, xs=drive.xs, lengths=drive.ends)


def exponents_along(
    cell: Any, h0: State, xs: Float[Array, "time inputs"] | None, **options: Any
) -> Float[Array, " k"]:
    r"""The finite-time exponents of one orbit, largest first: pure, for `jit` and `vmap`.

    The bare core, without error bars; `options` are those of `growth_along`. Call it inside
    `jax.enable_x64(True)` with float64 weights when figures matter. Many small networks run
    faster one after the other (`lax.map`) than side by side: each fits into the nearest
    cache and keeps its own interval.

    >>> import jax.numpy as jnp
    >>> from remanence.cells import Diagonal
    >>> cell = Diagonal(jnp.array([0.5, 0.25]), jnp.ones((2, 1)))
    >>> found = exponents_along(cell, jnp.zeros(2), jnp.ones((60, 1)), warmup=20)
    >>> [round(value, 3) for value in found.tolist()]
    [-0.693, -1.386]
    """
    return growth_along(cell, h0, xs, **options)[0]


def growth_along(
    cell: Any,
    h0: State,
    xs: Float[Array, "time inputs"] | None,
    *,
    k: int | None = None,
    interval: Count | None = None,
    warmup: int = 0,
    steps: int | None = None,
    key: Key | None = None,
) -> tuple[Float[Array, " k"], Float[Array, " k"]]:
    """`exponents_along`, and about what rounding cost each, both in nats a step.

    A given `interval` is kept and believed, which is quickest under `vmap`; without one it
    is found and watched. An infinite cost says that the exponent is below the number given.
    """
    time = steps if xs is None else xs.shape[0]
    if time is None or not 0 <= warmup < time:
        raise ValueError(f"the warm-up must be shorter than {time} steps, got {warmup}")
    size = ravel_pytree(h0)[0].size
    Q = start_frame(h0, k or size, key=jr.key(0) if key is None else key)
    adaptive = interval is None
    how = {"interval": 1 if interval is None else interval, "adaptive": adaptive}
    if warmup:
        early = segment(cell, h0, Q, xs, start=0, stop=warmup, **how)
        h0, Q = early.h, early.Q
        how |= {"interval": early.interval, "scale": early.scale}
    late = segment(cell, h0, Q, xs, start=warmup, stop=time, **how)
    mean = late.growth / (time - warmup)
    order = jnp.argsort(-mean)
    return mean[order], late.rounding[order] / (time - warmup)
