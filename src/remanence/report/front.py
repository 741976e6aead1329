"""The front page of a results folder: the documents, the cross table, what fell, what is open."""

import math
import pathlib
from collections.abc import Mapping, Sequence
from typing import Any

from .claims import JudgedClaim
from .cross import COLUMNS, Row, rows
from .html import badge, escape, JUDGED, page, plotly_script
from .page import tally
from .record import read_data
from .store import Damaged, Stored, stored, write_whole
from .typeset import typeset


def _entry(row: Row, column: str) -> str:
    value: Any = getattr(row, column)
    if value is None or value == "":
        kind = "" if column == "key_frequencies" else "number "
        return f'<td class="{kind}soft">–</td>'
    if isinstance(value, str):
        return f"<td>{escape(value)}</td>"
    text = "∞" if math.isinf(value) else f"{value:.4g}"
    return f'<td class="number">{typeset(text)}</td>'


def cross_section(tables: Mapping[str, Sequence[Row]]) -> str:
    """The cross table in HTML, grouped by study; empty without rows."""
    if not any(tables.values()):
        return ""
    head = "".join(
        f'<th scope="col" class="{"" if name == "key_frequencies" else "number"}">'
        f"{escape(words)}</th>"
        for name, words in COLUMNS.items()
    )
    lines = "".join(
        f'<tr><th scope="row">{typeset(row.network)}</th>'
        f'<td><a href="{escape(name)}/index.html">{escape(name)}</a></td>'
        f"{''.join(_entry(row, column) for column in COLUMNS)}</tr>"
        for name, networks in tables.items()
        for row in networks
    )
    return (
        "<h2>Every measurement on every network</h2>"
        '<div class="scroll" tabindex="0" role="region" aria-label="Cross table"><table>'
        '<thead><tr><th scope="col">network</th><th scope="col">study</th>'
        f"{head}</tr></thead><tbody>{lines}</tbody></table></div>"
        '<p class="small soft">A dash: not measured, or without meaning for that network. '
        "Horizon: steps until the slowest direction has faded by a factor e, ∞ where it "
        "never does (a rotation, a chaotic network). A certified rate of 1 or more proves "
        "nothing, so no window follows from it. Window: inputs that suffice for an error of "
        "10⁻³ in the state, proved. Rank: of the recurrent matrix, as far as the task needs "
        "it.</p>"
    )


def _listed(claims: Sequence[tuple[str, JudgedClaim]]) -> str:
    items = "".join(
        f'<li>{badge(claim.verdict, claim.profile)} <a href="{escape(name)}/index.html'
        f'#claim-{escape(claim.id)}"><code>{escape(claim.id)}</code></a> '
        f"{typeset(claim.statement)}<br>"
        f'<span class="soft small">published: {typeset(claim.published)} · '
        f"measured: {typeset(claim.measured)}</span></li>"
        for name, claim in claims
    )
    return f'<ul class="list">{items}</ul>'


def _card(name: str, result: Stored | None, note: str) -> str:
    if result is None:
        command = f"remanence reproduce {name}"
        return (
            f"<li><h3>{escape(name)}</h3><p class='soft'>{escape(note)}</p>"
            f"<pre>{escape(command)}</pre></li>"
        )
    title = str(result.document.get("title", name))
    names = [str(figure) for figure in result.provenance.get("figures", ())]
    first = f"{escape(name)}/figures/{escape(names[0])}" if names else ""
    picture = (
        f'<a href="{escape(name)}/index.html" tabindex="-1" aria-hidden="true"><picture>'
        '<source media="screen and (prefers-color-scheme: dark)" '
        f'srcset="{first}-dark.svg"><img src="{first}.svg" alt="" loading="lazy">'
        "</picture></a>"
        if first
        else ""
    )
    return (
        f'<li><p class="kicker" style="margin:0">Document '
        f"{escape(result.document.get('document', ''))}</p>"
        f'<h3><a href="{escape(name)}/index.html">{typeset(title)}</a></h3>{picture}'
        f'<p class="small soft">{escape(result.profile)} profile, seed {result.seed}'
        f"{f' · {escape(note)}' if note else ''}</p>{tally(result.claims)}</li>"
    )


def front_page(
    results: Mapping[str, Stored | None],
    notes: Mapping[str, str],
    tables: Mapping[str, Sequence[Row]],
) -> str:
    """The page for the results that are there; `notes` says a word about the others."""
    claims = [(name, c) for name, r in results.items() if r for c in r.claims]
    fallen = [(name, c) for name, c in claims if c.verdict == "refuted"]
    unsettled = [(name, c) for name, c in claims if c.verdict == "open"]
    cards = "".join(_card(n, r, notes.get(n, "")) for n, r in results.items())
    lead = (
        "<h1>What recurrent networks remember, for how long, and at what cost</h1>"
        "<p>Five documents made executable: each states its claims, measures them and "
        "lets a rule give the verdict.</p>"
        f"{tally([claim for _, claim in claims])}"
    )
    body = (
        f'<h2>The documents</h2><ul class="cards">{cards}</ul>'
        f"{cross_section(tables)}"
        + (f"<h2>What was refuted</h2>{_listed(fallen)}" if fallen else "")
        + (f"<h2>What is open</h2>{_listed(unsettled)}" if unsettled else "")
    )
    return page(
        title="remanence: results",
        lead=lead,
        body=body,
        home="index.html",
        foot=JUDGED,
    )


def write_front_page(
    out: pathlib.Path, names: Sequence[str], failures: Mapping[str, str]
) -> tuple[str, ...]:
    """Write `OUT/index.html` from what is in `OUT`; gives back what was damaged."""
    results, notes, tables, damaged = {}, {}, {}, []
    for name in names:
        try:
            results[name] = stored(out / name)
            notes[name] = "" if results[name] else "Not run yet."
        except Damaged as problem:
            results[name] = None
            notes[name] = "The stored result is damaged and is not shown."
            damaged.append(str(problem))
        if name in failures:
            notes[name] = f"The last run failed: {failures[name]}"
        if results[name] is not None:
            data = read_data(out / name / "data.zarr")
            tables[name] = rows(data["cross"]) if "cross" in data else []
    text = front_page(results, notes, tables)
    write_whole(out / "index.html", text.encode())
    _bundle(out)
    return tuple(damaged)


def _bundle(out: pathlib.Path) -> None:
    """Put plotly's script beside the pages, once."""
    script, place = plotly_script(), out / "plotly.min.js"
    if not place.exists() or place.stat().st_size != script.stat().st_size:
        write_whole(place, script.read_bytes())
