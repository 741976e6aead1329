r"""The window that a certificate proves: $\|h_t - h_t^k\| \le \mathrm{reach}\cdot\lambda^k$.

Lemma 1 of Miller and Hardt (2019) with what it leaves out: $\phi(0, 0)$ need not be
0, and a metric has its overshoot. Both are inside a certificate's `reach`.
"""

import bisect
import math
from typing import Any, get_args

import numpy as np

from ...nets import Recurrent
from ..contraction import Contraction, StackProof
from ..replay import replay_window
from ..replay.record import Of


LARGEST = 1_000_000
"""Windows beyond this are refused: nothing is saved by them."""


def truncation_bound(proof: Contraction, window: int, *, net: Recurrent | None = None) -> float:
    """The proved gap of the states, or of the outputs of `net`, at one window.

    Every rung that the certificate climbed bounds the gap; the least bound counts.
    """
    if window < 1:
        raise ValueError(f"window must be at least 1, got {window}")
    if proof.vacuous:
        raise ValueError(
            f"the certificate is vacuous (best rate {proof.rate:.4g}), so no gap is proved; "
            "truncation_error measures one"
        )
    found = [
        rung["reach"] * rung["rate"] ** window
        for rung in proof.evidence["metrics"].values()
        if rung["rate"] < 1
    ]
    gap = min(found)
    if not math.isfinite(gap):
        raise ValueError(
            "the states of this cell have no bound without one on its inputs; "
            "give contraction an input_bound"
        )
    if net is not None and net.head is not None:
        raise ValueError(
            "nothing is proved behind a head that is any function; the window of the "
            "states (of='states'), or a measured one, would do"
        )
    if net is not None and net.W_y is not None:
        gap *= float(np.linalg.norm(np.asarray(net.W_y, np.float64), 2))
    return gap * (1 + 1e-12)


def truncation_window(
    what: Contraction | Any,
    *,
    error: float,
    inputs: Any = None,
    net: Recurrent | None = None,
    of: Of | None = None,
    lengths: Any = None,
) -> int:
    """The smallest window that keeps a gap below `error`: proved or measured.

    From a certificate the window is proved: for the states, or for the outputs of
    `net` where it is given, unless `of` says otherwise; `inputs`, if given, are checked
    against the certificate's bound. From a network or cell with `inputs` (padded ones
    with `lengths`) it is `replay_window(...).window`, of the outputs unless `of="states"`.
    A language model's `StackProof` gives tokens: for the outputs of its cell or, with `net`,
    for the next-token distribution in nats.

    >>> import jax.numpy as jnp
    >>> from remanence.cells import Linear
    >>> from remanence.measure import contraction
    >>> proof = contraction(Linear(0.5 * jnp.eye(1), jnp.ones((1, 1))), input_bound=1.0)
    >>> truncation_window(proof, error=1e-3)
    11
    """
    if of is not None and of not in get_args(Of):
        raise ValueError(f"of must be 'states' or 'outputs', got {of!r}")
    if not (error > 0 and math.isfinite(error)):
        raise ValueError(f"error must be a positive number, got {error}")
    if isinstance(what, StackProof):
        return what.window(error, net)
    if not isinstance(what, Contraction):
        if inputs is None:
            raise ValueError("a measured window needs inputs to be measured on")
        found = replay_window(what, inputs, error=error, of=of or "outputs", lengths=lengths)
        if math.isinf(found.window):
            raise ValueError(
                f"no window up to {found.longest} steps keeps every {found.of[:-1]} "
                f"within {error:g}"
            )
        return int(found.window)
    of = of or ("states" if net is None else "outputs")
    if of == "outputs" and net is None:
        raise ValueError("a proved window of the outputs needs net=, whose outputs they are")
    if inputs is not None:
        tokens = np.issubdtype(np.asarray(inputs).dtype, np.integer)
        if tokens and net is not None and net.embedding is not None:
            inputs = net.embed(inputs)
        within(what, inputs)
    if what.vacuous:
        raise ValueError(
            f"no window can be proved: the certificate is vacuous (best rate "
            f"{what.rate:.4g}); truncation_window(net, error=..., inputs=...) measures one"
        )
    read = net if of == "outputs" else None
    fits = lambda k: truncation_bound(what, k, net=read) <= error
    window = 1 + bisect.bisect_left(range(1, LARGEST + 1), True, key=fits)
    if window > LARGEST:
        raise ValueError(f"no window up to {LARGEST} steps keeps the error asked for")
    return window


def within(proof: Contraction, inputs: Any) -> None:
    """Refuse inputs that leave a certificate's domain, and say where."""
    if proof.input_bound is None:
        return
    x = np.abs(np.asarray(inputs, np.float64))
    if not np.all(x <= proof.input_bound):
        at = np.unravel_index(int(np.argmax(np.where(np.isnan(x), np.inf, x))), x.shape)
        raise ValueError(
            f"the inputs leave the certificate's domain: modulus {x[at]:.6g} at step "
            f"{at[-2] if x.ndim > 1 else at[0]}, component {at[-1] if x.ndim > 1 else 0}, "
            f"above input_bound {proof.input_bound:g}"
        )
