"""Pages open from disk, say everything as text, and reach for nothing outside."""

import dataclasses
import html.parser
import json
import math
import pathlib
import re
import shutil

import pytest
import small_study
import xarray as xr

from remanence.report import (
    conclude,
    cross_table,
    Headline,
    Outcome,
    Row,
    write_record,
    write_results_index,
)
from remanence.report.html import environment, TEMPLATES
from remanence.report.pages import main_finding
from remanence.report.tables import cells
from remanence.report.typeset import mathml, paragraphs, typeset


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

    def handle_startendtag(self, tag, attrs):
        assert tag in ("path", "mspace", "mo", "mi", "mrow"), tag

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


@pytest.fixture(scope="module")
def out(result):
    folder = result.folder.parent
    names = ["memorization", "fading-memory", "modular-addition"]
    failed = {"fading-memory": "<no>"}
    assert write_results_index(folder, names, failed, lambda _: result.study) == ()
    return folder


@pytest.fixture
def text(out):
    return (out / "memorization" / "index.html").read_text()


@pytest.mark.parametrize("name", ["index.html", "memorization/index.html"])
def test_a_page_is_whole_and_reaches_for_nothing_outside(out, name):
    text = (out / name).read_text()
    page = Reader(text)
    assert page.open == [] and len(page.ids) == len(set(page.ids))
    assert page.scripts == 0
    for address in page.addresses:
        if address.startswith(("data:", "#")):
            assert address.startswith("data:") or address[1:] in page.ids
            continue
        assert not re.match(r"[a-z]+:|//", address), address
        file, _, place = address.partition("#")
        there = (out / name).parent / file
        assert there.exists(), address
        if place:
            assert place in Reader(there.read_text()).ids, address
    assert not re.search(r"url\(|@import|https?://", text)


def test_finding_subject_figures_claims_and_origin_stand_in_that_order(text):
    places = [
        text.index(words)
        for words in (
            'class="tally"',
            "This is a quick run",
            'class="finding"',
            "The subject",
            "<figure",
            'class="claim"',
            "How this was made",
        )
    ]
    assert places == sorted(places)
    for word in ("✓", "✗", "?", "0 wrong symbols at d = 2", "holds", "(quick)"):
        assert word in text
    assert "<math" in text  # the equation of the subject


def test_a_claim_links_to_its_figure_and_the_figure_to_its_claims(text):
    figure = text[text.index("<figure") : text.index("</figure>")]
    assert 'href="#claim-000.1"' in figure and "holds" in figure
    assert 'href="#claim-000.2"' not in figure
    claim = text[text.index('id="claim-000.1"') : text.index('id="claim-000.2"')]
    assert 'href="#figure-orbit"' in claim
    assert "Holds if no symbol is wrong." in claim  # the rule in words
    assert re.search(r"<th[^>]*>dimension</th><td>\s*2</td>", claim)


def test_the_tally_has_one_order_on_every_page(out, text):
    for page in (text, (out / "index.html").read_text()):
        tally = page[page.index('class="tally"') :].split("</ul>")[0]
        words = ["2 holds", "0 differs", "1 refuted", "1 open"]
        places = [tally.index(word) for word in words]
        assert places == sorted(places)


def test_text_from_outside_stays_text(out, text):
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in text
    assert "a rotation &lt;i&gt;and&lt;/i&gt;" in text and "&lt;tags&gt;" in text
    assert "The last run failed: &lt;no&gt;" in (out / "index.html").read_text()


def test_the_index_has_findings_what_was_refuted_what_is_open_and_the_cross_table(out):
    text = (out / "index.html").read_text()
    for words in (
        "What was refuted",
        "What is open",
        "Every measurement on every network",
        "certified rate",
        "∞",
        "Not run yet.",
        "memorization/figures/orbit-small.svg",
    ):
        assert words in text
    assert text.index("The studies") < text.index("What was refuted")
    assert "<details><summary><h2>Every measurement" in text  # folded


def written(study, tmp_path, profile="quick", results=None):
    """The page of a run with the given results."""
    outcome = Outcome(data={}, figures=(), results=results or {})
    given = {"profile": profile, "seed": 0, "command": "", "provenance": {}}
    record = conclude(study, outcome, **given)
    folder = write_record(record, tmp_path).folder
    assert folder is not None
    return record, (folder / "index.html").read_text()


def test_the_index_lists_the_written_findings_and_leads_to_their_claims(
    out, full_claims, result, tmp_path
):
    copy = shutil.copytree(out, tmp_path / "results")
    page = full_claims.with_name("findings.md")
    page.write_text(
        "# Findings\n\nTwo things, **one** sentence each.\n\n"
        "**1. A rotation\nspells.** It does 4 of 4. Claims 000.1 and 004.1-slow, `command`.\n\n"
        "![A figure](figure.png)\n\n**2. Not <b>more</b>.** Claim 001.Q4.\n\n**What we would bet.** No."
    )
    write_results_index(copy, ["memorization"], {}, lambda _: result.study)
    text = (copy / "index.html").read_text()
    page.unlink()
    listed = re.findall("<li>.*?</li>", text[text.index("<ol") : text.index("</ol>")], re.DOTALL)
    assert [re.sub("<[^>]*>", "", item) for item in listed] == [
        "A rotation spells. 000.1, 004.1-slow",
        "Not &lt;b&gt;more&lt;/b&gt;. 001.Q4",
    ]
    assert re.findall(r'href="([^"]+)"', "".join(listed)) == ["memorization/index.html#claim-000.1"]
    assert text.index("<ol") < text.index("The studies")


def test_an_outcome_without_data_or_figures_still_makes_a_page(tmp_path: pathlib.Path):
    record, text = written(small_study.study(), tmp_path, profile="full")
    assert "not measured" in text
    assert {claim.verdict for claim in record.claims} == {"open"}


def test_where_the_full_run_decides_otherwise_the_page_says_so_first(tmp_path, full_claims):
    study = small_study.study()
    results = {"rotation": {"wrong": 3, "dimension": 2}, "strings": {"served": False}}
    full, _ = written(study, tmp_path / "full", "full", results)
    _, alone = written(
        study, tmp_path / "quick", "quick", {"rotation": {"wrong": 0, "dimension": 2}}
    )
    assert "No full run of this study is kept yet" in alone
    (full_claims / study.name).mkdir()
    file = full_claims / study.name / "claims.json"
    document = full.document | {"claims": [dataclasses.asdict(c) for c in full.claims]}
    document["claims"][2]["verdict"] = "holds"  # its evidence says otherwise
    file.write_text(json.dumps(document))
    both = {"rotation": {"wrong": 0, "dimension": 2}, "strings": {"served": False}}
    _, text = written(study, tmp_path / "both", "quick", both)
    file.unlink()
    notice = text[text.index('class="notice"') : text.index('class="finding"')]
    assert "the full run decides otherwise on 1 of 4 claims" in notice
    assert "000.1" in notice and "000.3" not in notice  # judged again, it is no other
    claim = text[text.index('id="claim-000.1"') : text.index('id="claim-000.2"')]
    assert "3 wrong symbols" in claim and "0 wrong symbols" in claim
    third = text[text.index('id="claim-000.3"') : text.index('id="claim-000.4"')]
    assert "(stored as holds)" in third


def test_the_headline_has_the_numbers_of_its_claim(tmp_path):
    headline = Headline(claim="000.1", number="{wrong} wrong", sentence="at {dimension}")
    study = dataclasses.replace(small_study.study(), headline=headline)
    results = {"rotation": {"wrong": 3, "dimension": 2}}
    record, text = written(study, tmp_path, results=results)
    finding = main_finding(study, record.claims)
    assert finding is not None
    assert (finding.number, finding.sentence, finding.claim.id) == ("3 wrong", "at 2", "000.1")
    assert '<p class="number-large">3 wrong</p>' in text
    # Without one, or where its evidence lacks a number, a measured claim stands for it.
    lacking = dataclasses.replace(study, headline=dataclasses.replace(headline, number="{no_such}"))
    for other in (lacking, dataclasses.replace(study, headline=None)):
        finding = main_finding(other, record.claims)
        assert finding is not None and finding.number == ""
        assert finding.sentence == "3 wrong symbols at d = 2"


def test_evidence_is_shown_whole_as_tables():
    evidence = {
        "runs": 12345,
        "by_scale": {"0.1": {"real": None, "done": True}},
        "tried": [{"units": 8}, {"units": 16}],
        "grid": [[1.0, math.nan], [2.5e-9, math.inf]],
        "beyond": [],
        "word": "<b>",
    }
    template = '{% from "parts.html" import evidence with context %}{{ evidence(value) }}'
    text = environment(TEMPLATES).from_string(template).render(value=evidence)
    page = Reader(text)
    assert page.open == []
    words = re.sub(r"\s+", " ", re.sub(r"<[^>]*>", "|", text))
    words = re.sub(r"[| ]*\|[| ]*", "|", words)
    assert words == (
        "|runs|12,345|by scale|0.1|real|–|done|yes|tried|units|8|units|16|"
        "grid|1, nan; 2.5e-09, ∞|beyond|none|word|&lt;b&gt;|"
    )


def test_cells_that_were_not_measured_are_dashes():
    table = xr.Dataset({"dimension": ("network", [3.0])}, coords={"network": ["a"]})
    assert cells(table) == [["a", "3", *"––––––"]]
    table = cross_table([Row(network="b", rank=4, window=math.inf, key_frequencies="1, 2")])
    assert cells(table) == [["b", *"––––", "∞", "4", "1, 2"]]
    with pytest.raises(ValueError, match="needs the dimension 'network'"):
        cells(xr.Dataset())


def test_equations_become_mathml_and_what_cannot_stays_as_written():
    assert "<msup><mi>γ</mi>" in mathml(r"\gamma^{1/N}")
    for tex in (r"\nosuchthing{x}", "{" * 5000, "{" * 1000):
        assert mathml(tex) == f"<code>{tex}</code>"
    assert "<mo>arg</mo><mo>max</mo>" in mathml(r"\arg\max")
    primed = mathml(r"|h'| = S'_i")
    assert "<mrow><mi>h</mi><mo>′</mo></mrow>" in primed  # raised by its font, not twice
    assert "<mrow><msub><mi>S</mi><mi>i</mi></msub><mo>′</mo></mrow>" in primed
    assert primed.count('lspace="0" rspace="0">|<') == 2
    first, second = paragraphs("The map\n\n$h' = W_h h$\n")
    assert first == "The map" and 'display="block"' in second


@pytest.mark.parametrize(
    "tex",
    [
        r"\text{<script>alert(1)</script>}",
        r"\href{javascript:alert(1)}{x}",
        r"\style{background:url(x)}{x}",
        r"\text{<img src=x onerror=alert(1)>}",
        r"\unicode{60}b>",
        "a<b & c>d",
    ],
)
def test_an_equation_cannot_leave_its_element(tex):
    text = typeset(f"${tex}$")
    Reader(text)
    assert not re.search(r"<(?!/?m[a-z]+|/?code)|href|style=|onerror=[^&]*>$", text)


def test_sentences_are_set_as_in_print():
    assert typeset("h_2, all_of") == "<i>h</i><sub>2</sub>, all_of"
    assert typeset("costs $5 <b> `a<b`") == "costs $5 &lt;b&gt; <code>a&lt;b</code>"
    powers = "x^p - 1, e^-0.5, (M s)^(1/3)"
    assert typeset(powers) == ("x<sup>p</sup> − 1, e<sup>−0.5</sup>, (M s)<sup>1/3</sup>")
    assert typeset("-1.1e-05 to 1e+3") == ("−1.1\u00a0×\u00a010<sup>−5</sup> to 10<sup>3</sup>")
    assert typeset("longest inf of 256, information") == "longest ∞ of 256, information"
    assert typeset("90% of {-1, 2}, 2026-11-16") == ("90\u00a0% of {−1, 2}, 2026-11-16")
