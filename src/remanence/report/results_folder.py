"""Writing results: a file or a folder is there as a whole or not at all."""

import contextlib
import errno
import pathlib
import shutil
import tempfile
from collections.abc import Iterator

from .. import _atomic_write


CONTENTS = ("claims.json", "data.zarr", "figures", "index.html", "provenance.json")
"""What the folder of a result holds, and nothing else."""


def write_atomically(path: pathlib.Path, content: bytes) -> pathlib.Path:
    """Put `content` at `path` as a whole or not at all; its folder is made."""
    path.parent.mkdir(parents=True, exist_ok=True)
    return _atomic_write.write_atomically(path, content)


@contextlib.contextmanager
def replacing_folder(
    folder: pathlib.Path, scratch: pathlib.Path | None = None
) -> Iterator[pathlib.Path]:
    """A fresh folder to fill; it takes the place of `folder` once it is complete.

    It is filled under `scratch`, which belongs to the run, so that what a killed
    process leaves there goes with the run's other parts. A folder that holds anything
    but a result is somebody else's and is refused.
    """
    refuse_foreign_files(folder)
    folder.parent.mkdir(parents=True, exist_ok=True)
    home = tempfile.mkdtemp(prefix=f".{folder.name}.", dir=scratch or folder.parent)
    fresh = pathlib.Path(home) / "fresh"
    fresh.mkdir()
    try:
        yield fresh
        fresh.chmod(0o755)
        _swap(fresh, folder, pathlib.Path(home))
    finally:
        shutil.rmtree(home, ignore_errors=True)


def _swap(fresh: pathlib.Path, folder: pathlib.Path, home: pathlib.Path) -> None:
    """Put `fresh` in the place of `folder`, also while other runs do the same."""
    for attempt in range(100):
        older = home / f"older-{attempt}"
        with contextlib.suppress(FileNotFoundError):
            folder.replace(older)
        try:
            fresh.replace(folder)
        except OSError as error:
            if error.errno in (errno.ENOTEMPTY, errno.EEXIST):
                continue  # another run was faster; its result is replaced in turn
            if older.exists():
                older.replace(folder)
            raise
        return
    raise OSError(f"{folder} is replaced by other runs all the time")


def refuse_foreign_files(folder: pathlib.Path) -> None:
    """Refuse to replace a folder that was not written by us."""
    if not folder.exists():
        return
    if not folder.is_dir():
        raise ValueError(f"{folder} is a file, so no result can be written there")
    foreign = sorted({path.name for path in folder.iterdir()} - {*CONTENTS})
    if foreign:
        raise ValueError(
            f"{folder} holds {foreign[0]!r}, which is not part of a result; "
            "move it or choose another --out"
        )
