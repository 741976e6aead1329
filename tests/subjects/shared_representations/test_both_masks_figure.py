"""Figure 1's pictures: the numbers beside them, and the author's rings."""

import matplotlib.pyplot as plt
import pytest
import xarray as xr

from remanence.subjects.shared_representations.network_figures import (
    accuracy_figure,
    figure_one_figure,
)


@pytest.fixture
def cells():
    columns = {
        "fraction": [0.3, 0.4, 0.3],
        "scale": [1e-2, 1e-2, 1e-3],
        "seed": [0, 0, 1],
        "words": [32, 32, 32],
        "test_loss": [1.0, 1e-4, 1e-8],
        "accuracy_untrained": [0.1, 0.62, 0.06],
        "rank": [1.2, 1.0, 1.0],
        "connected": [0, 1, 1],
        "ending": [0, 0, 0],
    }
    return xr.Dataset({name: ("cell", values) for name, values in columns.items()})


def test_the_authors_cells_are_rings_in_our_unit(cells):
    author = cells.isel(cell=[1]).assign(author_loss=("cell", [6.4e-3]))
    figure = figure_one_figure(cells, cells, author)
    assert "rings" in figure.caption
    canvas = figure.draw()
    rings = [
        line.get_ydata().tolist()
        for ax in canvas.axes
        for line in ax.get_lines()
        if line.get_markersize() == 9 and len(line.get_ydata())
    ]
    plt.close(canvas)
    assert rings == [[pytest.approx(1e-4)]]


def test_cells_of_another_size_are_no_rings(cells):
    author = cells.isel(cell=[1]).assign(author_loss=("cell", [6.4e-3]))
    figure = figure_one_figure(cells.assign(words=0 * cells.words + 6), cells, author)
    assert "rings" not in figure.caption


def test_without_the_authors_file_nobody_speaks_of_rings(cells):
    figure = figure_one_figure(cells, cells)
    assert "rings" not in figure.caption


def test_what_is_learned_says_which_mask(cells):
    """The caption's accuracy is that of low-loss runs of the diagonal mask."""
    figure = accuracy_figure(cells, cells.assign(accuracy_untrained=cells["rank"]))
    assert figure.data.mask.values.tolist() == 3 * ["diagonal"] + 3 * ["full"]
    assert "62% of the untaught words" in figure.caption
