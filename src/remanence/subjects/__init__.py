"""One folder a document; each is imported only when it is asked for."""

import contextlib
import functools
import hashlib
import importlib
import os
import pathlib
import shutil
import tempfile
import time
from collections.abc import Callable, Mapping
from typing import Any

from .._atomic_write import locked
from ..report import (
    Bench,
    conclude,
    json_bytes,
    provenance,
    read_result,
    Record,
    refuse_foreign_files,
    StoredResult,
    Study,
    write_record,
    write_results_index,
)


STUDIES = {
    "memorization": "memorization",
    "fading-memory": "fading_memory",
    "modular-addition": "modular_addition",
    "shared-representations": "shared_representations",
    "stable-recurrence": "stable_recurrence",
    "recurrent-language-models": "recurrent_language_models",
}
"""The name of a study and its module, in the order of the documents."""


def study(name: str) -> Study:
    """The study of that name."""
    if name not in STUDIES:
        raise ValueError(f"no study is called {name!r}; there are {', '.join(STUDIES)}")
    return importlib.import_module(f".{STUDIES[name]}.study", __name__).STUDY


def stored_result(folder: pathlib.Path) -> StoredResult | None:
    """The result in a folder, every claim judged again; `.notes` says which verdicts differ."""
    found = read_result(folder)
    if found is None or found.study not in STUDIES:
        return found
    return found.judged_again(study(found.study).claims)


def write_index(out: pathlib.Path, failures: Mapping[str, str] | None = None) -> tuple[str, ...]:
    """Write `OUT/index.html`; gives back a sentence for everything that is not in order."""
    return write_results_index(out, list(STUDIES), failures or {}, study)


def configured(chosen: Study, profile: str) -> Any:
    """The configuration of a profile."""
    if profile not in chosen.profiles:
        raise ValueError(
            f"{chosen.name} has no profile {profile!r}; there are {', '.join(chosen.profiles)}"
        )
    return chosen.profiles[profile]


def parts_folder(out: pathlib.Path, chosen: Study, profile: str, seed: int) -> pathlib.Path:
    """Where an unfinished run keeps its parts; those of another size or seed are elsewhere."""
    identity = json_bytes([repr(configured(chosen, profile)), seed])
    mark = hashlib.sha256(identity).hexdigest()[:12]
    return out / ".parts" / chosen.name / f"{profile}-{seed}-{mark}"


def reproduce(
    name: str,
    profile: str = "quick",
    *,
    seed: int = 0,
    out: str | os.PathLike[str] | None = "results",
    tell: Callable[[str], None] = lambda sentence: None,
    quiet: bool = True,
    time_limit: float | None = None,
    on: str | None = None,
    again: bool = False,
) -> Record:
    """Run a study, judge its claims, and keep everything under `out/name`.

    A run that is stopped keeps its finished parts and goes on from there when it is
    called again, or from the start with `again=True`. With `out=None` nothing is kept.

    `.claims` are the judged claims, `.data` the labelled arrays by name, and
    `.figures` can be drawn again with `.figures[0].draw()`.
    """
    chosen = study(name)
    config = configured(chosen, profile)
    if seed < 0:
        raise ValueError(f"seed must not be negative, got {seed}")
    if time_limit is not None and not time_limit > 0:
        raise ValueError(f"the time limit must be positive, got {time_limit}")
    bench = functools.partial(
        Bench, seed=seed, profile=profile, tell=tell, quiet=quiet, time_limit=time_limit, on=on
    )
    if out is None:
        with tempfile.TemporaryDirectory(prefix="remanence-") as folder:
            return _run(chosen, config, bench(folder=pathlib.Path(folder)))
    home = pathlib.Path(out)
    refuse_foreign_files(home / name)
    parts = parts_folder(home, chosen, profile, seed)
    with locked(parts):
        for path in list(parts.iterdir()) if again else ():
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            elif path.name != ".lock":  # which this run holds
                path.unlink()
        record = _run(chosen, config, bench(folder=parts))
        tell("drawing the figures and writing the page")
        record = write_record(record, home, scratch=parts)
        shutil.rmtree(parts)
    for folder in (parts.parent, parts.parent.parent):
        with contextlib.suppress(OSError):  # other runs keep their parts there
            folder.rmdir()
    write_index(home)
    return record


def _run(chosen: Study, config: Any, bench: Bench) -> Record:
    begun = time.monotonic()
    outcome = chosen.run(config, bench)
    words = f"remanence reproduce {chosen.name} --profile {bench.profile} --seed {bench.seed}"
    swept = "on this machine"
    if bench.on is not None:
        from ..train.store import made_on

        found = "; ".join(made_on(bench.folder))
        swept = f"by the workers of a Dask scheduler ({found or 'there were none'})"
    spent = {"seconds": time.monotonic() - begun, "sweeps": swept}
    return conclude(
        chosen,
        outcome,
        profile=bench.profile,
        seed=bench.seed,
        command=words,
        provenance=provenance(chosen.name, config, bench, command=words, **spent),
    )
