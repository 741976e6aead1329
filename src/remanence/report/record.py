"""A study that was run: its claims, its arrays, its figures, and how to keep them."""

import dataclasses
import pathlib
import warnings
from collections.abc import Mapping
from typing import Any

import xarray as xr

from .claims import Claim, judged, JudgedClaim
from .figures import drawn, write_figure
from .page import study_page
from .plain import json_bytes
from .store import digests, SCHEMA, whole_folder, write_whole
from .study import Figure, Outcome, Study
from .tables import as_dataset
from .twin import twin


@dataclasses.dataclass(frozen=True, kw_only=True)
class Record:
    """What `reproduce` gives back."""

    study: Study
    profile: str
    seed: int
    claims: tuple[JudgedClaim, ...]
    data: Mapping[str, xr.Dataset]
    figures: tuple[Figure, ...]
    provenance: Mapping[str, Any]
    about: str = ""
    """What the study's module says of itself, its equations between dollars."""
    folder: pathlib.Path | None = None

    @property
    def document(self) -> dict[str, Any]:
        """What `claims.json` holds: no time, no path, no host name."""
        return claims_document(self.study, self.profile, self.seed, self.claims)

    def __repr__(self) -> str:
        lines = [f"{self.study.name} ({self.profile}, seed {self.seed})"]
        lines += [f"  {c.id:<8} {c.label:<16} {c.measured}" for c in self.claims]
        return "\n".join(lines)


def claims_document(
    study: Study, profile: str, seed: int, claims: tuple[JudgedClaim, ...]
) -> dict[str, Any]:
    """The claims of a run as one plain document."""
    return {
        "study": study.name,
        "document": study.document,
        "title": study.title,
        "profile": profile,
        "seed": seed,
        "claims": [dataclasses.asdict(claim) for claim in claims],
    }


def concluded(
    study: Study,
    outcome: Outcome,
    *,
    profile: str,
    seed: int,
    command: str,
    provenance: Mapping[str, Any],
    about: str = "",
) -> Record:
    """The record that a run's outcome leads to: every claim judged by its rule."""
    unknown = sorted({*outcome.evidence} - {s.id for s in study.claims})
    if unknown:
        raise RuntimeError(
            f"{study.name} has evidence for {unknown[0]!r}, which it does not state"
        )
    claims = tuple(
        judged(
            claim,
            claim.evidence_in(outcome.results)
            if isinstance(claim, Claim)
            else outcome.evidence.get(claim.id),
            document=study.document,
            command=command,
            profile=profile,
        )
        for claim in study.claims
    )
    data = {name: as_dataset(values) for name, values in outcome.data.items()}
    return Record(
        study=study,
        profile=profile,
        seed=seed,
        claims=claims,
        data={name: dataset for name, dataset in data.items() if dataset is not None},
        figures=tuple(outcome.figures),
        provenance=provenance,
        about=about,
    )


def _storable(dataset: xr.Dataset) -> xr.Dataset:
    """Strings of one width, attributes that JSON can say, nothing of older files."""
    fresh = dataset.drop_encoding()
    for name, variable in fresh.variables.items():
        if variable.dtype.kind == "O":
            fresh[name] = variable.astype("U")
    return fresh


def write_data(data: Mapping[str, xr.Dataset], path: pathlib.Path) -> None:
    """The datasets as groups of one zarr store (format 2)."""
    import zarr

    zarr.open_group(str(path), mode="w", zarr_format=2)
    for name, dataset in data.items():
        with warnings.catch_warnings():
            # Fixed-width strings have no specification in zarr 3; we write format 2.
            warnings.filterwarnings("ignore", module=r"zarr\..*")
            _storable(dataset).to_zarr(
                str(path), group=name, mode="w", zarr_format=2, consolidated=False
            )


def read_data(path: pathlib.Path) -> dict[str, xr.Dataset]:
    """The datasets of a stored result, loaded."""
    import zarr

    names = sorted(zarr.open_group(str(path), mode="r").group_keys())
    return {
        name: xr.open_zarr(str(path), group=name, consolidated=False).load()
        for name in names
    }


def write_record(record: Record, out: pathlib.Path) -> Record:
    """Write `OUT/STUDY` whole, and give back the record with its folder."""
    folder = out / record.study.name
    with whole_folder(folder) as fresh:
        write_whole(fresh / "claims.json", json_bytes(record.document))
        write_data(record.data, fresh / "data.zarr")
        (fresh / "figures").mkdir()
        pictures = [
            write_figure(drawn(figure, twin), fresh / "figures")
            for figure in record.figures
        ]
        page = study_page(
            study=record.study,
            profile=record.profile,
            seed=record.seed,
            claims=record.claims,
            provenance=record.provenance,
            pictures=pictures,
            about=record.about,
        )
        write_whole(fresh / "index.html", page.encode())
        provenance = {
            "schema": SCHEMA,
            **record.provenance,
            "files": digests(fresh),
        }
        provenance["figures"] = [figure.name for figure in record.figures]
        write_whole(fresh / "provenance.json", json_bytes(provenance))
    return dataclasses.replace(record, folder=folder)
