"""Results on disk: written as a whole or not at all, and checked before they are believed.

`provenance.json` lists the digest of everything beside it, so a file that was cut or lost is
noticed by name. An edited digest proves nothing: verdicts are judged again from their evidence.
"""

import contextlib
import dataclasses
import errno
import hashlib
import json
import pathlib
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from .. import _atomic_write
from .canonical_json import plain
from .claims import Claim, judge_again, JudgedClaim, VERDICTS


CONTENTS = ("claims.json", "data.zarr", "figures", "index.html", "provenance.json")
"""What the folder of a result holds, and nothing else."""
SCHEMA = 2  # of a result. Schema 1 did not name itself; its files are the same
LONGEST = 64 * 1024 * 1024  # bytes of a JSON document that are read


class DamagedResult(ValueError):
    """A stored result that must not be believed; the sentence names the file."""


@dataclasses.dataclass(frozen=True)
class StoredResult:
    """A finished result as read back from its folder."""

    folder: pathlib.Path
    study: str
    profile: str
    seed: int
    claims: tuple[JudgedClaim, ...]
    document: Mapping[str, Any]
    provenance: Mapping[str, Any]
    notes: tuple[str, ...] = ()  # a sentence for every verdict that its rule does not give any more
    claims_alone: bool = False  # whether page and arrays were left out, as in docs/results

    def judged_again(self, claims: Sequence[Claim]) -> "StoredResult":
        """The result with every row judged by its study's own rules."""
        found = [judge_again(row, claims) for row in self.claims]
        rows = tuple(
            fresh or dataclasses.replace(row, verdict="open")
            for row, (fresh, _) in zip(self.claims, found, strict=True)
        )
        document = {**self.document, "claims": [plain(dataclasses.asdict(row)) for row in rows]}
        lost = sorted({c.id for c in claims} - {row.id for row in rows})
        words = "is a claim of the study, and the stored result leaves it out"
        notes = (*(note for _, note in found if note), *(f"{id} {words}" for id in lost))
        return dataclasses.replace(self, claims=rows, document=document, notes=notes)


def _paths(top: pathlib.Path) -> list[pathlib.Path]:
    """A file, or a folder and everything in it; no link, which could lead anywhere, and no pipe."""
    if top.is_symlink():
        raise DamagedResult(f"{top} is a link, and results hold none")
    if top.is_dir():
        return [top, *(path for below in sorted(top.iterdir()) for path in _paths(below))]
    if top.exists() and not top.is_file():
        raise DamagedResult(f"{top} is a pipe or a device, and results hold none")
    return [top]


def digest(path: pathlib.Path) -> str:
    """The SHA-256 of a file, or of a folder's names and contents."""
    if not path.is_dir():
        return hashlib.sha256(path.read_bytes()).hexdigest()
    total = hashlib.sha256()
    for file in sorted(file for file in _paths(path) if file.is_file()):
        total.update(file.relative_to(path).as_posix().encode() + b"\0")
        total.update(hashlib.sha256(file.read_bytes()).digest())
    return total.hexdigest()


def _read_json(path: pathlib.Path) -> dict[str, Any]:
    if not path.is_file():
        raise DamagedResult(f"{path} is missing")
    if path.stat().st_size > LONGEST:
        raise DamagedResult(f"{path} is damaged: it is too large to be a document")
    try:
        return {**json.loads(path.read_bytes())}
    except (TypeError, ValueError, RecursionError):
        raise DamagedResult(f"{path} is damaged: it is not a JSON object") from None


def read_claims(path: pathlib.Path) -> tuple[dict[str, Any], tuple[JudgedClaim, ...]]:
    """The document of a `claims.json` and its rows, every field of its type."""
    document = _read_json(path)
    try:
        claims = tuple(JudgedClaim(**claim) for claim in document["claims"])
        rows = [{**vars(claim)} for claim in claims]
        sound = all(isinstance(row.pop("evidence"), dict | None) for row in rows)
        sound &= all(row["verdict"] in VERDICTS for row in rows)
        words = [document["study"], document["profile"], *(w for row in rows for w in row.values())]
        sound &= all(isinstance(word, str) for word in words)
        if not sound or not isinstance(document["seed"], int):
            raise ValueError
    except (KeyError, TypeError, ValueError):
        raise DamagedResult(f"{path} is damaged: it holds no claims") from None
    return document, claims


def read_result(folder: pathlib.Path) -> StoredResult | None:
    """The result in a folder, or its claims if they alone were kept; None if there is none."""
    if not folder.is_dir() or not any(folder.iterdir()):
        return None
    provenance: dict[str, Any] = {"computed on": "nothing is stored about it"}
    try:
        for name in CONTENTS:
            _paths(folder / name)
        alone = not any((folder / name).exists() for name in ("data.zarr", "index.html"))
        if not alone or (folder / "provenance.json").exists():
            provenance = _read_provenance(folder, CONTENTS[:1] if alone else CONTENTS[:-1])
    except OSError as problem:  # no permission, or gone while it was read
        raise DamagedResult(f"{folder} cannot be read: {problem}") from None
    document, claims = read_claims(folder / "claims.json")
    return StoredResult(
        folder=folder,
        **{name: document[name] for name in ("study", "profile", "seed")},
        claims=claims,
        document=document,
        provenance=provenance,
        claims_alone=alone,
    )


def _read_provenance(folder: pathlib.Path, parts: Sequence[str]) -> dict[str, Any]:
    """What made a result, once these parts of it are found to be what was written."""
    provenance = _read_json(folder / "provenance.json")
    found, listed = provenance.get("schema", 1), provenance.get("files")
    if found not in (1, SCHEMA):
        raise DamagedResult(f"{folder} has schema {found!r}, this version reads 1 and {SCHEMA}")
    if not isinstance(listed, dict):
        raise DamagedResult(f"{folder}/provenance.json is damaged: it lists no files")
    for path in (folder / name for name in parts):
        if not path.exists():
            raise DamagedResult(f"{path} is missing")
        if digest(path) != listed.get(path.name):
            raise DamagedResult(f"{path} is damaged: it is not what was written")
    return provenance | {"schema": SCHEMA}


def write_atomically(path: pathlib.Path, content: bytes) -> pathlib.Path:
    """Put `content` at `path` as a whole or not at all; its folder is made."""
    path.parent.mkdir(parents=True, exist_ok=True)
    return _atomic_write.write_atomically(path, content)


@contextlib.contextmanager
def replacing_folder(
    folder: pathlib.Path, scratch: pathlib.Path | None = None
) -> Iterator[pathlib.Path]:
    """A fresh folder to fill under `scratch`; it takes the place of `folder` once it is complete."""
    refuse_foreign_files(folder)
    folder.parent.mkdir(parents=True, exist_ok=True)
    home = tempfile.mkdtemp(prefix=f".{folder.name}.", dir=scratch or folder.parent)
    fresh = pathlib.Path(home) / "fresh"
    fresh.mkdir()
    try:
        yield fresh
        fresh.chmod(0o755)
        _swap(fresh, folder, pathlib.Path(home))
    finally:
        shutil.rmtree(home, ignore_errors=True)


def _swap(fresh: pathlib.Path, folder: pathlib.Path, home: pathlib.Path) -> None:
    """Put `fresh` in the place of `folder`, also while other runs do the same."""
    for attempt in range(100):
        older = home / f"older-{attempt}"
        with contextlib.suppress(FileNotFoundError):
            folder.replace(older)
        try:
            fresh.replace(folder)
        except OSError as error:
            if error.errno in (errno.ENOTEMPTY, errno.EEXIST):
                continue  # another run was faster; its result is replaced in turn
            if older.exists():
                older.replace(folder)
            raise
        return
    raise OSError(f"{folder} is replaced by other runs all the time")


def refuse_foreign_files(folder: pathlib.Path) -> None:
    """Refuse to replace a folder that was not written by us."""
    if not folder.exists():
        return
    if not folder.is_dir():
        raise ValueError(f"{folder} is a file, so no result can be written there")
    if foreign := sorted({path.name for path in folder.iterdir()} - {*CONTENTS}):
        raise ValueError(
            f"{folder} holds {foreign[0]!r}, which is not part of a result; "
            "move it or choose another --out"
        )
