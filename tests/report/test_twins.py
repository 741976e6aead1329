"""The interactive twin shows what was drawn, number by number, or is not there."""

import base64
import io
import json
import math

import matplotlib.figure
import matplotlib.image
import matplotlib.pyplot as plt
import numpy as np
import pytest

from remanence.report import Figure
from remanence.report.figures import drawn
from remanence.report.twin import twin


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
        lambda axes: axes.twiny().plot([1, 2]),
        lambda axes: axes.inset_axes((0.1, 0.1, 0.4, 0.4)).plot([1, 2]),
        lambda axes: axes.figure.legend(axes.plot([1, 2]), ["a"]),
        lambda axes: axes.annotate("a", (0, 0), (1, 1), arrowprops={}),
        lambda axes: axes.contourf(np.eye(3)),
        lambda axes: axes.quiver([0], [0], [1], [1]),
    ],
)
def test_what_has_no_exact_twin_has_none(paint):
    assert drawn(_figure(paint), twin).twin is None


def _twin(draw):
    found = drawn(Figure("one", "One", "", draw), twin).twin
    assert found is not None
    json.dumps(found, allow_nan=False)
    return found["light"]["data"], found["light"]["layout"]


def test_a_large_image_is_shown_as_it_was_coloured():
    region = np.zeros((200, 150), int)
    region[:50] = 1  # below, as the origin is

    def draw():
        figure, axes = plt.subplots()
        axes.imshow(region, origin="lower", extent=(-1, 1, -2, 2), cmap="gray")
        axes.annotate("here", (0.5, 1.0))
        return figure

    data, layout = _twin(draw)
    (image,) = layout["images"]
    assert data == [] and (image["x"], image["y"]) == (-1.0, 2.0)
    assert (image["sizex"], image["sizey"]) == (2.0, 4.0)
    png = base64.b64decode(image["source"].partition(",")[2])
    back = matplotlib.image.imread(io.BytesIO(png))
    assert back.shape == (200, 150, 4) and len(png) < 3000
    assert back[0, 0, 0] == 0.0 and back[-1, 0, 0] == 1.0
    # A text that is held by data moves with it.
    (words,) = layout["annotations"]
    assert (words["xref"], words["x"], words["y"]) == ("x", 0.5, pytest.approx(1.0))


def test_two_scales_share_a_panel_and_its_legend():
    def draw():
        figure, left = plt.subplots()
        left.plot([1, 2], [3, 4], label="a")
        right = left.twinx()
        right.plot([1, 2], [70, 60], label="b")
        right.set_yticks([60, 70])
        left.legend([*left.lines, *right.lines], ["a", "b"])
        left.annotate("top", (2, 0.9), xycoords=("data", "axes fraction"))
        return figure

    data, layout = _twin(draw)
    assert [(t["name"], t["xaxis"], t["yaxis"]) for t in data] == [
        ("a", "x", "y"),
        ("b", "x", "y2"),
    ]
    assert all(trace["showlegend"] for trace in data)
    second = layout["yaxis2"]
    assert (second["overlaying"], second["side"]) == ("y", "right")
    assert second["tickvals"] == [60.0, 70.0]
    words = layout["annotations"][0]
    assert words["xref"] == "x domain" and words["y"] == pytest.approx(0.9)


def test_panels_of_subfigures_stand_where_they_were_drawn():
    def draw():
        figure = plt.figure(layout="constrained")
        above, below = figure.subfigures(2, 1)
        above.subplots().plot([1, 2])
        dots = below.subplots().scatter([1, 2], [3, 4], c=[0.1, 0.2])
        below.colorbar(dots, label="share")
        return figure

    data, layout = _twin(draw)
    assert layout["yaxis"]["domain"][0] > 0.5 > layout["yaxis2"]["domain"][1]
    bar = data[-1]["marker"]["colorbar"]
    assert bar["y"] < 0.5 and bar["title"]["text"] == "share"


def test_a_panel_in_space_can_be_turned():
    def draw():
        figure = plt.figure()
        axes = figure.add_subplot(projection="3d")
        axes.plot([0, 1], [2, 3], [4, 5])
        axes.scatter([0.0], [1.0], [2.0], depthshade=False)
        axes.set_title("space")
        return figure

    (line, point), layout = _twin(draw)
    assert (line["type"], line["z"], line["scene"]) == ("scatter3d", [4, 5], "scene")
    assert [point[letter] for letter in "xyz"] == [[0.0], [1.0], [2.0]]
    assert layout["scene"]["camera"]["eye"]["z"] > 0
    assert layout["annotations"][0]["text"] == "<b>space</b>"


class Moving(matplotlib.figure.Figure):
    """Shows its second line in a still picture only."""

    def savefig(self, fname, **settings):
        self.axes[0].lines[1].set_visible(settings["format"] != "svg")
        matplotlib.figure.Figure.savefig(self, fname, **settings)


def test_the_twin_of_one_that_moves_is_that_of_its_still_picture():
    def draw():
        figure = plt.figure(FigureClass=Moving)
        figure.subplots().plot([[1, 2], [3, 4]])
        return figure

    found = drawn(Figure("one", "One", "", draw), twin).twin
    assert found is not None
    assert [len(found[theme]["data"]) for theme in ("light", "dark")] == [2, 2]
