"""The author's own cells, redone by the quick profile from a file like his."""

import pytest

from remanence.report import Bench
from remanence.subjects.shared_representations.config import QUICK
from remanence.subjects.shared_representations.figure_one import author_cells


HEAD = "num_languages,num_words,hidden_size,train_frac,init_scale,seed,test_loss\n"


@pytest.fixture
def file(tmp_path, monkeypatch):
    monkeypatch.setenv("REMANENCE_DATA", str(tmp_path))
    (tmp_path / "gdln").mkdir()
    return tmp_path / "gdln" / "figure1_sample.csv"


def test_a_published_cell_comes_out_again(file, tmp_path):
    file.write_text(
        HEAD + "10,32,32,0.341,0.001,2,2.2888896e-06\n" + "10,32,32,0.241,0.0001,0,571.8141\n"
    )
    found = author_cells(QUICK, Bench(folder=tmp_path / "kept"))
    assert found is not None and found.sizes["cell"] == 1  # the other takes too long
    assert int(found.steps[0]) == 12_000
    assert float(found.relative[0]) < 0.01 and bool(found.same_side[0])


def test_a_file_without_such_cells_is_no_file(file, tmp_path):
    file.write_text(HEAD + "10,32,32,0.241,0.0001,0,571.8141\n")
    assert author_cells(QUICK, Bench(folder=tmp_path)) is None
    file.write_text(HEAD)
    assert author_cells(QUICK, Bench(folder=tmp_path)) is None
