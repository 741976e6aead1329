"""The top of the site's results pages: quick beside full, and first where they differ."""

import importlib.util
import json
import pathlib
import re

import pytest

from remanence.subjects import STUDIES, study


DOCS = pathlib.Path(__file__).parents[1] / "docs"
spec = importlib.util.spec_from_file_location("result_pages", DOCS / "result_pages.py")
assert spec is not None and spec.loader is not None
result_pages = importlib.util.module_from_spec(spec)
spec.loader.exec_module(result_pages)


@pytest.mark.parametrize("name", STUDIES)
def test_quick_and_full_verdicts_stand_side_by_side(name):
    quick, full = (
        {c["id"]: c for c in json.loads((DOCS / "results" / name / file).read_text())["claims"]}
        for file in ("quick.json", "claims.json")
    )
    assert {c["profile"] for c in quick.values()} == {"quick"}
    assert set(quick) == {claim.id for claim in study(name).claims}
    top = result_pages.verdicts(name)
    rows = re.findall(r"<tr><td>(\S+) .*?</tr>", top, re.DOTALL)
    assert rows == list(full)
    first, table = top.split("<details>")
    differ = set(re.findall(r"<li>(\d\S*)", first))
    for row, claim in zip(table.split("<tr>")[2:], full, strict=True):
        verdicts = re.findall(r'class="verdict (\w+)"', row)
        assert len(verdicts) == 1 + (claim in quick)
        assert (claim in differ) == (len(set(verdicts)) == 2)
    assert bool(differ) != ("comes to the same verdicts" in first)


def test_a_figure_of_its_own_has_a_caption_and_one_of_a_pair_none():
    alone = '<p><img alt="How it falls" src="figures/a.png" /></p>'
    pair = '<p><img alt="b" src="b.svg#only-light" /><img alt="b" src="b-dark.svg#only-dark" /></p>'
    page = result_pages.on_page_content(alone + pair)
    assert "<figcaption>How it falls</figcaption>" in page and page.endswith(pair)
    assert '<a href="figures/a.png"><img' in page
