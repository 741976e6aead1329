"""The full profile into a folder of plain files, going on from the cells that are there.

    python -m remanence.subjects.shared_representations.study FOLDER [--minutes 40]

`FOLDER/cells` keeps every finished cell as a line; `claims.json`, `figures`, `spikes.csv`
and `cells.csv` (the author's cells, if REMANENCE_DATA has his file) are written at the
end. With `--minutes` Figure 1's finer grids go as far as that allows, the rest is done
in any case; the same command goes on from there.
"""

import argparse
import io
import os
import pathlib
import sys

import xarray as xr

from ...report import concluded, json_bytes, write_whole
from ...report.figures import drawn
from ...report.tables import csv_tables
from .config import FULL
from .ledger import KeptBench
from .study import STUDY


AUTHOR = {
    "fraction": "fraction",
    "scale": "sigma",
    "seed": "seed",
    "steps": "steps",
    "connected": "connected",
    "train_loss": "train_loss",
    "document_loss": "test_loss",
    "author_loss": "author_test_loss",
    "relative": "relative",
    "same_side": "same_side_of_1e-3",
    "accuracy_untrained": "accuracy_untrained",
    "rank": "rank",
}


def say(sentence: str) -> None:
    """Progress, on stderr."""
    sys.stderr.write(sentence + "\n")
    sys.stderr.flush()


def write_table(data: xr.Dataset, path: pathlib.Path) -> None:
    """A dataset over one axis as CSV."""
    (text,) = csv_tables(data).values()
    write_whole(path, text.encode())


def few_colours(picture: bytes) -> bytes:
    """A PNG of a quarter of the size: figures have few colours."""
    from PIL import Image

    small = io.BytesIO()
    with Image.open(io.BytesIO(picture)) as image:
        flat = image.convert("RGB").quantize(96, dither=Image.Dither.NONE)
        flat.save(small, "png", optimize=True)
    return small.getvalue()


def beside_the_author(found: xr.Dataset) -> xr.Dataset:
    """The author's cells and ours, every loss in his normalisation."""
    told = found.assign(train_loss=2 * found.words * found.train_loss)
    return told[list(AUTHOR)].rename(AUTHOR)


def main(words: list[str] | None = None) -> None:
    """Run, judge, write."""
    parser = argparse.ArgumentParser(description="The full profile into a folder.")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--minutes", type=float)
    asked = parser.parse_args(words)
    os.environ.setdefault("MPLBACKEND", "agg")
    bench = KeptBench(
        folder=asked.folder / "cells",
        profile="full",
        tell=say,
        quiet=False,
        time_limit=None if asked.minutes is None else 60 * asked.minutes,
    )
    outcome = STUDY.run(FULL, bench)
    record = concluded(
        STUDY,
        outcome,
        profile="full",
        seed=bench.seed,
        command=f"python -m remanence.subjects.shared_representations.study {asked.folder}",
        provenance={},
    )
    if "spikes" in outcome.data:
        write_table(outcome.data["spikes"], asked.folder / "spikes.csv")
    if "samples" in outcome.data:
        write_table(
            beside_the_author(outcome.data["samples"]), asked.folder / "cells.csv"
        )
    (asked.folder / "figures").mkdir(exist_ok=True)
    for figure in record.figures:
        path = asked.folder / "figures" / f"{figure.name}.png"
        write_whole(path, few_colours(drawn(figure).png["light"]))
    write_whole(asked.folder / "claims.json", json_bytes(record.document))


if __name__ == "__main__":
    main()
