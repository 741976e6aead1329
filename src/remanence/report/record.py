"""A study that was run: its claims, its arrays, its figures, and how to keep them."""

import dataclasses
import pathlib
from collections.abc import Mapping
from typing import Any

from .canonical_json import json_bytes
from .claims import judge, JudgedClaim
from .figures import draw_figure, draw_thumbnail, DrawnFigure, write_figure
from .pages import main_finding, study_page
from .stored_result import CONTENTS, digest, replacing_folder, SCHEMA, write_atomically
from .study import Figure, Outcome, Study
from .tables import as_dataset, Dataset, write_data


@dataclasses.dataclass(frozen=True, kw_only=True)
class Record:
    """What `reproduce` gives back."""

    study: Study
    profile: str
    seed: int
    claims: tuple[JudgedClaim, ...]
    data: Mapping[str, Dataset]
    figures: tuple[Figure, ...]
    provenance: Mapping[str, Any]
    folder: pathlib.Path | None = None

    @property
    def document(self) -> dict[str, Any]:
        """What `claims.json` holds: no time, no path, no host name."""
        return {
            "study": self.study.name,
            "document": self.study.document,
            "title": self.study.title,
            "profile": self.profile,
            "seed": self.seed,
            "claims": [dataclasses.asdict(claim) for claim in self.claims],
        }

    def __repr__(self) -> str:
        lines = [f"  {c.id:<8} {c.label:<16} {c.measured}" for c in self.claims]
        return "\n".join([f"{self.study.name} ({self.profile}, seed {self.seed})", *lines])


def conclude(
    study: Study,
    outcome: Outcome,
    *,
    profile: str,
    seed: int,
    command: str,
    provenance: Mapping[str, Any],
) -> Record:
    """The record that a run's outcome leads to: every claim judged by its rule."""
    known = {"document": study.document, "command": command, "profile": profile}
    results = outcome.results
    claims = tuple(judge(claim, claim.evidence_in(results), **known) for claim in study.claims)
    data = {name: as_dataset(values) for name, values in outcome.data.items()}
    run = {"study": study, "profile": profile, "seed": seed, "provenance": provenance}
    data = {name: dataset for name, dataset in data.items() if dataset is not None}
    return Record(**run, claims=claims, data=data, figures=tuple(outcome.figures))


def write_record(record: Record, out: pathlib.Path, scratch: pathlib.Path | None = None) -> Record:
    """Write `OUT/STUDY` as a whole, put together under `scratch`; the record with its folder."""
    folder = out / record.study.name
    with replacing_folder(folder, scratch) as fresh:
        write_atomically(fresh / "claims.json", json_bytes(record.document))
        try:
            write_data(record.data, fresh / "data.zarr")
        except OSError as error:  # a full disk names no file
            error.filename = error.filename or str(fresh / "data.zarr")
            raise
        drawn = fresh / "figures"
        drawn.mkdir()
        pictures = [write_figure(draw_figure(figure), drawn) for figure in record.figures]
        write_atomically(fresh / "index.html", study_page(record.study, record, pictures).encode())
        small = [write_figure(picture, drawn) for picture in _thumbnail(record)]
        provenance = {
            "schema": SCHEMA,
            **record.provenance,
            "figures": [figure.name for figure in record.figures],
            "thumbnail": small[0].figure.name if small else "",
            "files": {name: digest(fresh / name) for name in CONTENTS[:-1]},
        }
        write_atomically(fresh / "provenance.json", json_bytes(provenance))
    return dataclasses.replace(record, folder=folder)


def _thumbnail(record: Record) -> list[DrawnFigure]:
    """The small picture of the main finding's figure, else of the first, if there is one."""
    finding, headline = main_finding(record.study, record.claims), record.study.headline
    chosen = [f for f in record.figures if finding and f.name == finding.claim.figure]
    panel = headline.panel if headline and chosen else 0
    return [draw_thumbnail(figure, panel) for figure in (chosen or record.figures)[:1]]
