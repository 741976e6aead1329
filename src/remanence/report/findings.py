"""What stands at the head of a page: the main finding, and where quick and full differ.

The full results are kept in the repository (`docs/results/STUDY/claims.json`); an
installed package does not have them.
"""

import contextlib
import dataclasses
import pathlib
from collections.abc import Mapping, Sequence

from .claims import judge_again, JudgedClaim
from .stored_result import DamagedResult, read_claims
from .study import Study


FULL_RESULTS = pathlib.Path(__file__).parents[3] / "docs" / "results"


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
    for claim in (shown or list(measured.values()))[:1]:
        return Finding("", claim.measured, claim)
    return None


def full_results(study: Study) -> dict[str, tuple[JudgedClaim, str]] | None:
    """The claims of the full run by id, judged again; None where they are not known.

    Beside each stands a remark where the verdict is not what today's rule says of what
    was stored.
    """
    try:
        _, rows = read_claims(FULL_RESULTS / study.name / "claims.json")
    except DamagedResult:
        return None
    full = {}
    for row in rows:
        fresh, note = judge_again(row, study.claims)
        remark = f"stored as {row.verdict}" if note else ""
        full[row.id] = (fresh, remark) if fresh else (row, "by an earlier rule")
    return full


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
