"""The page of one study: claims on top, then every figure with its numbers.

The page opens from disk without a network. Pictures are inside it; the
interactive twins wake up if `plotly.min.js` stands beside the results.
"""

import base64
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from .claims import JudgedClaim
from .figures import Drawn, HEAVY
from .html import ASSETS, badge, escape, JUDGED, page
from .plain import json_bytes
from .study import Study
from .style import MARKS
from .typeset import typeset


def tally(claims: Sequence[JudgedClaim]) -> str:
    """How many claims got each verdict, as badges."""
    counts = {verdict: sum(c.verdict == verdict for c in claims) for verdict in MARKS}
    badges = "".join(
        f"<li>{badge(verdict, count=count)}</li>"
        for verdict, count in counts.items()
        if count
    )
    return f'<ul class="tally">{badges}</ul>'


def claims_table(claims: Sequence[JudgedClaim]) -> str:
    """Published beside measured, a row a claim."""
    rows = []
    for claim in claims:
        evidence = json_bytes(claim.evidence).decode() if claim.evidence else ""
        details = (
            f"<details><summary>evidence</summary><pre>{escape(evidence)}</pre></details>"
            if evidence
            else ""
        )
        rows.append(
            f'<tr id="claim-{escape(claim.id)}">'
            f'<td data-label="JudgedClaim"><code>{escape(claim.id)}</code></td>'
            f"<td>{typeset(claim.statement)}{details}</td>"
            f'<td data-label="Published">{typeset(claim.published)}</td>'
            f'<td data-label="Measured">{typeset(claim.measured)}</td>'
            f"<td>{badge(claim.verdict, claim.profile)}</td></tr>"
        )
    heads = (
        "JudgedClaim",
        "What the document says",
        "Published",
        "Measured",
        "Verdict",
    )
    head = "".join(f'<th scope="col">{name}</th>' for name in heads)
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="Claims">'
        f'<table class="claims"><thead><tr>{head}</tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table></div>"
    )


def _data_uri(picture: Drawn, theme) -> str:
    svg = picture.svg[theme]
    kind, content = (
        ("svg+xml", svg) if len(svg) <= HEAVY else ("png", picture.png[theme])
    )
    return f"data:image/{kind};base64,{base64.b64encode(content).decode()}"


def script_json(value: Any) -> str:
    """JSON that cannot leave the script element that it is put into."""
    text = json.dumps(value, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def figure_block(picture: Drawn, command: str) -> str:
    """One figure: the still picture, its live twin, its numbers and its command."""
    figure = picture.figure
    name = escape(figure.name)
    live = swap = numbers = ""
    if picture.twin is not None:
        layout = picture.twin["light"]["layout"]
        size = f"height:{layout['height']}px;min-width:{int(0.7 * layout['width'])}px"
        live = f'<div class="live" hidden style="{size}"></div>'
        numbers = (
            f'<script type="application/json">{script_json(picture.twin)}</script>'
        )
        swap = (
            '<button class="swap" type="button" hidden aria-pressed="false">'
            "Make it interactive</button>"
        )
    links = [
        f'<a href="figures/{name}.svg">SVG</a>',
        f'<a href="figures/{name}.png">PNG</a>',
    ]
    links += [
        f'<a href="figures/{escape(table)}" download>{escape(_kind(table, figure.name))}</a>'
        for table in picture.tables
    ]
    twin = " data-twin" if picture.twin is not None else ""
    return (
        f'<figure id="figure-{name}"{twin}><h3>{typeset(figure.title)}</h3>'
        f'<div class="frame" tabindex="0" role="region" aria-label="{escape(figure.title)}">'
        f'<picture class="still"><source media="screen and (prefers-color-scheme: dark)" '
        f'srcset="{_data_uri(picture, "dark")}"><img src="{_data_uri(picture, "light")}" '
        f'alt="{escape(figure.title)}" style="{_sizes(picture)}"></picture>'
        f"{live}</div>{numbers}<figcaption>{typeset(figure.caption)}</figcaption>"
        f'<div class="files">{swap}{"".join(links)}<code>{escape(command)}</code></div>'
        "</figure>"
    )


def _sizes(picture: Drawn) -> str:
    """As wide as it was drawn, a PNG too; below about half it is scrolled, not shrunk."""
    points = re.search(rb'<svg[^>]* width="([\d.]+)pt"', picture.svg["light"])
    width = float(points[1]) * 96 / 72 if points else 0.0
    return f"min-width:{int(0.55 * width)}px" + (
        f";width:{width:.0f}px" if width else ""
    )


def _kind(table: str, name: str) -> str:
    rest = table.removeprefix(f"{name}.")
    return {"csv": "CSV", "nc": "NetCDF"}.get(
        rest, f"CSV ({rest.removesuffix('.csv')})"
    )


def study_page(
    *,
    study: Study,
    profile: str,
    seed: int,
    claims: Sequence[JudgedClaim],
    provenance: Mapping[str, Any],
    pictures: Sequence[Drawn],
    about: str = "",
) -> str:
    """The whole page of a study that was run."""
    command = str(provenance.get("command", f"remanence reproduce {study.name}"))
    facts = {
        "command": command,
        "profile": f"{profile}: {study.cost.get(profile, '')}",
        "seed": seed,
        "took": f"{provenance.get('seconds', '?')} s",
        "finished": provenance.get("finished", ""),
        "configuration": json.dumps(
            provenance.get("configuration"), ensure_ascii=False
        ),
        "versions": ", ".join(
            f"{name} {version}"
            for name, version in dict(provenance.get("versions", {})).items()
        ),
        "precision": ", ".join(
            f"{what} {width}"
            for what, width in dict(provenance.get("precision", {})).items()
        ),
        "device": ", ".join(
            str(provenance[name])
            for name in ("device", "processor", "machine", "system")
            if provenance.get(name)
        ),
        "code": provenance.get("code", ""),
    }
    listed = "".join(
        f"<dt>{escape(k)}</dt><dd>{escape(v)}</dd>" for k, v in facts.items()
    )
    story = "".join(f"<p>{typeset(p)}</p>" for p in about.split("\n\n") if p.strip())
    figures = "".join(figure_block(picture, command) for picture in pictures)
    lead = (
        f'<p class="kicker">Document {escape(study.document)} · {escape(study.name)}</p>'
        f"<h1>{typeset(study.title)}</h1>"
        f'<p class="soft small">{typeset(study.reference)}</p>{tally(claims)}'
    )
    body = (
        f"<h2>Claims</h2>{claims_table(claims)}"
        + (f"<h2>The subject</h2>{story}" if story else "")
        + (f"<h2>Figures</h2>{figures}" if figures else "")
        + f'<h2>How this was made</h2><dl class="facts">{listed}</dl>'
        '<p class="small">Beside this page: <a href="claims.json">claims.json</a>, '
        '<a href="provenance.json">provenance.json</a>, all arrays in '
        "<code>data.zarr</code>, the pictures in <code>figures/</code>.</p>"
    )
    scripts = (
        '<script src="../plotly.min.js"></script>'
        f"<script>{(ASSETS / 'page.js').read_text(encoding='utf-8')}</script>"
        if any(picture.twin for picture in pictures)
        else ""
    )
    return page(
        title=f"{study.title} · remanence",
        lead=lead,
        body=body,
        home="../index.html",
        foot=JUDGED,
        scripts=scripts,
    )
