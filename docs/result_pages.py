"""What the site adds: the verdicts of a study first, quick beside full, and figures with captions.

    docs/results/STUDY/claims.json   of the full run
    docs/results/STUDY/quick.json    the `claims.json` of `remanence reproduce STUDY`

Both are judged again by today's rules.
"""

import pathlib
import re

from remanence.report.html import render
from remanence.report.pages import disagreements, kept_claims, main_finding
from remanence.subjects import STUDIES, study


PAGE = re.compile(r"results/([^/]+)/README\.md")
TITLE = re.compile(r"^# .*\n", re.MULTILINE)
ALONE = re.compile(r'<p>(<img alt="([^"]+)" src="([^"#]+)" ?/?>)</p>')
CAPTIONED = r'<figure class="drawn"><a href="\3">\1</a><figcaption>\2</figcaption></figure>'


def verdicts(name: str) -> str:
    """The finding of a study, its tally, and every verdict of the kept runs, as HTML."""
    chosen = study(name)
    known = kept_claims(chosen) or {}
    quick = {id: row for id, (row, _) in (kept_claims(chosen, "quick.json") or {}).items()}
    full = [row for row, _ in known.values()]
    return render(
        "verdicts.html",
        folder=pathlib.Path(__file__).parent,
        finding=main_finding(chosen, full),
        full=full,
        quick=quick,
        disagreements=disagreements(list(quick.values()), known),
    )


def on_page_markdown(markdown: str, page, **_) -> str:
    """Called by mkdocs for every page."""
    found = PAGE.fullmatch(page.file.src_uri)
    if found is None or found[1] not in STUDIES:
        return markdown
    top = verdicts(found[1])
    return TITLE.sub(lambda title: f"{title[0]}\n{top}\n", markdown, count=1)


def on_page_content(html: str, **_) -> str:
    """Called by mkdocs for every page, once it is HTML."""
    return ALONE.sub(CAPTIONED, html)
