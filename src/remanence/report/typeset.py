r"""Text with `$…$` in it, as HTML: equations become MathML, which every browser sets.

latex2mathml escapes nothing, so its elements are written anew: known elements and attributes
only, text escaped. What it cannot read is shown as it was written.
"""

import functools
import html
import re
import xml.etree.ElementTree as ElementTree

from markupsafe import Markup


ATTRIBUTE = re.compile(
    "display|displaystyle|scriptlevel|stretchy|width|mathvariant|fence|form|accent|lspace|rspace|"
    "columnalign|linethickness|movablelimits|minsize|maxsize"
)
LONGEST = 2000  # characters of an equation that are read

SYMBOL = re.compile(r"(?<![\w$])([A-Za-zΑ-Ωα-ω])_([A-Za-z0-9]{1,3})(?!\w)")
"""A letter with a short index, as it is written in a sentence: W_fc, h_2, Φ_105."""
INDEX = re.compile(r"(?<!\w)(log(?=2|10)|[α-ωb])(\d{1,2})(?![A-Za-z0-9_]|\.\d)")
"""A base or an index without a stroke, as in log2, σ1 and b2²."""
POWER = re.compile(r"(?<=[\w)\]>])\^(?:\(([^()]{1,24})\)|([−-]?(?:\d+(?:\.\d+)?|[^\W\d_](?!\w))))")
"""A power as it is written in a sentence: x^p, e^-0.01, s^(1/3)."""
DECIMAL = re.compile(r"(?<![\w.])(\d+(?:\.\d+)?)e([+-]?)0*(\d+)(?!\w)")
"""A number with its power of ten: 1e-3, 1.117e+05."""
MINUS = re.compile(r"(?<![^\s({\[,:;=±|<>/])-(?=\.?\d)|(?<=[\w)>] )-(?= (?:\d|\w\b))")
"""A hyphen that is a minus: before a number, or between two short terms."""
PERCENT = re.compile(r"(?<=\d) ?%")
LOWERED = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")
INFINITE = re.compile(r"(?<![\w-])inf(?!\w)")


@functools.cache
def mathml(tex: str, display: str = "inline") -> Markup:
    """The equation in MathML, or as code where it cannot be read."""
    from latex2mathml.converter import convert_to_element

    try:
        if len(tex) > LONGEST:
            raise ValueError(tex)
        # latex2mathml knows max, min and lim, but not arg.
        known = re.sub(r"\\arg(?![A-Za-z])", r"\\operatorname{arg}", tex)
        root = convert_to_element(known, display=display)
        for element in reversed(list(root.iter())):  # what is inside comes first
            _make_safe(element)
            _set_as_in_print(element)
    except Exception:  # its errors have no common class
        return _code(tex)
    return Markup(ElementTree.tostring(root, encoding="unicode"))


def _code(text: str) -> Markup:
    return Markup(f"<code>{html.escape(text)}</code>")


def _make_safe(element: ElementTree.Element) -> None:
    if not re.fullmatch(r"m[a-z]+", element.tag):
        raise ValueError(element.tag)
    element.attrib = {k: v for k, v in element.attrib.items() if ATTRIBUTE.fullmatch(k)}
    element.text = html.unescape(element.text or "")
    if re.match(r"\\[A-Za-z]", element.text):
        raise ValueError(element.text)  # a command that it does not know


def _set_as_in_print(element: ElementTree.Element) -> None:
    """Bars without space around them, and a prime beside its letter: fonts raise it themselves."""
    if element.text in ("|", "‖"):
        element.attrib |= {"lspace": "0", "rspace": "0"}
    if element.tag in ("msup", "msubsup") and element[-1].text == "′":
        *below, prime = element
        prime.tag = "mo"
        if below[1:]:
            indexed = ElementTree.Element("msub")
            indexed.extend(below)
            below = [indexed]
        element.tag, element[:] = "mrow", [*below, prime]


def typeset(text: str) -> Markup:
    """Escaped text, its `$…$` set as equations, its `` `…` `` as code, the rest as in print.

    >>> str(typeset("W_h of `W_h` by 1e-3 & all_of it"))
    '<i>W</i><sub>h</sub> of <code>W_h</code> by 10<sup>−3</sup> &amp; all_of it'
    >>> str(typeset("p·log2 n, σ^(1−σ2/σ1), b2² and 2π"))
    'p·log₂ n, σ<sup>1−σ₂/σ₁</sup>, b₂² and 2π'
    """
    pieces = re.split(r"(\$[^$\n]+\$|`[^`\n]+`)", str(text))
    return Markup("").join(map(_piece, pieces))


def paragraphs(text: str) -> list[Markup]:
    """Paragraphs, set; one that is an equation and nothing else stands on its own."""
    found = [" ".join(part.split()) for part in text.split("\n\n") if part.strip()]
    alone = [re.fullmatch(r"\$([^$]+)\$", part) for part in found]
    return [
        mathml(a[1], "block") if a else typeset(part) for a, part in zip(alone, found, strict=True)
    ]


def _piece(piece: str) -> Markup:
    """A formula, code, or a sentence with indices, powers, minus and per cent as in print."""
    if len(piece) > 2 and piece[0] == piece[-1] and piece[0] in "$`":
        return (mathml if piece[0] == "$" else _code)(piece[1:-1])
    text = SYMBOL.sub(r"<i>\1</i><sub>\2</sub>", html.escape(piece))
    text = INDEX.sub(lambda m: m[1] + m[2].translate(LOWERED), text)
    text = DECIMAL.sub(_power_of_ten, text)
    text = POWER.sub(lambda m: f"<sup>{_minus(m[1] or m[2])}</sup>", text)
    return Markup(PERCENT.sub("\u00a0%", MINUS.sub("−", INFINITE.sub("∞", text))))


def _power_of_ten(found: re.Match) -> str:
    mantissa = "" if found[1] == "1" else f"{found[1]}\u00a0×\u00a0"
    return f"{mantissa}10<sup>{_minus(found[2].strip('+') + found[3])}</sup>"


def _minus(text: str) -> str:
    return text.replace("-", "−")
