"""A file that is there whole or not at all: write aside, flush, rename, flush the folder.

A reader never sees half a file, and a file once seen survives a power cut: the
bytes reach the disk before the name does, and the name before we go on.
"""

import contextlib
import os
import pathlib
import tempfile
import time
from collections.abc import Callable
from typing import BinaryIO


def write_atomically(path: pathlib.Path, content: bytes) -> pathlib.Path:
    """`path`, now holding `content`, for everybody to read.

    On any failure the old file is untouched, and the error names the caller's file.
    """
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder; the name of a file would do")
    if not path.parent.is_dir():
        raise FileNotFoundError(f"there is no folder {path.parent}")
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=TEMPORARY, dir=path.parent)
    aside = pathlib.Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        aside.chmod(0o644)
        between_write_and_rename(aside)
        os.replace(aside, path)  # noqa: PTH105  (os.replace is what the tests record)
    except BaseException as error:
        aside.unlink(missing_ok=True)
        if isinstance(error, OSError):  # a full disk names no file
            error.filename, error.filename2 = str(path), None
        raise
    _flush_folder(path.parent)
    for left in path.parent.glob(f".{path.name}.*{TEMPORARY}"):
        with contextlib.suppress(OSError):  # its writer may be about to rename it
            if time.time() - left.stat().st_mtime > ABANDONED:
                left.unlink()
    return path


TEMPORARY = ".aside"
"""How the name of an unfinished file ends; such files are never read."""
ABANDONED = 3600.0
"""Seconds after which an unfinished file beside ours is a killed writer's."""

between_write_and_rename: Callable[[pathlib.Path], None] = lambda aside: None
"""Called at the most delicate moment; a test waits here to be killed."""


def remove_leftovers(folder: pathlib.Path) -> pathlib.Path:
    """`folder`, rid of files that a killed process left unfinished."""
    for path in folder.glob(f".*{TEMPORARY}"):
        path.unlink(missing_ok=True)
    return folder


def _flush_folder(folder: pathlib.Path) -> None:
    # Some file systems cannot flush a folder; there the rename is all we have.
    handle = os.open(folder, os.O_RDONLY)
    try:
        with contextlib.suppress(OSError):
            os.fsync(handle)
    finally:
        os.close(handle)


@contextlib.contextmanager
def locked(folder: pathlib.Path):
    """A scope in which no other process works in `folder`; it may remove the folder.

    The lock dies with its process, so a killed run never blocks the next one.
    """
    with _locked(folder):
        yield remove_leftovers(folder)


def _locked(folder: pathlib.Path) -> BinaryIO:
    """The lock file of a folder, locked as long as it is open."""
    path = folder / ".lock"
    for _ in range(100):
        folder.mkdir(parents=True, exist_ok=True)
        if path.is_symlink() or (path.exists() and not path.is_file()):
            raise ValueError(f"{path} is a link or no file, and cannot be a lock")
        try:
            lock = path.open("ab")
        except FileNotFoundError:
            continue  # removed just now, by a run that has ended
        try:
            import fcntl

            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.fstat(lock.fileno()).st_ino == path.stat().st_ino:
                return lock
            lock.close()
        except ImportError:  # no such lock on this system: writes are still whole
            return lock
        except FileNotFoundError:
            lock.close()
        except OSError:
            lock.close()
            raise ValueError(f"another run is at work in {folder}") from None
    raise ValueError(f"other runs begin and end in {folder} all the time")
