"""The page of one study: its finding, its subject, the figures, then the claims.

The page opens from disk without a network: the pictures stand beside it.
"""

from collections.abc import Sequence
from typing import Any

from . import findings
from .figures import DrawnFigure
from .findings import disagreements, full_results, main_finding
from .html import render
from .provenance import provenance_in_words


JUDGED = "Every verdict on this page was computed by a rule from what was measured."


def study_page(record: Any, pictures: Sequence[DrawnFigure]) -> str:
    """The whole page of a study that was run (a `Record`), with its pictures."""
    study, profile, claims = record.study, record.profile, record.claims
    full = full_results(study)
    made = {"seed": record.seed, "profile": f"{profile}: {study.cost.get(profile, '')}"}
    return render(
        "study.html",
        title=f"{study.title} · remanence",
        home="../index.html",
        foot=JUDGED,
        study=study,
        profile=profile,
        finding=main_finding(study, claims),
        about=record.about.removeprefix(f"{study.title}."),
        pictures=pictures,
        drawn={picture.figure.name for picture in pictures},
        claims=claims,
        full=full,
        kept=findings.FULL_RESULTS.is_dir(),
        disagreements=disagreements(claims, full),
        facts=provenance_in_words(record.provenance) | made,
    )
