"""Pages open from disk, say everything as text, and reach for nothing outside."""

import base64
import html.parser
import json
import math
import pathlib
import re

import matplotlib.pyplot as plt
import numpy as np
import pytest
import small_study
import xarray as xr

from remanence.report import (
    Bench,
    concluded,
    cross_table,
    Figure,
    Outcome,
    page_alone,
    Row,
    write_front_page,
    write_record,
)
from remanence.report.cross import rows
from remanence.report.figures import drawn, write_figure
from remanence.report.page import script_json
from remanence.report.twin import twin
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
def out(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")
    chosen = small_study.study()
    outcome = small_study.run(chosen.profiles["quick"], Bench(folder=folder))
    (folder / "part.txt").unlink()
    record = concluded(
        chosen,
        outcome,
        profile="quick",
        seed=0,
        command="remanence reproduce memorization",
        provenance={"seconds": 1.0},
        about=small_study.ABOUT,
    )
    write_record(record, folder)
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


def test_numbers_of_a_figure_are_beside_it(out):
    folder = out / "memorization" / "figures"
    table = np.genfromtxt(folder / "orbit.csv", delimiter=",", names=True)
    assert table.dtype.names == ("step", "x", "y")
    np.testing.assert_allclose(table["x"] ** 2 + table["y"] ** 2, 1)
    with xr.open_dataset(folder / "orbit.nc", engine="scipy") as read:
        np.testing.assert_allclose(read["x"].values, table["x"], atol=1e-9)
    for name in ("orbit.svg", "orbit-dark.svg", "orbit.png"):
        assert (folder / name).stat().st_size > 1000


def test_a_figure_without_numbers_gets_those_that_are_drawn(tmp_path):
    def draw():
        figure, (left, right) = plt.subplots(1, 2)
        left.plot([1.0, 2.0], [3.0, 4.0], label="a line")
        left.scatter([5.0, 6.0], [7.0, 8.0])
        right.imshow([[1.0, 2.0], [3.0, np.nan]], extent=(0, 2, 0, 2), origin="lower")
        right.bar([0.5], [9.0])
        return figure

    picture = drawn(Figure("bare", "Bare", "Nothing beside it.", draw, None))
    read = picture.figure.data.to_dataframe()
    line = read[read["mark"] == "a line"]
    assert line[["x", "y"]].values.tolist() == [[1.0, 3.0], [2.0, 4.0]]
    assert [5.0, 7.0] in read[["x", "y"]].values.tolist()
    pixels = read[read["value"].notna()]
    assert pixels[["x", "y", "value"]].values.tolist() == [
        [0.5, 0.5, 1.0], [1.5, 0.5, 2.0], [0.5, 1.5, 3.0],
    ]  # fmt: skip
    assert [0.5, 9.0] in read[read["panel"] == 1][["x", "y"]].values.tolist()
    assert write_figure(picture, tmp_path).tables == ("bare.csv", "bare.nc")


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
    assert typeset("costs $5 <b> `a<b`") == "costs $5 &lt;b&gt; <code>a&lt;b</code>"
    assert (
        untex(r"$\gamma^{1/N}$ & $W_h$ <i>")
        == "γ<sup>1/N</sup> &amp; W<sub>h</sub> &lt;i&gt;"
    )


def _figure(paint):
    def draw():
        figure, axes = plt.subplots()
        paint(axes)
        return figure

    return Figure("one", "One", "", draw)


def test_a_twin_shows_the_numbers_that_were_drawn():
    def paint(axes):
        axes.plot([1, 2, 3], [1.0, math.nan, 100.0], label=r"$\lambda_1$")
        axes.fill_between([1, 2], [1, 1], [2, 3], alpha=0.2)
        axes.axhline(5.0, color="C7")
        axes.set_yscale("log")
        axes.set_xlabel("time (steps)")
        axes.legend()

    found = drawn(_figure(paint), twin).twin
    assert found is not None
    light, dark = found["light"], found["dark"]
    band, line = light["data"]
    assert (line["x"], line["y"]) == ([1.0, 2.0, 3.0], [1.0, None, 100.0])
    assert (
        line["name"] == "λ<sub>1</sub>"
        and line["showlegend"]
        and not band["showlegend"]
    )
    assert band["fill"] == "toself" and (min(band["y"]), max(band["y"])) == (1.0, 3.0)
    assert (
        light["layout"]["shapes"][0]["y0"] == 5.0
        and light["layout"]["yaxis"]["type"] == "log"
    )
    assert light["layout"]["xaxis"]["title"]["text"] == "time (steps)"
    assert line["line"]["color"] != dark["data"][1]["line"]["color"]
    json.dumps(found, allow_nan=False)


def test_an_image_keeps_its_rows_the_right_way_up():
    values = np.arange(6.0).reshape(2, 3)
    found = drawn(_figure(lambda axes: axes.imshow(values)), twin).twin
    assert found is not None
    heat, axis = found["light"]["data"][0], found["light"]["layout"]["yaxis"]
    # Row 0 lies at height 0: the last row of a heatmap whose heights fall.
    assert heat["y"] == [1.5, 0.5, -0.5] and heat["z"] == [
        [3.0, 4.0, 5.0],
        [0.0, 1.0, 2.0],
    ]
    assert axis["range"][0] > axis["range"][1]


@pytest.mark.parametrize(
    "paint",
    [
        lambda axes: axes.set_xscale("symlog"),
        lambda axes: axes.twinx().plot([1, 2]),
        lambda axes: axes.annotate("a", (0, 0), (1, 1), arrowprops={}),
        lambda axes: axes.contourf(np.eye(3)),
        lambda axes: axes.quiver([0], [0], [1], [1]),
    ],
)
def test_what_has_no_exact_twin_has_none(paint):
    assert drawn(_figure(paint), twin).twin is None


def test_a_figure_cannot_choose_a_path():
    figure = Figure("../../etc", "x", "y", plt.figure)
    with pytest.raises(ValueError, match="a figure's name is a file name"):
        drawn(figure)


def test_variables_on_other_axes_get_their_own_table(tmp_path):
    from remanence.report.tables import csv_tables, netcdf_bytes

    data = xr.Dataset(
        {"a": ("t", [1, 2]), "z": (("t", "k"), np.full((2, 2), 1j)), "n": 2**40}
    )
    assert sorted(csv_tables(data)) == ["scalars", "t", "t-k"]
    (tmp_path / "a.nc").write_bytes(netcdf_bytes(data))
    with xr.open_dataset(tmp_path / "a.nc", engine="scipy") as read:
        assert (
            read["z_imag"].values.tolist() == [[1, 1], [1, 1]]
            and float(read["n"]) == 2.0**40
        )


def test_an_outcome_without_data_or_figures_still_makes_a_page(tmp_path: pathlib.Path):
    chosen = small_study.study()
    record = concluded(
        chosen, Outcome({}, {}, ()), profile="full", seed=0, command="", provenance={}
    )
    folder = write_record(record, tmp_path).folder
    assert folder is not None
    assert "not measured" in (folder / "index.html").read_text()
    assert {claim.verdict for claim in record.claims} == {"open"}
