"""The page of one study: its finding, its subject, the figures, then the claims.

The page opens from disk without a network: the pictures stand beside it.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from .claims import JudgedClaim
from .figures import DrawnFigure
from .findings import disagreements, full_results, main_finding
from .html import render
from .provenance import provenance_in_words
from .study import Study


JUDGED = "Every verdict on this page was computed by a rule from what was measured."


def evidence_rows(evidence: Any, name: str = "") -> list[tuple[str, str]]:
    """Nested evidence as rows of a name and a value, nothing left out.

    >>> evidence_rows({"by_scale": {"0.1": {"real": 7}}, "gaps": [0.5, float("inf")]})
    [('by scale, 0.1, real', '7'), ('gaps', '0.5, ∞')]
    """
    if isinstance(evidence, Mapping):
        return [
            row
            for key, value in evidence.items()
            for row in evidence_rows(
                value, f"{name}, {key}" if name else str(key).replace("_", " ")
            )
        ]
    nested = isinstance(evidence, list) and any(isinstance(v, dict) for v in evidence)
    if nested:
        return [
            row
            for place, value in enumerate(evidence, 1)
            for row in evidence_rows(value, f"{name} ({place})")
        ]
    return [(name, _value(evidence))]


def _value(value: Any) -> str:
    if isinstance(value, list):
        several = any(isinstance(item, list) for item in value)
        return ("; " if several else ", ").join(map(_value, value)) or "none"
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no", None: "–"}[value]
    if isinstance(value, float):
        return f"{value:.6g}".replace("inf", "∞")
    return f"{value:,}" if isinstance(value, int) else str(value)


def study_page(
    *,
    study: Study,
    profile: str,
    seed: int,
    claims: Sequence[JudgedClaim],
    provenance: Mapping[str, Any],
    pictures: Sequence[DrawnFigure],
    about: str = "",
) -> str:
    """The whole page of a study that was run."""
    full = full_results(study)
    return render(
        "study.html",
        title=f"{study.title} · remanence",
        home="../index.html",
        foot=JUDGED,
        study=study,
        profile=profile,
        finding=main_finding(study, claims),
        about=about.removeprefix(f"{study.title}."),
        pictures=pictures,
        drawn={picture.figure.name for picture in pictures},
        claims=claims,
        evidence_rows=evidence_rows,
        full=full,
        disagreements=disagreements(claims, full),
        facts={
            "profile": f"{profile}: {study.cost.get(profile, '')}",
            "seed": seed,
            **provenance_in_words(provenance),
        },
    )
