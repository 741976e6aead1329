"""Where finished cells are kept: sealed parts of one run, or lines of a file that stays.

A run's own parts belong to one version of the code. A cell of the document's grid takes
minutes and is worth more than that, so `KeptBench` keeps cells as lines of CSV files,
which later versions go on with; the file's history says which code wrote a line.
"""

import contextlib
import csv
import dataclasses
import hashlib
import io
import json
import pathlib
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from ...report import Bench, write_whole
from ...train.store import opened_store


Row = Mapping[str, float]


class Ledger(NamedTuple):
    """`get` gives a cell's row if it is there, `put` keeps one at once."""

    get: Callable[[Any], Row | None]
    put: Callable[[Any, Row], None]


@dataclasses.dataclass(frozen=True)
class KeptBench(Bench):
    """A bench whose cells are lines of CSV files in `folder`."""


@contextlib.contextmanager
def opened_ledger(
    title: str, bench: Bench, work: Mapping[str, Any], function: Any
) -> Iterator[Ledger]:
    """The ledger of one table; what decides its cells is in `work`."""
    if isinstance(bench, KeptBench):
        yield _lines(bench.folder / f"{_plain(title)}.csv", limit=work["limit"])
        return
    folder = bench.folder / "cells" / title
    with opened_store(folder, {"table": title, **work}, function) as store:
        yield Ledger(
            lambda cell: _numbers(store.get(_name(cell))),
            lambda cell, row: store.put(
                _name(cell), {name: np.asarray(value) for name, value in row.items()}
            ),
        )


def _plain(title: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", title.lower().replace(">", "above")).strip("-")


def _name(cell: Any) -> str:
    plain = json.dumps(dataclasses.asdict(cell), sort_keys=True)
    return "cell-" + hashlib.sha256(plain.encode()).hexdigest()[:16]


def _numbers(row: Mapping[str, np.ndarray] | None) -> Row | None:
    if row is None:
        return None
    return {name: float(value) for name, value in row.items()}


def _key(cell: Any) -> tuple[str, ...]:
    return tuple(str(value) for value in dataclasses.asdict(cell).values())


def _lines(path: pathlib.Path, *, limit: int) -> Ledger:
    rows: dict[tuple[str, ...], Row] = {}

    def get(cell: Any) -> Row | None:
        if not rows:
            rows.update(_read(path, list(dataclasses.asdict(cell))))
        row = rows.get(_key(cell))
        if row is None or row["ending"] != 1.0:
            return row
        # Given up: it counts if it was given as many steps as are asked for now.
        spent = row["effort" if cell.way == "descent" else "steps"]
        return row if spent >= limit else None

    def put(cell: Any, row: Row) -> None:
        fields = dataclasses.asdict(cell)
        get(cell)
        rows[_key(cell)] = row
        text = io.StringIO()
        lines = csv.writer(text, lineterminator="\n")
        lines.writerow([*fields, *row])
        for key, kept in rows.items():
            lines.writerow([*key, *(f"{value:.7g}" for value in kept.values())])
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, text.getvalue().encode())

    return Ledger(get, put)


def _read(
    path: pathlib.Path, fields: list[str]
) -> Iterator[tuple[tuple[str, ...], Row]]:
    if not path.is_file():
        return
    with path.open(newline="") as lines:
        for line in csv.DictReader(lines):
            key = tuple(line.pop(field) for field in fields)
            yield key, {name: float(value) for name, value in line.items()}
