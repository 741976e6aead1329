"""Finished parts of long work on disk: named arrays and JSON under a digest.

A store is a folder with a plan (`plan.json`: what the work is, and the code,
versions and device it ran on) and one safetensors file a part, each written
atomically. Chunks of sweeps, checkpoints of trainings and parts of studies are all
parts of stores. A part that does not fit its digest or its plan is named and counts as
missing; a folder that belongs to other work is refused by saying what differs.
"""

import contextlib
import dataclasses
import json
import pathlib
import sys
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import safetensors

from .._atomic_write import locked, write_atomically
from .._escape import printable
from .identity import environment
from .part_file import digest_of, part_bytes, part_metadata, read_part, sealed as sealed, unsealed


SCHEMA = 1
SUFFIX = ".safetensors"
LARGEST = 8 * 2**30
"""Bytes of a file that are read."""
DAMAGE = (
    ValueError,
    KeyError,
    TypeError,
    AttributeError,
    RecursionError,
    safetensors.SafetensorError,
)
"""What reading a damaged file raises."""


@dataclasses.dataclass(frozen=True)
class Store:
    """An open store; made by `opened_store`."""

    folder: pathlib.Path
    plan: str
    notices: list[str]

    def get(self, name: str) -> dict[str, np.ndarray] | None:
        """The arrays of a part, or None if it is missing or not to be trusted."""
        part = self.part(name)
        return None if part is None else part[0]

    def part(self, name: str) -> tuple[dict[str, np.ndarray], Any] | None:
        """The arrays and the record of a part, or None as in `get`."""
        path = self.folder / (name + SUFFIX)
        try:
            return read_part(_content(path), {"plan": self.plan, "part": name})
        except FileNotFoundError:
            return None
        except DAMAGE as error:
            self.tell(f"{path} is damaged ({error}) and is computed again")
            return None

    def put(self, name: str, arrays: Mapping[str, np.ndarray], record: Any = None) -> None:
        """Store arrays and a JSON record; once this returns they survive any crash."""
        if not name or pathlib.PurePath(name).name != name or name.startswith("."):
            raise ValueError(f"{name!r} cannot be the name of a part")
        words = {"plan": self.plan, "part": name, "record": json.dumps(record)}
        content = part_bytes(arrays, words)
        try:
            write_atomically(self.folder / (name + SUFFIX), content)
        except OSError as error:
            raise OSError(
                error.errno,
                f"{name} could not be stored ({error.strerror}); what was stored "
                "before is kept, and the same call continues there",
                str(self.folder),
            ) from error

    def names(self, start: str = "") -> list[str]:
        """The names of the stored parts that begin like this, in order."""
        return sorted(path.stem for path in self.folder.glob(f"{start}*{SUFFIX}"))

    def remove(self, name: str) -> None:
        """Forget a part."""
        (self.folder / (name + SUFFIX)).unlink(missing_ok=True)

    def tell(self, sentence: str) -> None:
        """Say a sentence on stderr and remember it."""
        self.notices.append(sentence)
        sys.stderr.write(printable(sentence) + "\n")


@contextlib.contextmanager
def opened_store(
    folder: str | pathlib.Path,
    work: Mapping[str, Any],
    function: Any = None,
    *,
    here: Mapping[str, Any] | None = None,
) -> Iterator[Store]:
    """The store of `work` in `folder`, for this process alone while it is open.

    `work` is plain JSON and says everything that decides the parts, apart from the
    code; `function` names the package file whose code counts beside the engine's.
    Parts made by other code, versions or devices are computed again. `here` is the
    environment in which parts are made, if that is not this process.
    """
    folder = pathlib.Path(folder)
    work = dict(json.loads(json.dumps(work)))
    here = dict(environment(function) if here is None else here)
    with locked(folder):
        store = Store(folder, digest_of({"work": work, "environment": here}), [])
        path = folder / "plan.json"
        found = _plan(path, store.tell)
        if found is not None:
            _refuse_other_work(folder, found["work"], work)
        if found is not None and found["environment"] != here:
            changed = [k for k in here if found["environment"].get(k) != here[k]]
            store.tell(
                f"{folder} was computed with other {' and '.join(changed)}, so it is computed again"
            )
            old = digest_of({"work": work, "environment": found["environment"]})
            _remove_parts(folder, old)
        if found is None or found["environment"] != here:
            plan = {"schema": SCHEMA, "work": work, "environment": here}
            write_atomically(path, sealed(plan))
        yield store


def made_on(folder: pathlib.Path) -> list[str]:
    """On which devices and processors the stores under a folder were computed."""
    found = set()
    for path in sorted(folder.rglob("plan.json")):
        plan = _plan(path, lambda sentence: None)
        if plan is not None:
            where = (plan["environment"].get(name) for name in ("device", "processor"))
            found.add(", ".join(str(part) for part in where if part))
    return sorted(found)


class _Other(Exception):
    """A sound plan of another schema."""


def _content(path: pathlib.Path) -> bytes:
    """The bytes of one of our files: not too many, and not through a link."""
    if path.is_symlink():
        raise ValueError("it is a link")
    if path.stat().st_size > LARGEST:
        raise ValueError("it is too large to be ours")
    return path.read_bytes()


def _plan(path: pathlib.Path, tell: Callable[[str], None]) -> dict | None:
    try:
        plan = unsealed(_content(path))
        if plan["schema"] != SCHEMA:
            raise _Other(plan["schema"])
        if not all(isinstance(plan[name], dict) for name in ("work", "environment")):
            raise ValueError("it is no plan")
        return plan
    except FileNotFoundError:
        return None
    except _Other as other:
        raise ValueError(
            f"{path} has schema {other.args[0]!r}, this version reads {SCHEMA}"
        ) from None
    except DAMAGE as error:
        # Every part carries the digest of its plan, so those of this one still count.
        tell(f"{path} is damaged ({error}) and is written again")
        return None


def _refuse_other_work(
    folder: pathlib.Path, theirs: Mapping[str, Any], ours: Mapping[str, Any]
) -> None:
    names = [name for name in {**theirs, **ours} if theirs.get(name) != ours.get(name)]
    if names:
        said = [name + _values(theirs.get(name), ours.get(name)) for name in sorted(names)]
        raise ValueError(
            f"{folder} holds other work, which differs in {' and '.join(said)}; "
            "choose another folder"
        )


def _remove_parts(folder: pathlib.Path, plan: str) -> None:
    """Remove the parts of one plan, and no file of anybody else."""
    for path in folder.glob(f"*{SUFFIX}"):
        with contextlib.suppress(*DAMAGE):
            if part_metadata(_content(path))["plan"] == plan:
                path.unlink()


def _values(there: Any, here: Any) -> str:
    """Both values, where they say more than a digest does."""
    words = [json.dumps(value) for value in (there, here)]
    if any(len(word) > 60 for word in words):
        return ""
    return f" ({words[0]} there, {words[1]} here)"
