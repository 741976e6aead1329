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

POWER = re.compile(
    r"(?<=[\w)\]>])\^(?:\(([^()]{1,24})\)|([−-]?(?:\d+(?:\.\d+)?|[^\W\d_](?!\w))))"
)
"""A power as it is written in a sentence: x^p, e^-0.01, s^(1/3)."""
DECIMAL = re.compile(r"(?<![\w.])(\d+(?:\.\d+)?)e([+-]?)0*(\d+)(?!\w)")
"""A number with its power of ten: 1e-3, 1.117e+05."""
MINUS = re.compile(r"(?<![^\s({\[,:;=±|<>/])-(?=\.?\d)|(?<=[\w)>] )-(?= (?:\d|\w\b))")
"""A hyphen that is a minus: before a number, or between two short terms."""
PERCENT = re.compile(r"(?<=\d) ?%")


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
    """Escaped text, its `$…$` set as equations, its `` `…` `` as code, the rest as in print.

    >>> typeset("W_h of `W_h` & all_of it")
    '<i>W</i><sub>h</sub> of <code>W_h</code> &amp; all_of it'
    >>> typeset("x^p - 1 by 1e-3, at -2.5 well-known")
    'x<sup>p</sup> − 1 by 10<sup>−3</sup>, at −2.5 well-known'
    """
    pieces = re.split(r"(\$[^$\n]+\$|`[^`\n]+`)", text)
    return "".join(
        equation(piece[1:-1])
        if piece.startswith("$") and piece.endswith("$") and len(piece) > 2
        else f"<code>{html.escape(piece[1:-1])}</code>"
        if piece.startswith("`") and piece.endswith("`") and len(piece) > 2
        else _sentence(piece)
        for piece in pieces
    )


def _sentence(text: str) -> str:
    """Escaped text with indices, powers, minus signs and per cent as in print."""
    text = SYMBOL.sub(r"<i>\1</i><sub>\2</sub>", html.escape(text))
    text = DECIMAL.sub(_of_ten, text)
    text = POWER.sub(lambda m: f"<sup>{_minus(m[1] or m[2])}</sup>", text)
    return PERCENT.sub("\u00a0%", MINUS.sub("−", text))


def _of_ten(found: re.Match) -> str:
    mantissa = "" if found[1] == "1" else f"{found[1]}\u00a0×\u00a0"
    return f"{mantissa}10<sup>{_minus(found[2].strip('+') + found[3])}</sup>"


def _minus(text: str) -> str:
    return text.replace("-", "−")
