"""Parts belong to their run: other runs of the same study neither remove nor mix them."""

import dataclasses

import pytest
import small_study

from remanence import subjects
from remanence._atomic_write import locked
from remanence.subjects import parts_folder, reproduce, stored_result


@pytest.fixture
def study(monkeypatch):
    """A study whose run keeps one part, and is interrupted after it if asked."""
    seen = {"interrupt": False, "found": []}

    def run(config, bench):
        part = bench.folder / "part.json"
        seen["found"].append(part.exists())
        part.write_text(bench.profile)
        if seen["interrupt"]:
            raise KeyboardInterrupt
        return small_study.run(config, bench)

    chosen = dataclasses.replace(small_study.study(), run=run)
    monkeypatch.setattr(subjects, "study", lambda name: chosen)
    return chosen, seen


def interrupted(seen, *given, **options):
    seen["interrupt"] = True
    with pytest.raises(KeyboardInterrupt):
        reproduce(*given, **options)
    seen["interrupt"] = False


def test_an_interrupted_full_run_survives_the_end_of_a_quick_one(study, tmp_path):
    chosen, seen = study
    parts = {
        run: parts_folder(tmp_path, chosen, *run) / "part.json"
        for run in (("full", 0), ("full", 1), ("quick", 0))
    }
    interrupted(seen, "memorization", "full", seed=0, out=tmp_path)
    interrupted(seen, "memorization", "full", seed=1, out=tmp_path)
    reproduce("memorization", "quick", out=tmp_path)
    assert [path.exists() for path in parts.values()] == [True, True, False]
    found = stored_result(tmp_path / "memorization")
    assert found is not None and found.profile == "quick" and found.notes == ()
    seen["found"].clear()
    for seed in (0, 1):
        reproduce("memorization", "full", seed=seed, out=tmp_path)
    assert seen["found"] == [True, True]  # it went on from its part
    found = stored_result(tmp_path / "memorization")
    assert found is not None and (found.profile, found.seed) == ("full", 1)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["index.html", "memorization"]


def test_a_run_that_is_at_work_keeps_its_parts(study, tmp_path):
    chosen, seen = study
    with locked(parts_folder(tmp_path, chosen, "full", 0)) as parts:
        (parts / "part.json").write_text("at work")
        reproduce("memorization", "quick", out=tmp_path)
        with pytest.raises(ValueError, match="another run is at work"):
            reproduce("memorization", "full", out=tmp_path, again=True)
        assert (parts / "part.json").read_text() == "at work"
    seen["found"].clear()
    reproduce("memorization", "full", out=tmp_path)
    assert seen["found"] == [True]
    interrupted(seen, "memorization", "full", out=tmp_path)
    reproduce("memorization", "full", out=tmp_path, again=True)
    assert seen["found"] == [True, False, False]  # from the start, though a part was there


def test_a_lock_that_was_removed_with_its_folder_locks_nothing(tmp_path, monkeypatch):
    import fcntl

    lock, removed = fcntl.flock, []

    def removed_before_it_is_locked(file, how):
        if not removed:  # the run that held it ends at this moment
            removed.append((tmp_path / "run" / ".lock").unlink())
        lock(file, how)

    monkeypatch.setattr(fcntl, "flock", removed_before_it_is_locked)
    with (
        locked(tmp_path / "run"),
        pytest.raises(ValueError, match="another run is at work"),
        locked(tmp_path / "run"),
    ):
        pass
