"""Pages open from disk, say everything as text, and reach for nothing outside."""

import base64
import html.parser
import math
import pathlib
import re

import pytest
import small_study
import xarray as xr

from remanence.report import (
    concluded,
    cross_table,
    Outcome,
    page_alone,
    Row,
    write_front_page,
    write_record,
)
from remanence.report.cross import rows
from remanence.report.page import script_json
from remanence.report.typeset import equation, typeset
from remanence.report.untex import untex


class Reader(html.parser.HTMLParser):
    """Elements that were closed, and every address that a page would fetch."""

    def __init__(self, text):
        super().__init__()
        self.open, self.addresses, self.ids, self.scripts = [], [], [], 0
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.addresses += [given[k] for k in ("src", "href", "srcset") if k in given]
        self.ids += [given["id"]] if "id" in given else []
        self.scripts += tag == "script"
        assert not any(name.startswith("on") for name in given)
        if tag not in ("meta", "link", "img", "source", "br", "path"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag != "path":
            assert self.open.pop() == tag


@pytest.fixture(scope="module")
def out(result):
    folder = result.folder.parent
    names = ["memorization", "fading-memory", "modular-addition"]
    assert write_front_page(folder, names, {"fading-memory": "<no>"}) == ()
    return folder


@pytest.mark.parametrize("name", ["index.html", "memorization/index.html"])
def test_a_page_is_whole_and_reaches_for_nothing_outside(out, name):
    text = (out / name).read_text()
    page = Reader(text)
    assert page.open == [] and len(page.ids) == len(set(page.ids))
    for address in page.addresses:
        if address.startswith(("data:", "#")):
            continue
        assert not re.match(r"[a-z]+:|//", address), address
        assert ((out / name).parent / address.split("#")[0]).exists(), address
    assert not re.search(r"url\(|@import|https?://", re.sub(r"base64,[^\"]*", "", text))


def test_claims_stand_on_top_with_marks_and_both_values(out):
    text = (out / "memorization" / "index.html").read_text()
    assert text.index("Published") < text.index("<figure")
    for word in ("✓", "✗", "?", "0 wrong symbols at d = 2", "holds", "(quick)"):
        assert word in text
    assert 'aria-label="h&#x27; = W_h h"' in text  # equations are typeset, with a label


def test_text_from_outside_stays_text(out):
    text = (out / "memorization" / "index.html").read_text()
    assert (
        "&lt;script&gt;alert(1)&lt;/script&gt;" in text and "<script>alert" not in text
    )
    assert "a rotation &lt;i&gt;and&lt;/i&gt;" in text and "&lt;tags&gt;" in text
    assert (
        script_json({"a": "</script><b>&"})
        == '{"a":"\\u003c/script\\u003e\\u003cb\\u003e\\u0026"}'
    )
    assert "The last run failed: &lt;no&gt;" in (out / "index.html").read_text()


def test_the_front_page_has_the_cross_table_what_fell_and_what_is_open(out):
    text = (out / "index.html").read_text()
    for words in (
        "Every measurement on every network",
        "certified rate",
        "steps until the slowest direction has faded",
        "∞",
        "What was refuted",
        "What is open",
        "Not run yet.",
    ):
        assert words in text
    assert (out / "plotly.min.js").stat().st_size > 1_000_000


def test_a_page_alone_needs_nothing_beside_it(out, tmp_path):
    text = page_alone(out / "memorization")
    links = [a for a in Reader(text).addresses if not a.startswith("#")]
    outside = {link for link in links if not link.startswith("data:")}
    assert outside == {"../index.html"} and "Plotly" in text
    numbers = next(link for link in links if link.startswith("data:text/csv"))
    content = base64.b64decode(numbers.partition(",")[2])
    assert content == (out / "memorization" / "figures" / "orbit.csv").read_bytes()
    with pytest.raises(FileNotFoundError, match="holds no result"):
        page_alone(tmp_path)


def test_a_row_that_lacks_columns_was_not_measured():
    table = xr.Dataset({"dimension": ("network", [3.0])}, coords={"network": ["a"]})
    assert rows(table) == [Row(network="a", dimension=3.0)]
    table = cross_table(
        [Row(network="b", rank=4, window=math.inf, key_frequencies="1, 2")]
    )
    assert rows(table) == [
        Row(network="b", rank=4.0, window=math.inf, key_frequencies="1, 2")
    ]
    with pytest.raises(ValueError, match="needs the dimension 'network'"):
        rows(xr.Dataset())


def test_equations_become_paths_and_what_cannot_stays_as_written():
    assert "<path" in equation(r"\gamma^{1/N}") and "<text" not in equation("x")
    assert equation(r"\nosuchthing{") == r"<code>\nosuchthing{</code>"
    assert typeset("h_2, all_of") == "<i>h</i><sub>2</sub>, all_of"
    assert typeset("costs $5 <b> `a<b`") == "costs $5 &lt;b&gt; <code>a&lt;b</code>"
    powers = "x^p - 1, e^-0.5, (M s)^(1/3)"
    assert typeset(powers) == (
        "x<sup>p</sup> − 1, e<sup>−0.5</sup>, (M s)<sup>1/3</sup>"
    )
    assert typeset("-1.1e-05 to 1e+3") == (
        "−1.1\u00a0×\u00a010<sup>−5</sup> to 10<sup>3</sup>"
    )
    assert typeset("90% of {-1, 2}, 2026-11-16") == ("90\u00a0% of {−1, 2}, 2026-11-16")
    assert (
        untex(r"$\gamma^{1/N}$ & $W_h$ <i>")
        == "γ<sup>1/N</sup> &amp; W<sub>h</sub> &lt;i&gt;"
    )


def test_an_outcome_without_data_or_figures_still_makes_a_page(tmp_path: pathlib.Path):
    chosen = small_study.study()
    record = concluded(
        chosen,
        Outcome(data={}, figures=()),
        profile="full",
        seed=0,
        command="",
        provenance={},
    )
    folder = write_record(record, tmp_path).folder
    assert folder is not None
    assert "not measured" in (folder / "index.html").read_text()
    assert {claim.verdict for claim in record.claims} == {"open"}
