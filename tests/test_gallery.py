"""The gallery's pages are those that its script wrote, and its networks are read right."""

import json
import pathlib
import re


GALLERY = pathlib.Path(__file__).parents[1] / "docs" / "gallery"
ROWS = json.loads((GALLERY / "table.json").read_text())
SCRIPTS = GALLERY.parents[1] / "benchmarks" / "gallery"


def test_the_table_has_every_network_and_what_was_measured():
    table = (GALLERY / "README.md").read_text()
    assert len(ROWS) >= 8
    for name, cells in ROWS.items():
        assert f"| {' | '.join(cells)} |" in table
        assert (GALLERY / f"{name}.md").stat().st_size < 3000
    assert {path.stem for path in GALLERY.glob("*.md")} == {"README", *ROWS}


def test_every_network_gives_its_packages_outputs():
    for name in ROWS:
        page = (GALLERY / f"{name}.md").read_text()
        stated = re.search(r"largest difference of the outputs \| (\S+) from", page)
        assert stated is not None and float(stated[1]) < 1e-4, name


def test_the_pages_are_of_the_packages_that_are_asked_for():
    for line in (SCRIPTS / "packages.txt").read_text().split():
        name, version = line.split("==")
        assert f"of {name} {version} |" in (GALLERY / f"{name}.md").read_text()
