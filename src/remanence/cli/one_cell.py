"""One cell of a published table, done again."""

import json
import pathlib
import tempfile
from collections.abc import Mapping
from typing import Any

from ..report import Bench, json_bytes
from ..subjects import study as study_of
from .session import Session


def cell_again(session: Session, name: str, named: Mapping[str, str]) -> Any:
    """The cell of a study's table that `named` tells, computed as the session asks."""
    chosen = study_of(name)
    if chosen.cell is None:
        raise ValueError(f"{name} has no published table whose cells can be redone")
    with tempfile.TemporaryDirectory(prefix="remanence-") as folder:
        bench = Bench(
            folder=pathlib.Path(folder),
            seed=session.seed,
            profile=session.profile,
            tell=session.tell,
            quiet=session.quiet,
            time_limit=session.left(),
            on=session.on,
        )
        return json.loads(json_bytes(chosen.cell(named, bench)))
