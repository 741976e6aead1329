"""Whatever is on disk, only what was written is believed."""

import errno
import os
import subprocess

import numpy as np
import pytest

from remanence.sweeps import opened_store
from remanence.train import identity
from remanence.train.store import part_bytes


ARRAYS = {
    "float": np.asarray([np.nan, -0.0, 1e-45], dtype=np.float32),
    "double": np.asarray(1.5),
    "complex": np.asarray([[1 + 2j]], dtype=np.complex64),
    "bool": np.asarray([True, False]),
    "int": np.arange(3),
    "empty": np.zeros((2, 0)),
}


def test_parts_come_back_with_their_bits(tmp_path):
    with opened_store(tmp_path, {"x": 1}) as store:
        assert store.get("part") is None
        store.put("part", ARRAYS)
    with opened_store(tmp_path, {"x": 1}) as store:
        back = store.get("part")
    assert back.keys() == ARRAYS.keys()
    for name, array in ARRAYS.items():
        assert back[name].dtype == array.dtype and back[name].shape == array.shape
        assert back[name].tobytes() == array.tobytes()


def test_no_changed_or_missing_byte_is_believed(tmp_path, capsys):
    with opened_store(tmp_path, {"x": 1}) as store:
        store.put("part", ARRAYS)
        path = tmp_path / "part.safetensors"
        sound = path.read_bytes()
        tried = 0
        for place in range(len(sound)):
            changed = bytearray(sound)
            changed[place] ^= 1 << place % 8
            path.write_bytes(changed)
            back = store.get("part")
            assert back is None
            tried += 1
        for size in range(0, len(sound), 16):
            path.write_bytes(sound[:size])
            assert store.get("part") is None
        path.write_bytes(sound + b"\0")
        assert store.get("part") is None
        assert len(store.notices) > tried
        assert f"{path} is damaged" in capsys.readouterr().err


def test_a_part_under_another_name_or_of_another_plan_is_not_believed(tmp_path):
    with opened_store(tmp_path / "a", {"x": 1}) as a:
        a.put("one", ARRAYS)
        (tmp_path / "a/one.safetensors").rename(tmp_path / "a/two.safetensors")
        assert a.get("two") is None and "its part is another" in a.notices[0]
    with opened_store(tmp_path / "b", {"x": 2}) as b:
        os.link(tmp_path / "a/two.safetensors", tmp_path / "b/two.safetensors")
        assert b.get("two") is None and "its plan is another" in b.notices[0]


def test_other_work_in_the_folder_is_refused_by_what_differs(tmp_path):
    with opened_store(tmp_path, {"chunk": 4, "seed": 0}):
        pass
    sentence = r"other work, which differs in chunk \(4 there, 8 here\)"
    with pytest.raises(ValueError, match=sentence), opened_store(tmp_path, {"chunk": 8, "seed": 0}):
        pass


def test_parts_of_other_code_are_computed_again(tmp_path, monkeypatch, capsys):
    with opened_store(tmp_path, {"x": 1}) as store:
        store.put("part", ARRAYS)
    monkeypatch.setattr(identity, "code_hash", lambda *parts: "other")
    with opened_store(tmp_path, {"x": 1}) as store:
        assert store.get("part") is None
    assert "computed with other code" in capsys.readouterr().err


def test_a_damaged_plan_is_named_and_written_again(tmp_path):
    with opened_store(tmp_path, {"x": 1}) as store:
        store.put("part", ARRAYS)
    plan = tmp_path / "plan.safetensors"
    sound = plan.read_bytes()
    for other, believed in (({"x": 1}, True), ({"x": 2}, False)):
        plan.write_bytes(sound[:-9])
        with opened_store(tmp_path, other) as store:
            assert "plan.safetensors is damaged" in store.notices[0]
            # The digest of a part names its plan, so no part is taken for another's.
            assert (store.get("part") is not None) is believed
    assert plan.read_bytes() != sound


def test_files_of_others_are_never_removed(tmp_path, monkeypatch):
    theirs = tmp_path / "model.safetensors"
    theirs.write_bytes(b"not ours")
    with opened_store(tmp_path, {"x": 1}) as store:
        store.put("part", ARRAYS)
    monkeypatch.setattr(identity, "code_hash", lambda *parts: "other")
    with opened_store(tmp_path, {"x": 1}):
        assert not (tmp_path / "part.safetensors").exists()
    assert theirs.read_bytes() == b"not ours"


def test_another_schema_is_refused_by_name(tmp_path):
    plan = part_bytes({}, {"plan": "plan", "part": "plan"}, {"schema": 99})
    (tmp_path / "plan.safetensors").write_bytes(plan)
    with (
        pytest.raises(ValueError, match="schema 99, this version reads 2"),
        opened_store(tmp_path, {"x": 1}),
    ):
        pass


@pytest.mark.parametrize("name", ["../part", ".hidden", "a/b", ""])
def test_a_part_stays_in_its_folder(tmp_path, name):
    with opened_store(tmp_path, {}) as store, pytest.raises(ValueError, match="name of a part"):
        store.put(name, ARRAYS)


@pytest.fixture
def small_disk(tmp_path):
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(folder)]
    try:
        done = subprocess.run(mount, capture_output=True).returncode == 0
    except OSError:
        done = False
    if not done:
        pytest.skip("no right to mount a small disk here; ENOSPC is tested by hand below")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def test_a_really_full_disk_keeps_what_was_stored(small_disk):
    big = {"x": np.arange(2_000.0)}  # 16 kB a part: the fourth or fifth does not fit
    with opened_store(small_disk, {"x": 1}) as store:
        put = lambda: [store.put(f"part-{number}", big) for number in range(9)]
        with pytest.raises(OSError, match="could not be stored") as caught:
            put()
        stored = len(list(small_disk.glob("part-*.safetensors")))
        assert caught.value.errno == errno.ENOSPC and 1 <= stored < 9
        assert "the same call continues" in str(caught.value)
        for number in range(stored):
            np.testing.assert_array_equal(store.get(f"part-{number}")["x"], big["x"])
        assert store.get(f"part-{stored}") is None
        assert not list(small_disk.glob(".*.aside")) and not store.notices


def test_a_write_without_space_says_what_is_kept(tmp_path, monkeypatch):
    def full(handle):
        raise OSError(errno.ENOSPC, "No space left on device")

    with opened_store(tmp_path, {"x": 1}) as store:
        store.put("one", ARRAYS)
        monkeypatch.setattr(os, "fsync", full)
        with pytest.raises(OSError, match=r"two could not be stored .No space left"):
            store.put("two", ARRAYS)
        assert store.get("one") is not None and store.get("two") is None
