"""`remanence reproduce`: run studies, say what they cost, keep what is finished."""

import contextlib
import importlib.util
import os
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from typer import Argument, Exit, Option

from .._stop import stop_on_signals


def parse_seconds(text: str | None) -> float | None:
    """A time such as 90, 90s, 5m or 2h in seconds."""
    if text is None:
        return None
    factor = {"s": 1, "m": 60, "h": 3600}.get(text[-1:])
    try:
        limit = float(text[:-1]) * factor if factor else float(text)
    except ValueError:
        limit = 0.0
    if not 0 < limit < float("inf"):
        raise ValueError(f"--time-limit takes a time such as 90, 90s or 5m, got {text!r}")
    return limit


def parse_cell(text: str) -> dict[str, str]:
    """The cell that `k=v,…` names."""
    pairs = [part.partition("=") for part in text.split(",")]
    if any(not (name.strip() and mark and value.strip()) for name, mark, value in pairs):
        raise ValueError(f"--cell takes name=value,name=value, got {text!r}")
    cell = {name.strip(): value.strip() for name, _, value in pairs}
    if len(cell) < len(pairs):
        raise ValueError(f"--cell takes each name once, got {text!r}")
    return cell


def refuse_bad_folder(out: Path) -> None:
    """Refuse results where no folder can be, before anything is computed."""
    there = next(path for path in (out, *out.absolute().parents) if path.exists())
    if not there.is_dir():
        raise ValueError(f"--out {out} is no folder: {there} is a file")
    if not os.access(there, os.W_OK):
        raise ValueError(f"--out {out} cannot be written: no permission in {there}")


@contextlib.contextmanager
def only_on_stderr() -> Iterator[None]:
    """Whatever writes to stdout inside, also below Python, writes to stderr."""
    sys.stdout.flush()
    kept = os.dup(1)
    try:
        os.dup2(2, 1)
        with contextlib.redirect_stdout(sys.stderr):
            yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)


def cell_again(chosen: Any, named: Mapping[str, str], wishes: Any) -> Any:
    """The cell of a study's published table that `named` tells, computed anew."""
    from ..report import Bench

    if chosen.cell is None:
        raise ValueError(f"{chosen.name} has no published table whose cells can be redone")
    with tempfile.TemporaryDirectory(prefix="remanence-") as folder:
        limit = {"time_limit": wishes.time_left()}
        bench = Bench(Path(folder), wishes.seed, wishes.profile, on=wishes.on, **limit)
        return chosen.cell(named, bench)


def reproduce(
    study: str = Argument(metavar="STUDY", help="A study's name, or all."),
    profile: str = Option("quick", help="quick, or full: the document's own sizes."),
    out: Path = Option("results", help="The folder that the results go to."),
    seed: int = Option(0, help="Seed of every draw."),
    quiet: bool = Option(False, "--quiet", help="No progress, only the summary."),
    as_json: bool = Option(False, "--json", help="One JSON document on stdout, no table."),
    time_limit: str | None = Option(
        None, help="Stop about then, keep what is finished: 90, 5m, 2h."
    ),
    cell: str | None = Option(
        None,
        help="Redo one cell of a published table: name=value,… (shared-representations: frac, sigma, seed).",
    ),
    on: str | None = Option(None, help="Run sweeps on a Dask scheduler, tcp://host:port."),
    again: bool = Option(False, "--again", help="Recompute also what is already there."),
) -> None:
    """Run a study: its claims, measured beside what was published.

    An unfinished run goes on where it was stopped. A finished one, made by the same
    code with the same seed, is read back; --again makes it anew.
    """
    from .._prepare_jax import prepare_jax

    limit = parse_seconds(time_limit)
    named = None if cell is None else parse_cell(cell)
    if on is not None and not on.startswith(("tcp://", "tls://")):
        raise ValueError(f"--on takes a scheduler's address such as tcp://host:8786, got {on!r}")
    if seed < 0:
        raise ValueError(f"--seed must not be negative, got {seed}")
    if seed >= 2**32:
        raise ValueError(f"--seed must be below 2³², got {seed}")
    prepare_jax(one_thread=profile == "quick")
    from ..subjects import configured, study as study_of
    from .session import Session, Wishes
    from .table import print_json, studies_named

    chosen = [study_of(name) for name in studies_named(study)]
    for each in chosen:
        configured(each, profile)
    refuse_bad_folder(out)
    if on is not None and importlib.util.find_spec("distributed") is None:
        raise ValueError("--on needs Dask: pip install '.[cluster]' in a clone of remanence")
    if named is not None and len(chosen) > 1:
        raise ValueError("--cell needs one study, not all")
    deadline = None if limit is None else time.monotonic() + limit
    wishes = Wishes(profile=profile, out=out, seed=seed, again=again, deadline=deadline, on=on)
    session = Session(wishes, quiet=quiet)
    code = 0
    with only_on_stderr() if as_json else contextlib.nullcontext(), stop_on_signals(limit):
        if named is not None:
            answer = cell_again(chosen[0], named, wishes)
        else:
            code = session.run([each.name for each in chosen])
            studies = [found.document for found in session.results.values()]
            answer = {"studies": studies, "failed": session.failed}
    if as_json or named is not None:
        print_json(answer)
    else:
        session.print_summary()
    raise Exit(code)
