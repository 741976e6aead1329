"""Results on disk: written whole or not at all, and checked before they are believed.

A study's folder holds exactly `CONTENTS`. `provenance.json` lists the digest of
everything beside it, so a file that was cut, edited or lost is noticed by name.
"""

import contextlib
import dataclasses
import hashlib
import json
import pathlib
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from typing import Any

from .._whole import written_whole
from .claims import JudgedClaim, VERDICTS


CONTENTS = ("claims.json", "data.zarr", "figures", "index.html", "provenance.json")
SCHEMA = 2
"""Of a result. Schema 1 did not name itself; its files are the same."""
LONGEST = 64 * 1024 * 1024
"""Bytes of a JSON document that are read."""


class Damaged(ValueError):
    """A stored result that must not be believed; the sentence names the file."""


@dataclasses.dataclass(frozen=True)
class Stored:
    """A finished result as read back from its folder."""

    folder: pathlib.Path
    study: str
    profile: str
    seed: int
    claims: tuple[JudgedClaim, ...]
    document: Mapping[str, Any]
    provenance: Mapping[str, Any]


def write_whole(path: pathlib.Path, content: bytes) -> None:
    """Put `content` at `path`, for everybody to read, whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    written_whole(path, content).chmod(0o644)


@contextlib.contextmanager
def whole_folder(folder: pathlib.Path) -> Iterator[pathlib.Path]:
    """A fresh folder to fill; it takes the place of `folder` once it is complete.

    A folder that holds anything but a result is somebody else's and is refused.
    """
    refuse_strangers(folder)
    folder.parent.mkdir(parents=True, exist_ok=True)
    name = tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent)
    fresh, aside = pathlib.Path(name), pathlib.Path(f"{name}.old")
    try:
        yield fresh
        fresh.chmod(0o755)
        if folder.exists():
            folder.replace(aside)
        fresh.replace(folder)
    except BaseException:
        shutil.rmtree(fresh, ignore_errors=True)
        if aside.exists() and not folder.exists():
            aside.replace(folder)
        raise
    shutil.rmtree(aside, ignore_errors=True)


def refuse_strangers(folder: pathlib.Path) -> None:
    """Refuse to replace a folder that was not written by us."""
    if not folder.exists():
        return
    if not folder.is_dir():
        raise ValueError(f"{folder} is a file, so no result can be written there")
    strangers = sorted({path.name for path in folder.iterdir()} - {*CONTENTS})
    if strangers:
        raise ValueError(
            f"{folder} holds {strangers[0]!r}, which is not part of a result; "
            "move it or choose another --out"
        )


def digest(path: pathlib.Path) -> str:
    """The SHA-256 of a file, or of a folder's names and contents."""
    total = hashlib.sha256()
    if path.is_dir():
        for file in sorted(path.rglob("*")):
            if file.is_file():
                total.update(file.relative_to(path).as_posix().encode() + b"\0")
                total.update(hashlib.sha256(file.read_bytes()).digest())
    else:
        total.update(path.read_bytes())
    return total.hexdigest()


def digests(folder: pathlib.Path) -> dict[str, str]:
    """The digest of every part of a result beside its provenance."""
    return {name: digest(folder / name) for name in CONTENTS[:-1]}


def _read_json(path: pathlib.Path) -> Any:
    try:
        if path.stat().st_size > LONGEST:
            raise Damaged(f"{path} is damaged: it is too large to be a document")
        content = json.loads(path.read_bytes())
    except Damaged:
        raise
    except FileNotFoundError:
        raise Damaged(f"{path} is missing") from None
    except (ValueError, RecursionError):
        raise Damaged(f"{path} is damaged: it is not a JSON document") from None
    if not isinstance(content, dict):
        raise Damaged(f"{path} is damaged: it is not a JSON object")
    return content


def _sound(claim: JudgedClaim) -> bool:
    words = dataclasses.asdict(claim)
    evidence = words.pop("evidence")
    return (
        claim.verdict in VERDICTS
        and all(isinstance(word, str) for word in words.values())
        and isinstance(evidence, dict | None)
    )


def _migrated(provenance: dict[str, Any], folder: pathlib.Path) -> dict[str, Any]:
    """The record of an older schema as today's; one of a newer is refused by name."""
    found = provenance.get("schema", 1)
    if found not in (1, SCHEMA):
        raise Damaged(
            f"{folder} has schema {found!r}, this version reads 1 and {SCHEMA}"
        )
    return provenance | {"schema": SCHEMA}


def stored(folder: pathlib.Path) -> Stored | None:
    """The result in a folder, or None if there is none; refuses a damaged one."""
    if not folder.is_dir() or not any(folder.iterdir()):
        return None
    provenance = _read_json(folder / "provenance.json")
    # A link could lead anywhere, so that other files would be taken for results.
    for name in CONTENTS:
        for path in (folder / name, *sorted((folder / name).rglob("*"))):
            if path.is_symlink():
                raise Damaged(f"{path} is a link, and results hold none")
    listed = provenance.get("files")
    figures = provenance.get("figures", [])
    if not (isinstance(listed, dict) and isinstance(figures, list)):
        raise Damaged(f"{folder / 'provenance.json'} is damaged: it lists no files")
    provenance = _migrated(provenance, folder)
    for name in CONTENTS[:-1]:
        if not (folder / name).exists():
            raise Damaged(f"{folder / name} is missing")
        if digest(folder / name) != listed.get(name):
            raise Damaged(f"{folder / name} is damaged: it is not what was written")
    document = _read_json(folder / "claims.json")
    try:
        claims = tuple(JudgedClaim(**claim) for claim in document["claims"])
        # A digest only proves that the file is the one whose digest is beside it.
        if not (
            all(map(_sound, claims))
            and isinstance(document["seed"], int)
            and all(isinstance(document[name], str) for name in ("study", "profile"))
        ):
            raise ValueError
        return Stored(
            folder=folder,
            study=document["study"],
            profile=document["profile"],
            seed=document["seed"],
            claims=claims,
            document=document,
            provenance=provenance,
        )
    except (KeyError, TypeError, ValueError):
        raise Damaged(
            f"{folder / 'claims.json'} is damaged: it holds no claims"
        ) from None
