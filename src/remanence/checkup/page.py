"""The checkup as one HTML page that opens from disk: verdict, horizons, pictures."""

import base64
import io
from collections.abc import Sequence
from typing import Any

from ..measure.horizon_record import shown
from ..report import Figure
from ..report.html import escape, page
from ..report.style import style, Theme
from ..report.typeset import typeset
from .compare import compared
from .pictures import pictures
from .pictures.canvas import SIZE
from .pictures.training import over_training
from .record import Checkup


HEAVY = 150_000  # bytes above which a picture goes in as PNG


def checkup_page(found: Sequence[Checkup]) -> str:
    """One page for one network, or several side by side with the last in full."""
    last = found[-1]
    lead = (
        f'<p class="kicker">Checkup · {escape(last.name)}</p>'
        f"<h1>{typeset(_sentence(last.verdict))}</h1>"
        f'<p class="soft small">{escape(last.network)}. Heard: {escape(last.heard)}.'
        f"{f' Taken from the file: {escape(last.taken)}.' if last.taken else ''}"
        f"{' A quick look.' if last.quick else ''}</p>"
    )
    body = _comparison(found) + _horizons(last) + _pictures(last) + _figures(last)
    return page(
        title=f"{last.name} · checkup · remanence", lead=lead, body=body, home="#main"
    )


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:] + "."


def _table(
    head: Sequence[str],
    rows: Sequence[Sequence[str]],
    label: str,
    as_written: Sequence[str] = (),
) -> str:
    """A table; the columns `as_written` are names, the others are sentences."""
    heads = "".join(f'<th scope="col">{escape(name)}</th>' for name in head)
    body = "".join(
        "<tr>"
        + "".join(
            f'<td data-label="{escape(name)}">'
            f"{escape(cell) if name in as_written else typeset(cell)}</td>"
            for name, cell in zip(head, row, strict=True)
        )
        + "</tr>"
        for row in rows
    )
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{escape(label)}">'
        f'<table class="claims"><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table></div>'
    )


def _comparison(found: Sequence[Checkup]) -> str:
    if len(found) < 2:
        return ""
    head, *rows = compared(found)
    run = over_training(found)
    return (
        f"<h2>Side by side</h2>{'' if run is None else _picture(run)}"
        f"{_table(head, rows, 'Comparison', as_written=head[:1])}"
    )


def _horizons(found: Checkup) -> str:
    rows = [
        (
            m.name,
            m.said,
            m.meaning,
            m.remark,
        )
        for m in found.horizon.measures
    ]
    notes = "".join(f"<p>{typeset(note)}</p>" for note in found.horizon.notes)
    return (
        "<h2>How long it remembers</h2>"
        + _table(("Measure", "Value", "What it means", "Remark"), rows, "Horizons")
        + notes
    )


def _pictures(found: Checkup) -> str:
    return f"<h2>Pictures</h2>{''.join(map(_picture, pictures(found)))}"


def _picture(figure: Figure) -> str:
    light, dark = (_still(figure, theme) for theme in ("light", "dark"))
    width = f'width="{96 * SIZE[0]:.0f}"'  # a PNG has more pixels than it shows
    return (
        f'<figure id="figure-{escape(figure.name)}"><h3>{escape(figure.title)}</h3>'
        '<picture class="still"><source media="screen and (prefers-color-scheme: dark)" '
        f'srcset="{dark}"><img src="{light}" alt="{escape(figure.title)}" {width}></picture>'
        f"<figcaption>{typeset(figure.caption)}</figcaption></figure>"
    )


def _still(figure: Figure, theme: Theme) -> str:
    """A picture as a data address: SVG, or PNG where that would be heavy."""
    import matplotlib.pyplot as plt

    with style(theme):
        canvas = figure.draw()
        try:
            kind, content = "svg+xml", _saved(canvas, "svg")
            if len(content) > HEAVY:
                kind, content = "png", _saved(canvas, "png")
        finally:
            plt.close(canvas)
    return f"data:image/{kind};base64,{base64.b64encode(content).decode()}"


def _saved(canvas: Any, format: str) -> bytes:
    buffer = io.BytesIO()
    canvas.savefig(buffer, format=format)
    return buffer.getvalue()


def _figures(found: Checkup) -> str:
    rows = [(name, shown(value)) for name, value in found.figures.items()]
    return (
        "<h2>Every figure</h2><p class='small'>Each can be asked for by "
        "<code>--require</code>, as in <code>window&lt;=128</code>.</p>"
        + _table(("Figure", "Value"), rows, "Figures", as_written=("Figure",))
    )
