"""A limit in time, which every long loop looks at and every solver is told."""

import math
import time


clock = time.monotonic
"""What is looked at; tests put a clock of their own in its place."""


class Deadline:
    """So many seconds from now."""

    def __init__(self, seconds: float):
        self.end = clock() + seconds

    @property
    def left(self) -> float:
        """Seconds until then, none if it is past."""
        return max(0.0, self.end - clock())

    @property
    def late(self) -> bool:
        return clock() > self.end

    def check(self) -> None:
        """Raise `TimeoutError` if it is past."""
        if self.late:
            raise TimeoutError

    def affords(self, seconds: float) -> bool:
        """Whether a call that cannot be stopped, and takes about so long, may begin:
        guesses are off by factors, so most of what is left is kept back."""
        return 4 * seconds <= self.left


NEVER = Deadline(math.inf)
