"""What a document says, what was measured, and the verdict that a rule computes.

A `Statement` is declared beside its study: the sentence, the published value and
the rule. The rule sees only the measured evidence, so a verdict is never typed.
`example` and `contrary` are two made-up pieces of evidence that must lead to
different verdicts; one test tries them for every statement of every study.
"""

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any, get_args, Literal


Verdict = Literal["holds", "differs", "refuted", "open"]
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)
Evidence = Mapping[str, Any]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Statement:
    """One sentence of a document and the rule that judges it.

    `measured` words the evidence in a few characters for the table.
    """

    id: str
    statement: str
    published: str
    rule: Callable[[Evidence], Verdict]
    measured: Callable[[Evidence], str]
    example: Evidence
    contrary: Evidence


@dataclasses.dataclass(frozen=True, kw_only=True)
class Claim:
    """One row: a statement with what was measured and the verdict."""

    id: str
    document: str
    statement: str
    published: str
    measured: str
    verdict: Verdict
    evidence: Evidence
    command: str
    profile: str

    @property
    def label(self) -> str:
        """The verdict as shown: a quick run says that it is quick."""
        return self.verdict if self.profile == "full" else f"{self.verdict} (quick)"


def judged(
    statement: Statement,
    evidence: Evidence | None,
    *,
    document: str,
    command: str,
    profile: str,
) -> Claim:
    """The claim that a statement becomes once evidence is there; open without."""
    verdict = "open" if evidence is None else statement.rule(evidence)
    if verdict not in VERDICTS:
        raise ValueError(f"the rule of {statement.id} gave {verdict!r}, not a verdict")
    return Claim(
        id=statement.id,
        document=document,
        statement=statement.statement,
        published=statement.published,
        measured="not measured" if evidence is None else statement.measured(evidence),
        verdict=verdict,
        evidence={} if evidence is None else dict(evidence),
        command=command,
        profile=profile,
    )
