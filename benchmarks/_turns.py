"""Contestants take turns, each rested and warm: what `training_step` and `truncation` share."""

import time

import numpy as np


PAUSE = 0.05
"""Seconds of rest: idle threads of the one before spin for a while, on the same cores."""


def interleaved(contestants, repeats):
    """Seconds of each contestant, in turn; the call after the pause is not counted."""
    times = {name: [] for name in contestants}
    for call in contestants.values():
        call()
    for _ in range(repeats):
        for name, call in contestants.items():
            time.sleep(PAUSE)
            call()
            begun = time.perf_counter()
            call()
            times[name].append(time.perf_counter() - begun)
    return {name: np.array(values) for name, values in times.items()}
