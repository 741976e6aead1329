"""What a sweep says when it ends before its end."""

import pathlib


class LostError(RuntimeError):
    """Those who compute cannot be reached any more."""


class Unfinished(RuntimeError):
    """A sweep stopped early; `done` of `total` lanes are stored."""

    def __init__(self, reason: str, done: int, total: int, folder: pathlib.Path | None):
        lost = "were done and are lost, as there is no folder"
        kept = f"are stored in {folder}, and the same call continues there"
        super().__init__(f"{reason}: {done} of {total} lanes {kept if folder else lost}")
        self.done, self.total = done, total
