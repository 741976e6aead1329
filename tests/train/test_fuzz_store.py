"""Folders of sweeps with anything in them: believed only where the digest fits, never a crash."""

import os

import numpy as np
import pytest
from fuzzed import changed, Counts, JSON
from hypothesis import given, HealthCheck, settings, strategies as st

from remanence.sweeps import opened_store
from remanence.train.checkpoint import newest_checkpoint, save_checkpoint
from remanence.train.store import part_bytes


ARRAYS = {"x": np.arange(6.0), "log": np.asarray([np.nan, 1.0])}
WORK = {"axis x": [1.0, 2.0], "chunk": 4}
quickly = settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture(scope="module")
def counts():
    return Counts("folders of sweeps")


@quickly
@given(
    body=JSON
    | st.fixed_dictionaries(
        {"schema": st.just(2) | JSON}, optional={"work": JSON, "environment": JSON}
    )
)
def test_a_sound_plan_that_is_none_is_written_again_or_refused(tmp_path, counts, body):
    plan = part_bytes({}, {"plan": "plan", "part": "plan"}, body)
    (tmp_path / "plan.safetensors").write_bytes(plan)
    try:
        with opened_store(tmp_path, WORK) as store:
            counts.add("plan written again" if store.notices else "plan read")
            store.put("part", ARRAYS)
            assert store.get("part") is not None
    except ValueError as refusal:
        named = any(words in str(refusal) for words in ("has schema", "differs in"))
        counts.add("plan refused" if named else "plan refused without a name")


def test_changed_plans_parts_and_checkpoints_are_never_believed(tmp_path, counts):
    rng = np.random.default_rng(0)
    with opened_store(tmp_path, WORK) as store:
        store.put("part", ARRAYS)
        part, plan = tmp_path / "part.safetensors", tmp_path / "plan.safetensors"
        sound = part.read_bytes(), plan.read_bytes()
        for _ in range(400):
            part.write_bytes(changed(rng, sound[0]))
            back = store.get("part")
            counts.add("part refused" if back is None else "part read")
            assert back is None or back["x"].tobytes() == ARRAYS["x"].tobytes()
        part.write_bytes(sound[0])
    for _ in range(100):
        plan.write_bytes(changed(rng, sound[1]))
        with opened_store(tmp_path, WORK) as store:
            counts.add("plan written again" if store.notices else "plan read")
            assert store.get("part") is not None
    with opened_store(tmp_path / "training", WORK) as store:
        save_checkpoint(store, 7, ARRAYS)
        (path,) = store.folder.glob("checkpoint-*")
        whole = path.read_bytes()
        for _ in range(300):
            path.write_bytes(changed(rng, whole))
            store.notices.clear()
            found = newest_checkpoint(store)
            counts.add("checkpoint refused" if found is None else "checkpoint read")
            assert found is not None or "is damaged" in store.notices[0]
            assert found is None or found["x"].tobytes() == ARRAYS["x"].tobytes()


@pytest.mark.parametrize("name", ["part.safetensors", "plan.safetensors"])
def test_a_link_is_not_followed(tmp_path, counts, name):
    home, elsewhere = tmp_path / "sweep", tmp_path / "elsewhere"
    with opened_store(home, WORK) as store:
        store.put("part", ARRAYS)
    (home / name).rename(elsewhere)
    (home / name).symlink_to(elsewhere)
    with opened_store(home, WORK) as store:
        back = store.get("part")
        assert "it is a link" in store.notices[0]
        assert (back is None) == (name == "part.safetensors")
        store.put("part", ARRAYS)
    # What the link led to is untouched; the link itself was replaced.
    assert elsewhere.is_file() and not (home / name).is_symlink()


def test_a_pipe_is_not_waited_for(tmp_path):
    with opened_store(tmp_path, WORK) as store:
        os.mkfifo(tmp_path / "part.safetensors")
        assert store.get("part") is None and "it is a link or no file" in store.notices[0]


def test_an_absurd_size_is_refused_unread(tmp_path):
    with opened_store(tmp_path, WORK) as store:
        store.put("part", ARRAYS)
        with (tmp_path / "part.safetensors").open("r+b") as file:
            os.truncate(file.fileno(), 2**40)  # sparse: takes no room on the disk
        assert store.get("part") is None and "too large" in store.notices[0]


def test_what_was_seen(counts, capsys):
    seen = counts.done(capsys)
    assert "plan refused without a name" not in seen
    assert seen["plan refused"] > 20 and seen["plan written again"] > 50
    assert seen["part refused"] > 300 and seen["checkpoint refused"] > 200
