"""The index of a results folder: three findings, the studies, what was refuted, what is open."""

import dataclasses
import pathlib
from collections.abc import Callable, Mapping, Sequence

from .claims import JudgedClaim
from .cross_table import cells, COLUMNS
from .figures import FIGURE_NAME
from .findings import disagreements, Finding, full_results, main_finding
from .html import render
from .results_folder import write_atomically
from .stored_result import DamagedResult, read_result, StoredResult
from .study import Study
from .study_page import JUDGED
from .tables import read_data


@dataclasses.dataclass(frozen=True, kw_only=True)
class Entry:
    """What the index says of one study; without a result, a note why."""

    name: str
    note: str = ""
    study: Study | None = None
    result: StoredResult | None = None
    networks: Sequence[Sequence[str]] = ()
    """Its rows of the cross table."""

    @property
    def claims(self) -> Sequence[JudgedClaim]:
        """Its judged claims, none without a result."""
        return () if self.result is None else self.result.claims

    @property
    def finding(self) -> Finding | None:
        """Its main finding, if something was measured."""
        return None if self.study is None else main_finding(self.study, self.claims)

    @property
    def picture(self) -> str:
        """The thumbnail without theme and suffix; empty if none was drawn."""
        known = {} if self.result is None else self.result.provenance
        name = str(known.get("thumbnail", ""))
        return f"{self.name}/figures/{name}" if FIGURE_NAME.fullmatch(name) else ""

    @property
    def disagreements(self) -> int:
        """On how many claims the full run decides otherwise."""
        full = None if self.study is None else full_results(self.study)
        return len(disagreements(self.claims, full))


def results_page(entries: Sequence[Entry]) -> str:
    """The page for the results that are there; `note` says a word about the others."""
    claims = [(entry.name, claim) for entry in entries for claim in entry.claims]
    return render(
        "results.html",
        title="remanence: results",
        home="index.html",
        foot=JUDGED,
        entries=entries,
        findings=[e for e in entries if e.picture and e.finding and e.finding.number][:3],
        claims=[claim for _, claim in claims],
        refuted=[pair for pair in claims if pair[1].verdict == "refuted"],
        undecided=[pair for pair in claims if pair[1].verdict == "open"],
        columns=COLUMNS,
    )


def write_results_index(
    out: pathlib.Path,
    names: Sequence[str],
    failures: Mapping[str, str],
    study_of: Callable[[str], Study],
) -> tuple[str, ...]:
    """Write `OUT/index.html` from what is in `OUT`; gives back what is not as it should be.

    Verdicts are judged again by the study that `study_of` gives for a name.
    """
    entries, problems = [], []
    for name in names:
        failed = f"The last run failed: {failures[name]}" if name in failures else ""
        try:
            entry = _entry(out, name, study_of)
        except DamagedResult as problem:
            problems.append(f"{problem}; it is not shown")
            entry = Entry(name=name, note="The stored result is damaged and is not shown.")
        if entry.result is not None and (notes := entry.result.notes):
            more = f" (and {len(notes) - 1} more like it)" if notes[1:] else ""
            problems.append(notes[0] + more)
        entries.append(dataclasses.replace(entry, note=failed or entry.note))
    write_atomically(out / "index.html", results_page(entries).encode())
    return tuple(problems)


def _entry(out: pathlib.Path, name: str, study_of: Callable[[str], Study]) -> Entry:
    result = read_result(out / name)
    if result is None:
        return Entry(name=name, note="Not run yet.")
    study = study_of(name)
    data = read_data(out / name / "data.zarr", ["cross"])
    return Entry(
        name=name,
        study=study,
        result=result.judged_again(study.claims),
        networks=cells(data["cross"]) if "cross" in data else (),
    )
