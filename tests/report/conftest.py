"""One result of the small study, written once for all tests of results."""

import shutil

import pytest
import small_study

from remanence.report import Bench, conclude, write_record


@pytest.fixture(scope="module", autouse=True)
def full_claims(tmp_path_factory):
    """No full results, as in an installed package; a test may put some there."""
    folder = tmp_path_factory.mktemp("full")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("remanence.report.pages.FULL_RESULTS", folder)
        yield folder


@pytest.fixture(scope="module")
def result(tmp_path_factory, full_claims):
    """What was written."""
    chosen = small_study.study()
    parts = tmp_path_factory.mktemp("parts")
    outcome = small_study.run(chosen.profiles["quick"], Bench(folder=parts))
    record = conclude(
        chosen,
        outcome,
        profile="quick",
        seed=0,
        command="remanence reproduce memorization",
        provenance={"seconds": 1.0},
    )
    return write_record(record, tmp_path_factory.mktemp("results"))


@pytest.fixture
def folder(result, tmp_path):
    """A copy to be harmed."""
    return shutil.copytree(result.folder, tmp_path / "memorization")
