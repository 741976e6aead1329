r"""Text with `$…$` in it, as HTML: equations become small inline SVG paths.

matplotlib's mathtext knows the TeX that our sentences use; the glyphs are drawn
in the colour of the text around them, so they follow the theme and need no font
and no network. What mathtext cannot read is shown as it was written.
"""

import functools
import html
import re


SYMBOL = re.compile(r"(?<![\w$])([A-Za-zΑ-Ωα-ω])_([A-Za-z0-9]{1,3})(?!\w)")
"""A letter with a short index, as it is written in a sentence: W_fc, h_2, Φ_105."""


def _number(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")


@functools.cache
def equation(tex: str) -> str:
    """The equation as an inline SVG, one em high where the text is."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.mathtext import MathTextParser
    from matplotlib.textpath import TextPath

    size = 100.0
    font = FontProperties(size=size, math_fontfamily="cm")
    try:
        with _mathtext():
            box = MathTextParser("path").parse(f"${tex}$", dpi=72, prop=font)
            path = TextPath((0, 0), f"${tex}$", prop=font)
    except ValueError:
        return f"<code>{html.escape(tex)}</code>"
    letters = {1: "M", 2: "L", 3: "Q", 4: "C", 79: "Z"}
    strokes = []
    for vertices, code in path.iter_segments(curves=True, simplify=False):
        letter = letters[int(code)]
        points = "" if letter == "Z" else " ".join(_number(v) for v in vertices)
        strokes.append(letter + points)
    width, height, depth = box.width, box.height, box.depth
    label = html.escape(tex)
    return (
        f'<svg class="tex" role="img" aria-label="{label}" '
        f'style="width:{width / size:.3f}em;height:{(height + depth) / size:.3f}em;'
        f'vertical-align:{-depth / size:.3f}em" '
        f'viewBox="0 {-height:.1f} {width:.1f} {height + depth:.1f}">'
        f'<path transform="scale(1,-1)" d="{"".join(strokes)}"/></svg>'
    )


def _mathtext():
    import matplotlib

    return matplotlib.rc_context({"text.usetex": False, "mathtext.fontset": "cm"})


def typeset(text: str) -> str:
    """Escaped text, its `$…$` set as equations, its `` `…` `` as code, h_2 with an index.

    >>> typeset("W_h of `W_h` & all_of it")
    '<i>W</i><sub>h</sub> of <code>W_h</code> &amp; all_of it'
    """
    pieces = re.split(r"(\$[^$\n]+\$|`[^`\n]+`)", text)
    return "".join(
        equation(piece[1:-1])
        if piece.startswith("$") and piece.endswith("$") and len(piece) > 2
        else f"<code>{html.escape(piece[1:-1])}</code>"
        if piece.startswith("`") and piece.endswith("`") and len(piece) > 2
        else SYMBOL.sub(r"<i>\1</i><sub>\2</sub>", html.escape(piece))
        for piece in pieces
    )
