"""Results are written whole, and what is damaged is named, never believed."""

import os

import pytest
import small_study

from remanence.report import concluded, Damaged, read_data, stored
from remanence.report.store import CONTENTS, whole_folder, write_whole


def test_a_result_reads_back_as_it_was_judged(result, folder):
    read = stored(folder)
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
    [
        "claims.json",
        "provenance.json",
        "index.html",
        "figures/orbit.csv",
        "data.zarr/orbit/x/0",
    ],
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
        Damaged, match=name.split("/")[0] if name != "provenance.json" else "json"
    ):
        stored(folder)


@pytest.mark.parametrize("content", [b"\xff\xfe", b"[]", b"null", b"{", b"[" * 100_000])
def test_a_document_that_is_none_is_damaged(folder, content):
    (folder / "provenance.json").write_bytes(content)
    with pytest.raises(Damaged, match=r"provenance\.json"):
        stored(folder)


def test_no_folder_and_an_empty_folder_are_no_result(tmp_path):
    assert stored(tmp_path / "nothing") is None
    assert stored(tmp_path) is None


def test_a_folder_of_somebody_else_is_left_alone(tmp_path):
    place = tmp_path / "memorization"
    place.mkdir()
    (place / "thesis.tex").write_text("mine")
    with (
        pytest.raises(ValueError, match=r"holds 'thesis\.tex', which is not part"),
        whole_folder(place),
    ):
        pass
    assert (place / "thesis.tex").read_text() == "mine"


def test_a_failed_rewrite_leaves_the_old_result(folder):
    before = (folder / "claims.json").read_bytes()

    def half():
        with whole_folder(folder) as fresh:
            (fresh / "claims.json").write_text("half")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        half()
    assert (folder / "claims.json").read_bytes() == before
    assert sorted(path.name for path in folder.parent.iterdir()) == ["memorization"]


def test_a_failed_write_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "a.json"
    write_whole(path, b"old")
    monkeypatch.setattr(os, "fsync", lambda descriptor: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        write_whole(path, b"new")
    assert [p.name for p in tmp_path.iterdir()] == [
        "a.json"
    ] and path.read_bytes() == b"old"


def test_evidence_without_a_statement_is_a_bug():
    chosen = small_study.study()
    outcome = small_study.Outcome(evidence={"000.9": {}}, data={}, figures=())
    with pytest.raises(RuntimeError, match=r"000\.9"):
        concluded(chosen, outcome, profile="quick", seed=0, command="", provenance={})
