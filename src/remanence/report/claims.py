"""What a document says, and the verdict that a rule computes from the stored evidence alone."""

import dataclasses
import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, get_args, Literal

from .canonical_json import as_read_back, numbers_of_words


Verdict = Literal["holds", "differs", "refuted", "open"]
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)
Evidence = Mapping[str, Any]
Results = Mapping[str, Any]
"""What each experiment of a run found, by name."""


class _NotMeasuredError(Exception):
    """An experiment was asked for that was not run."""


class _Results(dict[str, Any]):
    """Results by the experiment's name; only an absent experiment is no evidence."""

    def __missing__(self, name: str) -> Any:
        raise _NotMeasuredError(name)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Claim:
    """One sentence of a document, the evidence for it, and the rule that judges it."""

    id: str
    says: str
    published: str
    finding: str | Callable[[Evidence], str]
    """At most fifteen words, filled in from the evidence: `"{wrong} wrong symbols"`."""
    evidence: Callable[[Results], Evidence | None]
    """From the results of a run to plain numbers; None where it was not measured, as
    when an experiment that it asks for is not among the results."""
    rule: Callable[[Evidence], Verdict]
    """From the evidence alone to a verdict; its docstring is printed beside it."""
    figure: str = ""
    """The name of the figure that shows it."""

    def evidence_in(self, results: Results) -> Evidence | None:
        """The evidence, or None where an experiment that it needs was not run."""
        try:
            return self.evidence(_Results(results))
        except _NotMeasuredError:
            return None

    def finding_of(self, evidence: Evidence) -> str:
        """The finding with the numbers of the evidence in it."""
        if isinstance(self.finding, str):
            return self.finding.format(**evidence)
        return self.finding(evidence)

    @property
    def rule_in_words(self) -> str:
        """The rule's docstring as one paragraph."""
        return " ".join((inspect.getdoc(self.rule) or "").split())


@dataclasses.dataclass(frozen=True, kw_only=True)
class JudgedClaim:
    """One row: a claim with what was measured and the verdict."""

    id: str
    document: str
    statement: str
    published: str
    measured: str
    verdict: Verdict
    evidence: Evidence
    command: str
    profile: str
    rule: str = ""  # in words
    figure: str = ""

    @property
    def label(self) -> str:
        """The verdict as shown: a quick run says that it is quick."""
        return self.verdict if self.profile == "full" else f"{self.verdict} ({self.profile})"


def judge(
    claim: Claim, evidence: Evidence | None, *, document: str, command: str, profile: str
) -> JudgedClaim:
    """The row that a claim becomes once evidence is there; open without."""
    # As a reader of `claims.json` gets it, so that it is judged again to the same verdict.
    known = {} if evidence is None else as_read_back(evidence)
    verdict = "open" if evidence is None else claim.rule(known)
    if verdict not in VERDICTS:
        raise ValueError(f"the rule of {claim.id} gave {verdict!r}, not a verdict")
    return JudgedClaim(
        id=claim.id,
        document=document,
        statement=claim.says,
        published=claim.published,
        measured="not measured" if evidence is None else claim.finding_of(known),
        verdict=verdict,
        evidence=known,
        command=command,
        profile=profile,
        rule=claim.rule_in_words,
        figure=claim.figure,
    )


def judge_again(row: JudgedClaim, claims: Sequence[Claim]) -> tuple[JudgedClaim | None, str]:
    """A stored row judged from its evidence, and a sentence where the verdict is another.

    None where it cannot be judged: by a rule that reads other evidence, or by none.
    """
    said = f"{row.id} is stored as {row.verdict!r}, and"
    claim = {claim.id: claim for claim in claims}.get(row.id)
    if claim is None:
        return None, f"{said} this version has no such claim"
    unmeasured = row.verdict == "open" and not row.evidence
    evidence = None if unmeasured else numbers_of_words(row.evidence)
    kept = {name: getattr(row, name) for name in ("document", "command", "profile")}
    try:
        fresh = judge(claim, evidence, **kept)
    except Exception as problem:  # the evidence may be anything, and so its rule's error
        why = f"{type(problem).__name__}: {problem}"
        return None, f"{said} its rule cannot read the stored evidence ({why})"
    same = fresh.verdict == row.verdict
    return fresh, "" if same else f"{said} its rule gives {fresh.verdict!r} for the stored evidence"
