"""Figures as files: pictures in both themes, their numbers beside them."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
import xarray as xr

from remanence.report import Figure
from remanence.report.figures import drawn, write_figure


def test_numbers_of_a_figure_are_beside_it(result):
    folder = result.folder / "figures"
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
