"""What a sweep says when it ends before its end."""

import pathlib


class Unfinished(RuntimeError):
    """A sweep stopped early; `done` of `total` lanes are stored."""

    def __init__(self, reason: str, done: int, total: int, folder: pathlib.Path | None):
        where = (
            f"are stored in {folder}, and the same call continues there"
            if folder
            else "were done and are lost, as there is no folder"
        )
        super().__init__(f"{reason}: {done} of {total} lanes {where}")
        self.done, self.total = done, total
