"""Results are written as a whole, and what is damaged is named, never believed."""

import errno
import json
import os
import time

import pytest
import small_study

from remanence._atomic_write import ABANDONED
from remanence.report import (
    DamagedResult,
    read_data,
    read_result,
    write_atomically,
    write_record,
    write_results_index,
)
from remanence.report.stored_result import CONTENTS, digest, replacing_folder


def test_a_result_reads_back_as_it_was_judged(result, folder):
    read = read_result(folder)
    assert read is not None and (read.study, read.profile, read.seed) == (
        "memorization",
        "quick",
        0,
    )
    assert [(c.id, c.verdict, c.measured) for c in read.claims] == [
        (c.id, c.verdict, c.measured) for c in result.claims
    ]
    assert {c.verdict for c in read.claims} == {"holds", "refuted", "open"}
    assert sorted(path.name for path in folder.iterdir()) == sorted(CONTENTS)
    again = read_data(folder / "data.zarr")
    assert again["orbit"].equals(result.data["orbit"])
    assert str(again["cross"]["network"].values[0]) == "rotation, $0^a 1^b$"


@pytest.mark.parametrize(
    "name",
    ["claims.json", "provenance.json", "index.html", "figures/orbit.csv", "data.zarr/orbit/x/0"],
)
@pytest.mark.parametrize("harm", ["cut", "empty", "edited", "lost"])
def test_every_harm_is_noticed_and_named(folder, name, harm):
    path = folder / name
    content = path.read_bytes()
    if harm == "lost":
        path.unlink()
    else:
        path.write_bytes(
            {
                "cut": content[: len(content) // 2],
                "empty": b"",
                "edited": content[:-1] + bytes([content[-1] ^ 1]),
            }[harm]
        )
    if harm == "edited" and name == "provenance.json":
        path.write_bytes(content.replace(b'"claims.json": "', b'"claims.json": "0'))
    with pytest.raises(
        DamagedResult, match=name.split("/")[0] if name != "provenance.json" else "json"
    ):
        read_result(folder)


@pytest.mark.parametrize("content", [b"\xff\xfe", b"[]", b"null", b"{", b"[" * 100_000])
def test_a_document_that_is_none_is_damaged(folder, content):
    (folder / "provenance.json").write_bytes(content)
    with pytest.raises(DamagedResult, match=r"provenance\.json"):
        read_result(folder)


def test_no_folder_and_an_empty_folder_are_no_result(tmp_path):
    assert read_result(tmp_path / "nothing") is None
    assert read_result(tmp_path) is None


def test_a_folder_of_somebody_else_is_left_alone(tmp_path):
    place = tmp_path / "memorization"
    place.mkdir()
    (place / "thesis.tex").write_text("mine")
    with (
        pytest.raises(ValueError, match=r"holds 'thesis\.tex', which is not part"),
        replacing_folder(place),
    ):
        pass
    assert (place / "thesis.tex").read_text() == "mine"


def test_a_failed_rewrite_leaves_the_old_result(folder):
    before = (folder / "claims.json").read_bytes()

    def half():
        with replacing_folder(folder) as fresh:
            (fresh / "claims.json").write_text("half")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        half()
    assert (folder / "claims.json").read_bytes() == before
    assert sorted(path.name for path in folder.parent.iterdir()) == ["memorization"]


def test_a_failed_write_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "a.json"
    write_atomically(path, b"old")
    monkeypatch.setattr(os, "fsync", lambda descriptor: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        write_atomically(path, b"new")
    assert [p.name for p in tmp_path.iterdir()] == ["a.json"] and path.read_bytes() == b"old"


def forge(folder, change):
    """Change the claims, with the digest that then belongs to them."""
    path = folder / "claims.json"
    document = json.loads(path.read_text())
    change(document["claims"])
    path.write_text(json.dumps(document))
    listed = folder / "provenance.json"
    provenance = json.loads(listed.read_text())
    provenance["files"] |= {name: digest(folder / name) for name in CONTENTS[:-1]}
    listed.write_text(json.dumps(provenance))


def test_a_stored_verdict_is_judged_again_from_its_evidence(folder):
    def change(claims):
        claims[0] |= {"verdict": "refuted", "measured": "nothing", "published": "?"}
        claims[1]["evidence"] = {"wrong": 7, "dimension": 11}
        claims[2] |= {"verdict": "holds", "evidence": {"no": "served"}}
        claims[3]["id"] = "000.5"

    claims = small_study.study().claims
    untouched = read_result(folder)
    assert untouched is not None and untouched.judged_again(claims).notes == ()
    forge(folder, change)
    found = read_result(folder)
    assert found is not None
    again = found.judged_again(claims)
    assert [claim.verdict for claim in again.claims] == ["holds", "refuted", "open", "open"]
    assert again.claims[0].measured == "0 wrong symbols at d = 2"
    assert again.claims[0].published == "d = 2"
    assert [claim["verdict"] for claim in again.document["claims"]] == [
        "holds",
        "refuted",
        "open",
        "open",
    ]
    assert again.notes == (
        "000.1 is stored as 'refuted', and its rule gives 'holds' for the stored evidence",
        "000.2 is stored as 'holds', and its rule gives 'refuted' for the stored evidence",
        "000.3 is stored as 'holds', and its rule cannot read the stored evidence "
        "(KeyError: 'served')",
        "000.5 is stored as 'open', and this version has no such claim",
        "000.4 is a claim of the study, and the stored result leaves it out",
    )
    home = folder.parent
    study_of = lambda name: small_study.study()
    (problem,) = write_results_index(home, ["memorization"], {}, study_of)
    assert problem == f"{again.notes[0]} (and 4 more like it)"
    page = (home / "index.html").read_text()
    assert "its rule gives &#39;refuted&#39; for the stored evidence" in page


@pytest.mark.parametrize("name", [*reversed(CONTENTS), "figures/orbit.csv", "data.zarr/orbit/x/0"])
def test_a_pipe_or_a_folder_in_the_place_of_a_file_is_refused_not_read(folder, name):
    place = folder / name
    place.rename(folder.parent / "elsewhere")
    os.mkfifo(place)
    with pytest.raises(DamagedResult, match="is a pipe or a device"):
        read_result(folder)
    place.unlink()
    place.mkdir()
    with pytest.raises(DamagedResult, match=r"is missing|not what was written"):
        read_result(folder)


def test_a_damaged_store_of_arrays_beside_good_hashes_is_named(folder):
    array = folder / "data.zarr" / "cross" / "dimension"
    chunk, described = (array / "0").read_bytes(), (array / ".zarray").read_text()
    study_of = lambda name: small_study.study()
    harms = [
        lambda: (array / "0").write_bytes(b"\xff" * len(chunk)),
        lambda: (array / ".zarray").write_text("{"),
        lambda: (array / ".zarray").write_text(
            json.dumps(json.loads(described) | {"shape": [2**40], "chunks": [2**40]})
        ),
    ]
    for harm in harms:
        harm()
        forge(folder, lambda claims: None)
        assert read_result(folder) is not None  # every digest fits
        with pytest.raises(DamagedResult, match=r"data\.zarr is damaged: it cannot be"):
            read_data(folder / "data.zarr")
        (problem,) = write_results_index(folder.parent, ["memorization"], {}, study_of)
        assert "data.zarr is damaged" in problem and "\n" not in problem
        (array / "0").write_bytes(chunk)
        (array / ".zarray").write_text(described)


@pytest.mark.parametrize("name", ["claims.json", "orbit.svg", "data.zarr"])
def test_a_full_disk_is_named_by_its_file_and_leaves_nothing(result, tmp_path, monkeypatch, name):
    def full(aside, *_, **__):
        if name == "data.zarr" or aside.name.startswith(f".{name}."):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    place = "remanence._atomic_write.between_write_and_rename"
    monkeypatch.setattr("xarray.Dataset.to_zarr" if name == "data.zarr" else place, full)
    with pytest.raises(OSError, match="No space left on device") as caught:
        write_record(result, tmp_path)
    assert str(caught.value.filename).endswith(name)
    assert list(tmp_path.iterdir()) == []


def test_what_a_killed_writer_left_is_removed_by_a_later_one(tmp_path):
    old, new = tmp_path / ".a.json.x.aside", tmp_path / ".a.json.y.aside"
    other = tmp_path / ".b.json.x.aside"
    for path in (old, new, other):
        path.write_bytes(b"half")
    before = time.time() - ABANDONED - 60
    for path in (old, other):
        os.utime(path, (before, before))
    write_atomically(tmp_path / "a.json", b"{}")
    assert not old.exists()
    assert new.exists() and other.exists()  # somebody's who may be writing, another file's


def test_two_results_that_are_written_at_once_leave_one_whole(result, tmp_path):
    first = tmp_path / "memorization"
    with replacing_folder(first) as one, replacing_folder(first) as other:
        (one / "claims.json").write_text("one")
        (other / "claims.json").write_text("other")
    assert (first / "claims.json").read_text() == "one"  # the last to be finished
    assert [path.name for path in tmp_path.iterdir()] == ["memorization"]
