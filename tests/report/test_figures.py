"""Figures as files: pictures in both themes, their numbers beside them."""

import re

import matplotlib.pyplot as plt
import numpy as np
import pytest
import xarray as xr

from remanence.report import Figure
from remanence.report.figures import (
    draw_figure,
    draw_thumbnail,
    keep_panel,
    THUMBNAIL,
    write_figure,
)
from remanence.report.tables import as_dataset, csv_tables, netcdf_bytes


def test_numbers_of_a_figure_are_beside_it(result):
    folder = result.folder / "figures"
    table = np.genfromtxt(folder / "orbit.csv", delimiter=",", names=True)
    assert table.dtype.names == ("step", "x", "y")
    np.testing.assert_allclose(table["x"] ** 2 + table["y"] ** 2, 1)
    with xr.open_dataset(folder / "orbit.nc", engine="scipy") as read:
        np.testing.assert_allclose(read["x"].values, table["x"], atol=1e-9)
    for name in ("orbit.svg", "orbit-dark.svg", "orbit.png"):
        assert (folder / name).stat().st_size > 1000


def test_a_figure_without_numbers_has_only_pictures(tmp_path):
    picture = draw_figure(Figure("bare", "Bare", "Nothing beside it.", lambda: plt.subplots()[0]))
    assert write_figure(picture, tmp_path).tables == ()
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {"bare.svg", "bare-dark.svg", "bare.png"}


@pytest.mark.parametrize("colour", ["C1", "#123456", "pixels"])
def test_the_dark_picture_is_what_drawing_it_in_dark_gives(colour, monkeypatch):
    def draw():
        figure, axes = plt.subplots()
        if colour == "pixels":
            axes.imshow([[1.0, 2.0]])
        else:
            axes.plot([0, 1], [1, 0], "o-", color=colour, label="a line")
            axes.fill_between([0, 1], [0, 0], [1, 1], alpha=0.2)
            axes.legend()
        drawn.append(colour)
        return figure

    drawn = []
    picture = draw_figure(Figure("bare", "Bare", "", draw))
    assert len(drawn) == (1 if colour == "C1" else 2)  # the same colour on both, or unknown
    monkeypatch.setattr("remanence.report.figures.recolour_for_dark", lambda svg: None)
    again = draw_figure(Figure("bare", "Bare", "", draw))
    names = re.compile(rb"\b[a-zA-Z]*[0-9a-f]{10}\b")  # matplotlib's, of the colours too
    assert names.sub(b"", picture.svg["dark"]) == names.sub(b"", again.svg["dark"])


def test_a_thumbnail_is_one_panel_alone_without_legend_and_title():
    def draw():
        figure, (left, right) = plt.subplots(1, 2, figsize=(12, 4), num=7)
        shown = left.imshow([[1.0, 2.0]], label="x")
        figure.colorbar(shown, ax=left)
        left.set_title("Left")
        left.plot([0, 1], [0, 0], label="line")
        left.legend()
        right.plot([1, 2])
        figure.suptitle("Both")
        return figure

    figure = draw()
    keep_panel(figure, 0)
    (axes,) = figure.axes
    figure.draw_without_rendering()
    assert axes.get_title() == axes.get_title(loc="left") == figure.get_suptitle() == ""
    assert axes.get_legend() is None and tuple(figure.get_size_inches()) == THUMBNAIL
    assert axes.get_position().width > 0.6  # of the whole width, not of one column
    plt.close(figure)
    figure = draw()
    keep_panel(figure, 1)
    assert [len(axes.lines) for axes in figure.axes] == [1] and not figure.axes[0].images
    plt.close(figure)
    small = draw_thumbnail(Figure("two", "", "", draw, {"a": [1]}))
    assert small.figure.name == "two-small" and small.width == round(96 * THUMBNAIL[0])
    assert small.figure.data is None


def test_a_thumbnail_of_shared_axes_has_the_labels_that_stood_elsewhere():
    figure, axes = plt.subplots(2, 2, sharex=True, sharey=True)
    axes[1, 0].set_xlabel("steps")
    axes[0, 0].set_ylabel("loss")
    keep_panel(figure, 1)
    figure.draw_without_rendering()
    (left,) = figure.axes
    assert (left.get_xlabel(), left.get_ylabel()) == ("steps", "loss")
    assert all(tick.label1.get_visible() for tick in left.xaxis.get_major_ticks())
    assert all(tick.label1.get_visible() for tick in left.yaxis.get_major_ticks())
    plt.close(figure)


def test_a_figure_cannot_choose_a_path():
    figure = Figure("../../etc", "x", "y", plt.figure)
    with pytest.raises(ValueError, match="a figure's name is a file name"):
        draw_figure(figure)


def test_variables_on_other_axes_get_their_own_table(tmp_path):
    data = xr.Dataset({"a": ("t", [1, 2]), "z": (("t", "k"), np.full((2, 2), 1j)), "n": 2**40})
    assert sorted(csv_tables(data)) == ["scalars", "t", "t-k"]
    (tmp_path / "a.nc").write_bytes(netcdf_bytes(data))
    with xr.open_dataset(tmp_path / "a.nc", engine="scipy") as read:
        assert read["z_imag"].values.tolist() == [[1, 1], [1, 1]] and float(read["n"]) == 2.0**40


def test_columns_are_in_one_order_however_a_run_found_them():
    columns = {"b": ("t", [1.0, 2.0]), "a": ("t", [3.0, 4.0])}
    one = xr.Dataset(columns, coords={"t": [0, 1], "s": ("t", [5, 6])})
    other = xr.Dataset(dict(reversed(columns.items())), coords={"s": one["s"], "t": one["t"]})
    assert csv_tables(one) != csv_tables(other)
    first, second = as_dataset(one), as_dataset(other)
    assert first is not None and second is not None and first.identical(one)
    assert csv_tables(first) == csv_tables(second)
    assert netcdf_bytes(first) == netcdf_bytes(second)
    assert csv_tables(first)[""].splitlines()[0] == "t,a,b,s"
    plain = as_dataset({"y": [1], "x": [2]})
    assert plain is not None and list(plain) == ["x", "y"]
