"""The order of the system calls is the promise, so it is the order that is tested."""

import errno
import os
import pathlib

import pytest

from remanence import _atomic_write as whole
from remanence._atomic_write import write_atomically


@pytest.fixture
def calls(monkeypatch):
    """The calls that matter, in order, each with the file it was made on."""
    made = []
    name_of = lambda fd: pathlib.Path(f"/proc/self/fd/{fd}").readlink().name
    for name in ("fsync", "replace"):
        real = getattr(os, name)

        def recorded(*args, name=name, real=real):
            target = name_of(args[0]) if name == "fsync" else pathlib.Path(args[1]).name
            made.append((name, target))
            return real(*args)

        monkeypatch.setattr(os, name, recorded)
    return made


@pytest.mark.skipif(not pathlib.Path("/proc/self/fd").is_dir(), reason="needs /proc")
def test_bytes_reach_the_disk_before_the_name_and_the_name_before_we_go_on(tmp_path, calls):
    write_atomically(tmp_path / "part", b"content")
    (first, aside), (second, name), (third, folder) = calls
    assert (first, second, third) == ("fsync", "replace", "fsync")
    assert aside.endswith(whole.TEMPORARY)
    assert (name, folder) == ("part", tmp_path.name)
    assert (tmp_path / "part").read_bytes() == b"content"


def test_at_the_moment_before_the_rename_the_new_file_is_complete(tmp_path, monkeypatch):
    target = tmp_path / "part"
    target.write_bytes(b"old")
    seen = []

    def look(aside):
        seen.append((aside.read_bytes(), target.read_bytes()))

    monkeypatch.setattr(whole, "between_write_and_rename", look)
    write_atomically(target, b"new")
    assert seen == [(b"new", b"old")]


@pytest.mark.parametrize("call", ["fsync", "replace"])
def test_a_full_disk_leaves_the_old_file_and_no_litter(tmp_path, monkeypatch, call):
    target = tmp_path / "part"
    write_atomically(target, b"old")

    def full(*args):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, call, full)
    with pytest.raises(OSError, match="No space"):
        write_atomically(target, b"new")
    assert target.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [target]


def test_leftovers_of_a_killed_process_are_swept_away_and_only_they(tmp_path):
    (tmp_path / f".part.x{whole.TEMPORARY}").write_bytes(b"half")
    (tmp_path / "part").write_bytes(b"whole")
    with whole.locked(tmp_path):
        assert {path.name for path in tmp_path.iterdir()} == {"part", ".lock"}


def test_two_runs_do_not_share_a_folder(tmp_path):
    with (
        whole.locked(tmp_path),
        pytest.raises(ValueError, match="another run is at work"),
        whole.locked(tmp_path),
    ):
        pass
    with whole.locked(tmp_path):  # the lock is given back
        pass


def test_a_place_where_no_file_can_be_is_told_by_the_callers_name(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"there is no folder .*nowhere$"):
        write_atomically(tmp_path / "nowhere" / "part", b"content")
    with pytest.raises(IsADirectoryError, match=f"{tmp_path.name} is a folder"):
        write_atomically(tmp_path, b"content")
