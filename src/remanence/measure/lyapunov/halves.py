r"""A whole spectrum in two halves: the slow directions forward, the fast ones by $J^{-\top}$.

If $J Q = Q' R$ with $Q = [Q_1\,Q_2]$ orthonormal, then $J Q_1 = Q_1' R_{11}$ and
$J^{-\top} Q_2 = Q_2' R_{22}^{-\top}$: each half is carried by itself, and the diagonals are
those of the whole frame at every step. In a half the columns grow apart half as far or
less, so it is factorised more rarely, and the halves run side by side on two cores.
"""

import dataclasses
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import equinox as eqx
import jax
import numpy as np

from ..._precision import double
from ..._types import Frame, State
from ...cells import dual_pushforward
from ..drive import Drive
from .run import follow_orbit, Growth
from .segment import TOLERANCE


LEAST = 64  # directions of a frame that is worth two programs


def follow_frame(drive: Drive, h: State, Q: Frame, *, fixed: int | None, **options: Any) -> Growth:
    """`follow_orbit`, in halves where the cell offers $J^{-\top}$ and rounding allows it."""
    if fixed is None and Q.shape[0] == Q.shape[1] >= LEAST and _offers_dual(drive.cell):
        found = _by_halves(drive, h, Q, **options)
        if found is not None:
            return found
    return follow_orbit(drive, h, Q, fixed=fixed, **options)


def _offers_dual(cell: Any) -> bool:
    """Looked at and not computed: the inverse is made inside the program."""
    return eqx.filter_eval_shape(dual_pushforward, cell) is not None


def _by_halves(drive: Drive, h: State, Q: Frame, *, warmup: int, progress: Any) -> Growth | None:
    """Both halves as one; None where they cannot be told to rounding."""
    half, whole, given_up = Q.shape[1] // 2, np.asarray(Q), threading.Event()
    # In NumPy: JAX compiles a program for every slice.
    first, last = map(jax.device_put, (whole[:, : Q.shape[1] - half], whole[:, ::-1][:, :half]))

    def forward() -> Growth:
        def look(step: int, end: int) -> None:
            if given_up.is_set():
                raise InterruptedError

        with double():  # of this thread
            return follow_orbit(drive, h, first, warmup=warmup, progress=look)

    with ThreadPoolExecutor(1) as pool:
        begun = pool.submit(forward)
        try:
            fast = follow_orbit(drive, h, last, warmup=warmup, progress=progress, dual=True)
        except BaseException:
            given_up.set()
            raise
        if not fast.rounding.max() <= 2 * TOLERANCE or fast.dead.any():
            given_up.set()
            return None
        slow = begun.result()
    same = slow.growth.shape[:2] == fast.growth.shape[:2]  # the state may leave the floats
    if not same or not slow.rounding.max() <= 2 * TOLERANCE or slow.dead.any():
        return None
    join = lambda one, two: np.concatenate([one, two[..., ::-1]], axis=-1)
    return dataclasses.replace(
        slow,
        growth=join(slow.growth, -fast.growth),
        early=join(slow.early, -fast.early),
        dead=join(slow.dead, fast.dead),
        rounding=join(slow.rounding, fast.rounding),
        interval=(slow.interval + fast.interval) / 2,
    )
