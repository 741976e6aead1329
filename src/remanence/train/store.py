"""Finished parts of long work on disk: named arrays and JSON under a digest.

A store is a folder of parts, one safetensors file each, written atomically. The part
`plan` says what the work is, and the code, versions and device it ran on. Chunks of
sweeps, checkpoints of trainings and parts of studies are all parts of stores. A part that
does not fit its digest or its plan is named and counts as missing; a folder that belongs
to other work is refused by saying what differs.
"""

import contextlib
import dataclasses
import hashlib
import json
import pathlib
import sys
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import safetensors
from safetensors.numpy import load as tensors_from, save as tensors_to

from .._atomic_write import locked, write_atomically
from .._escape import printable
from .identity import environment


SCHEMA = 2
SUFFIX = ".safetensors"
PLAN = "plan"
LARGEST = 8 * 2**30  # bytes of a file that are read
DAMAGE = (
    *(ValueError, KeyError, TypeError, AttributeError, RecursionError),
    safetensors.SafetensorError,
)
"""What reading a damaged file raises."""
BLANK = "0" * 64  # what stands in the place of the digest while it is computed


@dataclasses.dataclass(frozen=True)
class Store:
    """An open store; made by `opened_store`."""

    folder: pathlib.Path
    plan: str
    notices: list[str]

    def get(self, name: str) -> dict[str, np.ndarray] | None:
        """The arrays of a part, or None if it is missing or not to be trusted."""
        return (self.part(name) or (None,))[0]

    def part(self, name: str) -> tuple[dict[str, np.ndarray], Any] | None:
        """The arrays and the record of a part, or None as in `get`."""
        try:
            return _read_part(self._path(name), self._words(name))
        except FileNotFoundError:
            return None
        except DAMAGE as error:
            self.tell(f"{self._path(name)} is damaged ({error}) and is made again")
            return None

    def put(self, name: str, arrays: Mapping[str, np.ndarray], record: Any = None) -> None:
        """Store arrays and a JSON record; once this returns they survive any crash."""
        content = part_bytes(arrays, self._words(name), record)
        try:
            write_atomically(self._path(name), content)
        except OSError as error:
            kept = "what was stored before is kept, and the same call continues there"
            said = f"{name} could not be stored ({error.strerror}); {kept}"
            raise OSError(error.errno, said, str(self.folder)) from error

    def names(self, start: str = "") -> list[str]:
        """The names of the stored parts that begin like this, in order."""
        names = (path.stem for path in self.folder.glob(f"{start}*{SUFFIX}"))
        return sorted(name for name in names if name != PLAN)

    def tell(self, sentence: str) -> None:
        """Say a sentence on stderr and remember it."""
        self.notices.append(sentence)
        sys.stderr.write(printable(sentence) + "\n")

    def _words(self, name: str) -> dict[str, str]:
        return {"plan": PLAN if name == PLAN else self.plan, "part": name}

    def _path(self, name: str) -> pathlib.Path:
        if not name or pathlib.PurePath(name).name != name or name.startswith("."):
            raise ValueError(f"{name!r} cannot be the name of a part")
        return self.folder / (name + SUFFIX)


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
        store = Store(folder, _digest(work, here), [])
        plan = _plan(store)
        if plan is not None:
            _refuse_other_work(folder, plan["work"], work)
            if changed := [k for k in here if plan["environment"].get(k) != here[k]]:
                words = " and ".join(changed)
                store.tell(f"{folder} was computed with other {words}, so it is computed again")
                _remove_parts(store, _digest(plan["work"], plan["environment"]))
                plan = None
        if plan is None:
            store.put(PLAN, {}, {"schema": SCHEMA, "work": work, "environment": here})
        yield store


def made_on(folder: pathlib.Path) -> list[str]:
    """On which devices and processors the stores under a folder were computed."""
    found = set()
    for path in folder.rglob(PLAN + SUFFIX):
        with contextlib.suppress(OSError, *DAMAGE):
            environment = _read_part(path, {"plan": PLAN})[1]["environment"]
            where = (environment.get(name) for name in ("device", "processor"))
            found.add(", ".join(str(part) for part in where if part))
    return sorted(found)


def _plan(store: Store) -> dict | None:
    """The plan in a store; one that is damaged is named, and its parts still count."""
    if (part := store.part(PLAN)) is None:
        return None
    path, plan = store.folder / (PLAN + SUFFIX), part[1]
    match plan:
        case {"schema": schema} if schema != SCHEMA:
            raise ValueError(f"{path} has schema {schema!r}, this version reads {SCHEMA}")
        case {"work": dict(), "environment": dict()}:
            return plan
    store.tell(f"{path} is no plan and is made again")
    return None


def _refuse_other_work(
    folder: pathlib.Path, theirs: Mapping[str, Any], ours: Mapping[str, Any]
) -> None:
    """Refuse by naming what differs, with both values where they say more than a digest does."""
    said = []
    for name in sorted({**theirs, **ours}):
        if theirs.get(name) != ours.get(name):
            both = [json.dumps(work.get(name)) for work in (theirs, ours)]
            values = " ({} there, {} here)".format(*both)
            said.append(name if max(map(len, both)) > 60 else name + values)
    if said:
        differs = f"which differs in {' and '.join(said)}; choose another folder"
        raise ValueError(f"{folder} holds other work, {differs}")


def _remove_parts(store: Store, plan: str) -> None:
    """Remove the parts of one plan, and no file of anybody else."""
    for name in store.names():
        path = store.folder / (name + SUFFIX)
        with contextlib.suppress(*DAMAGE):
            _read_part(path, {"plan": plan})
            path.unlink()


def _digest(work: Mapping[str, Any], here: Mapping[str, Any]) -> str:
    plan = json.dumps({"work": work, "environment": here}, sort_keys=True)
    return hashlib.sha256(plan.encode()).hexdigest()


def part_bytes(
    arrays: Mapping[str, np.ndarray], words: Mapping[str, str], record: Any = None
) -> bytes:
    """Arrays, words and a JSON record as one safetensors file that carries its digest."""
    # A 0-d array stays 0-d; np.ascontiguousarray would make it 1-d.
    whole = {name: np.array(array, order="C") for name, array in arrays.items()}
    pairs = sorted(name for name in whole if np.iscomplexobj(whole[name]))
    for name in pairs:
        whole[name] = whole[name][..., None].view(np.real(whole[name]).dtype)
    meta = {**words, "record": json.dumps(record), "complex": json.dumps(pairs), "digest": BLANK}
    content = tensors_to(whole, metadata=meta)
    return _with_digest(content, BLANK, hashlib.sha256(content).hexdigest())


def _with_digest(content: bytes, old: str, new: str) -> bytes:
    return content.replace(f'"digest":"{old}"'.encode(), f'"digest":"{new}"'.encode(), 1)


def _read_part(path: pathlib.Path, words: Mapping[str, str]) -> tuple[dict[str, np.ndarray], Any]:
    """The arrays and the record of a part, if its digest and its words fit."""
    if path.is_symlink() or (path.exists() and not path.is_file()):
        raise ValueError("it is a link or no file")
    if path.stat().st_size > LARGEST:
        raise ValueError("it is too large to be ours")
    content = path.read_bytes()
    size = int.from_bytes(content[:8], "little")
    there = json.loads(content[8 : 8 + size])["__metadata__"]
    found, blank = there["digest"], _with_digest(content, there["digest"], BLANK)
    if hashlib.sha256(blank).hexdigest() != found:
        raise ValueError("its digest does not fit")
    for word, value in words.items():
        if there[word] != value:
            raise ValueError(f"its {word} is another")
    arrays = tensors_from(content)
    for name in json.loads(there["complex"]):
        pair = arrays[name]
        arrays[name] = pair.view(np.result_type(pair, 1j))[..., 0]
    return arrays, json.loads(there["record"])
