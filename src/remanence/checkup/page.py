"""The checkup as one HTML page that opens from disk: verdict, horizons, pictures."""

import base64
import io
from collections.abc import Sequence
from typing import Any

from ..report import Figure
from ..report.html import escape, page
from ..report.style import style, Theme
from ..report.typeset import typeset
from .compare import comparison_table, WIDE
from .headline import headline
from .pictures import memory_pictures, network_pictures
from .pictures.canvas import SIZE
from .pictures.training import over_training
from .record import Checkup


HEAVY = 150_000  # bytes above which a picture goes in as PNG
TITLE = " · checkup · remanence"
"""How the title of every such page ends."""


def checkup_page(found: Sequence[Checkup]) -> str:
    """One page for one network, or for several side by side with the last one's figures."""
    last = found[-1]
    first, *rest = headline(last)
    lead = (
        f'<p class="kicker">Checkup · {escape(last.name)}</p>'
        f"<h1>{escape(_sentence(first))}</h1>"
        f"<p>{' '.join(typeset(_sentence(part)) for part in rest)}</p>"
        f'<p class="soft small">{escape(last.network)}.'
        f"{f' Taken from the file: {escape(last.weights)}.' if last.weights else ''}"
        f"{' A quick look.' if last.quick else ''}</p>"
    )
    body = _comparison(found) + _figures(last) + _cost(last) + _pictures(found)
    return page(title=f"{last.name}{TITLE}", lead=lead, body=body, home="#main")


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
    head, *rows = comparison_table(found)
    run = over_training(found)
    return (
        f"<h2>Side by side</h2>{'' if run is None else _picture(run)}"
        f"{_table(head, rows, 'Comparison', as_written=head[:1])}"
    )


def _figures(found: Checkup) -> str:
    rows = [
        (row["title"], row["text"], row["meaning"], row["remark"], row["name"])
        for row in found.table
    ]
    head = ("Figure", "Value", "What it means", "Remark", "Name")
    notes = "".join(f"<p>{typeset(note)}</p>" for note in found.notes)
    return (
        "<h2>How long it remembers</h2>"
        + notes
        + _table(head, rows, "Figures", as_written=("Remark", "Name"))
        + "<p class='small'>Each can be required by its name: <code>--require "
        "'window&lt;=128'</code>.</p>"
    )


def _cost(found: Checkup) -> str:
    """What windows cost in nats, where there is something to predict."""
    cost = found.horizon.replay.cost
    if cost is None:
        return ""
    columns = zip(cost.windows, cost.loss, cost.excess, cost.accuracy, strict=True)
    rows = [(f"{k:,}", f"{a:.4g}", f"{b:+.2g}", f"{c:.1%}") for k, a, b, c in columns]
    rows.append(("all", f"{cost.full_loss:.4g}", "0", f"{cost.full_accuracy:.1%}"))
    head = ("Window", "Nats a target", "More than with all inputs", "Accuracy")
    return "<h2>What a window costs</h2>" + _table(head, rows, "Cost of windows")


def _pictures(found: Sequence[Checkup]) -> str:
    """How memory fades, together; states and weights of each network if they are few."""
    parts = ["<h2>Pictures</h2>", *map(_picture, memory_pictures(found))]
    shown = found if len(found) <= WIDE else found[-1:]
    for number, each in enumerate(shown):
        if len(found) > 1:
            parts.append(f"<h2>States and weights of {escape(each.name)}</h2>")
        again = f"-{number}" if number else ""  # an address is unique in a page
        parts += [_picture(figure, again) for figure in network_pictures(each)]
    return "".join(parts)


def _picture(figure: Figure, suffix: str = "") -> str:
    light, dark = (_still(figure, theme) for theme in ("light", "dark"))
    width = f'width="{96 * SIZE[0]:.0f}"'  # a PNG has more pixels than it shows
    return (
        f'<figure id="figure-{escape(figure.name + suffix)}"><h3>{escape(figure.title)}</h3>'
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
