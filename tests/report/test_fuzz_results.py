"""Result folders from anywhere: shown only if every file is what its digest says."""

import json
import os

import numpy as np
import pytest
import small_study
from fuzzed import changed, Counts, JSON
from hypothesis import given, HealthCheck, settings, strategies as st

from remanence.report import DamagedResult, read_result, write_results_index
from remanence.report.stored_result import digest


quickly = settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture(scope="module")
def counts():
    return Counts("result folders")


def forge(folder, document):
    """A document in the place of the claims, with the digest that belongs to it."""
    (folder / "claims.json").write_text(json.dumps(document))
    path = folder / "provenance.json"
    provenance = json.loads(path.read_text())
    provenance["files"]["claims.json"] = digest(folder / "claims.json")
    path.write_text(json.dumps(provenance))


def shown(folder, counts):
    try:
        found = read_result(folder)
    except DamagedResult:
        counts.add("refused")
    else:
        counts.add("read")
        assert found is not None
        again = found.judged_again(small_study.study().claims)
        assert all(isinstance(claim.measured, str) for claim in again.claims)
    if sum(counts.seen.values()) % 10 == 0:  # it takes as long as all the rest
        study_of = lambda name: small_study.study()
        write_results_index(folder.parent, ["memorization"], {}, study_of)


@quickly
@given(data=st.data())
def test_forged_claims_are_refused_or_whole(folder, counts, data):
    document = json.loads((folder / "claims.json").read_text())
    where = data.draw(st.sampled_from(["document", "claim", "all"]))
    if where == "all":
        document = data.draw(JSON)
    else:
        target = document if where == "document" else document["claims"][0]
        name = data.draw(st.sampled_from(sorted(target)) | st.text(max_size=5))
        target[name] = data.draw(JSON)
    kept = (folder / "claims.json").read_bytes()
    forge(folder, document)
    shown(folder, counts)
    (folder / "claims.json").write_bytes(kept)


@quickly
@given(
    document=JSON | st.dictionaries(st.sampled_from(["files", "schema", "figures", "seed"]), JSON)
)
def test_any_provenance_is_refused_or_fits(folder, counts, document):
    path = folder / "provenance.json"
    kept = path.read_text()
    if isinstance(document, dict):
        document = json.loads(kept) | document
    path.write_text(json.dumps(document))
    shown(folder, counts)
    path.write_text(kept)


def test_changed_bytes_are_refused(folder, counts):
    rng = np.random.default_rng(0)
    files = [p for p in sorted(folder.rglob("*")) if p.is_file()]
    for _ in range(200):
        path = files[rng.integers(len(files))]
        kept = path.read_bytes()
        if not kept:
            continue
        path.write_bytes(changed(rng, kept))
        shown(folder, counts)
        path.write_bytes(kept)
    assert read_result(folder) is not None


@pytest.mark.parametrize("name", ["claims.json", "figures", "data.zarr/orbit", "figures/orbit.csv"])
def test_a_link_inside_a_result_is_refused(folder, name):
    (folder / name).rename(folder.parent / "elsewhere")
    (folder / name).symlink_to(folder.parent / "elsewhere")
    with pytest.raises(DamagedResult, match="is a link, and results hold none"):
        read_result(folder)


def test_an_absurd_size_is_refused_unread(folder):
    os.truncate(folder / "provenance.json", 2**40)  # sparse
    with pytest.raises(DamagedResult, match="too large to be a document"):
        read_result(folder)


def test_an_older_schema_is_migrated_and_a_newer_refused_by_name(folder):
    path = folder / "provenance.json"
    provenance = json.loads(path.read_text())
    assert provenance.pop("schema") == 2
    path.write_text(json.dumps(provenance))  # schema 1 did not name itself
    older = read_result(folder)
    assert older is not None and older.provenance["schema"] == 2
    path.write_text(json.dumps(provenance | {"schema": 3}))
    with pytest.raises(DamagedResult, match="has schema 3, this version reads 1 and 2"):
        read_result(folder)


def test_both_outcomes_were_seen(counts, capsys):
    seen = counts.done(capsys)
    assert seen["read"] > 5 and seen["refused"] > 200
