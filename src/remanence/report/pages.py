"""The pages of results: one a study, and the index with findings, what was refuted and what is open."""

import contextlib
import dataclasses
import pathlib
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .claims import judge_again, JudgedClaim
from .figures import DrawnFigure, FIGURE_NAME
from .html import render
from .provenance import provenance_in_words
from .stored_result import DamagedResult, read_claims, read_result, StoredResult, write_atomically
from .study import Study
from .tables import cells, COLUMNS, read_data


FULL_RESULTS = pathlib.Path(__file__).parents[3] / "docs" / "results"
"""Beside which a quick run stands; only in the repository, not in an installed package."""
WRITTEN_FINDING = re.compile(r"^\*\*\d+\. (.+?)\*\*(.+?)(?:\n\n|\Z)", re.DOTALL | re.MULTILINE)
CLAIM_ID = re.compile(r"\b\d{3}\.[A-Z]?\d+(?:-[a-z]+)?")
JUDGED = "Every verdict on this page was computed by a rule from what was measured."


@dataclasses.dataclass(frozen=True)
class Finding:
    """A finding in words: the number is empty where the study names none."""

    number: str
    sentence: str
    claim: JudgedClaim


def main_finding(study: Study, claims: Sequence[JudgedClaim]) -> Finding | None:
    """The study's headline with its numbers, else its first measured claim with a figure."""
    measured = {claim.id: claim for claim in claims if claim.evidence}
    chosen = study.headline
    if chosen is not None and (claim := measured.get(chosen.claim)) is not None:
        with contextlib.suppress(LookupError, ValueError, TypeError):
            number = chosen.number.format(**claim.evidence)
            return Finding(number, chosen.sentence.format(**claim.evidence), claim)
    shown = [claim for claim in measured.values() if claim.figure]
    first = next(iter(shown or measured.values()), None)
    return None if first is None else Finding("", first.measured, first)


def kept_claims(
    study: Study, file: str = "claims.json"
) -> dict[str, tuple[JudgedClaim, str]] | None:
    """The claims of the full run by id, judged again, with a remark where that changed the verdict."""
    try:
        _, rows = read_claims(FULL_RESULTS / study.name / file)
    except DamagedResult:
        return None
    full = {}
    for row in rows:
        fresh, note = judge_again(row, study.claims)
        remark = f"stored as {row.verdict}" if note else ""
        full[row.id] = (fresh, remark) if fresh else (row, "by an earlier rule")
    return full


def written_findings() -> list[tuple[str, list[str]]]:
    """The sentences of `docs/findings.md` with the ids of their claims; none without the page."""
    page = FULL_RESULTS.with_name("findings.md")
    text = page.read_text(encoding="utf-8") if page.is_file() else ""
    found = WRITTEN_FINDING.findall(text)
    return [(" ".join(sentence.split()), CLAIM_ID.findall(rest)) for sentence, rest in found]


def disagreements(
    claims: Sequence[JudgedClaim], full: Mapping[str, tuple[JudgedClaim, str]] | None
) -> list[tuple[JudgedClaim, JudgedClaim, str]]:
    """The claims of a smaller run whose verdict is another in the full one."""
    return [
        (claim, *full[claim.id])
        for claim in claims
        if full and claim.profile != "full" and claim.id in full
        if full[claim.id][0].verdict != claim.verdict
    ]


def study_page(study: Study, result: Any, pictures: Sequence[DrawnFigure] | None = None) -> str:
    """The whole page of a study: of a `Record` with its pictures, or of claims alone."""
    profile, claims = result.profile, result.claims
    full = kept_claims(study)
    made = {"seed": result.seed, "profile": f"{profile}: {study.cost.get(profile, '')}"}
    return render(
        "study.html",
        title=f"{study.title} · remanence",
        home="../index.html",
        foot=JUDGED,
        study=study,
        profile=profile,
        finding=main_finding(study, claims),
        about=study.about.removeprefix(f"{study.title}."),
        pictures=pictures,
        drawn={picture.figure.name for picture in pictures or ()},
        claims=claims,
        full=full,
        kept=FULL_RESULTS.is_dir(),
        disagreements=disagreements(claims, full),
        facts=provenance_in_words(result.provenance) | made,
    )


@dataclasses.dataclass(kw_only=True)
class Entry:
    """What the index says of one study; without a result, a note why."""

    name: str
    note: str = ""
    study: Study | None = None
    result: StoredResult | None = None
    claims: Sequence[JudgedClaim] = ()
    finding: Finding | None = None
    picture: str = ""  # the thumbnail without theme and suffix, if one was drawn
    disagreements: int = 0  # the number of claims on which the full run decides otherwise
    networks: Sequence[Sequence[str]] = ()  # its rows of the cross table


def results_index(
    out: pathlib.Path,
    names: Sequence[str],
    failures: Mapping[str, str],
    study_of: Callable[[str], Study],
) -> tuple[str, tuple[str, ...]]:
    """The page for what is in `OUT`, and a sentence for everything that is not as it should be."""
    entries, problems = [], []
    for name in names:
        try:
            entry = _entry(out, name, study_of)
        except DamagedResult as problem:
            problems.append(f"{problem}; it is not shown")
            entry = Entry(name=name, note="The stored result is damaged and is not shown.")
        if entry.result is not None and (notes := entry.result.notes):
            more = f" (and {len(notes) - 1} more like it)" if notes[1:] else ""
            problems.append(notes[0] + more)
        if name in failures:
            entry.note = f"The last run failed: {failures[name]}"
        entries.append(entry)
    claims = [(entry.name, claim) for entry in entries for claim in entry.claims]
    page = render(
        "results.html",
        title="remanence: results",
        home="index.html",
        foot=JUDGED,
        entries=entries,
        findings=[e for e in entries if e.finding and e.finding.number][:3],
        written=written_findings(),
        study_of={claim.id: name for name, claim in claims},
        claims=[claim for _, claim in claims],
        refuted=[pair for pair in claims if pair[1].verdict == "refuted"],
        undecided=[pair for pair in claims if pair[1].verdict == "open"],
        columns=COLUMNS,
    )
    return page, tuple(problems)


def write_results_index(out: pathlib.Path, *given: Any) -> tuple[str, ...]:
    """Write `OUT/index.html`, and give back what is not as it should be: see `results_index`."""
    page, problems = results_index(out, *given)
    write_atomically(out / "index.html", page.encode())
    return problems


def _entry(out: pathlib.Path, name: str, study_of: Callable[[str], Study]) -> Entry:
    if (result := read_result(out / name)) is None:
        return Entry(name=name, note="Not run yet.")
    study = study_of(name)
    result = result.judged_again(study.claims)
    alone, claims = result.claims_alone, result.claims
    data = {} if alone else read_data(out / name / "data.zarr", ["cross"])
    small = "" if alone else str(result.provenance.get("thumbnail", ""))
    return Entry(
        name=name,
        study=study,
        result=result,
        claims=claims,
        finding=main_finding(study, claims),
        picture=f"{name}/figures/{small}" if FIGURE_NAME.fullmatch(small) else "",
        disagreements=len(disagreements(claims, kept_claims(study))),
        networks=cells(data["cross"]) if "cross" in data else (),
    )
