r"""The little TeX of our labels without TeX: `$\gamma^{1/N}$` as γ<sup>1/N</sup>."""

import html
import re


GREEK = dict(
    zip(
        [
            "alpha",
            "beta",
            "gamma",
            "delta",
            "epsilon",
            "zeta",
            "eta",
            "theta",
            "iota",
            "kappa",
            "lambda",
            "mu",
            "nu",
            "xi",
            "pi",
            "rho",
            "sigma",
            "tau",
            "phi",
            "chi",
            "psi",
            "omega",
            "Gamma",
            "Delta",
            "Theta",
            "Lambda",
            "Xi",
            "Pi",
            "Sigma",
            "Phi",
            "Psi",
            "Omega",
        ],
        "αβγδεζηθικλμνξπρστφχψωΓΔΘΛΞΠΣΦΨΩ",
        strict=True,
    )
)
SIGNS = GREEK | {
    "varphi": "φ", "varepsilon": "ε", "times": "×", "cdot": "·", "leq": "≤", "le": "≤",
    "geq": "≥", "ge": "≥", "neq": "≠", "ne": "≠", "approx": "≈", "infty": "∞", "to": "→",
    "rightarrow": "→", "pm": "±", "sum": "∑", "prod": "∏", "partial": "∂", "nabla": "∇",
    "in": "∈", "propto": "∝", "sim": "∼", "ell": "ℓ", "log": "log", "tanh": "tanh",
    "exp": "exp", "max": "max", "min": "min", "cos": "cos", "sin": "sin", "ln": "ln",
    "star": "*", "ast": "*", "prime": "′", "langle": "⟨", "rangle": "⟩", "dots": "…",
    "ldots": "…", "quad": " ", "odot": "⊙", "otimes": "⊗", "oplus": "⊕", "det": "det",
    "circ": "∘", "Vert": "‖", "|": "‖", "left": "", "right": "", ",": " ", ";": " ",
    " ": " ", "!": "", "%": "%", "_": "_", "#": "#", "&": "&", "{": "{", "}": "}",
}  # fmt: skip


def _formula(tex: str) -> str:
    tex = re.sub(
        r"\\(?:mathrm|mathbf|mathit|text|mathcal|operatorname)\s*\{([^{}]*)\}",
        r"\1",
        tex,
    )
    tex = re.sub(r"\\(?:d|t)?frac\s*\{([^{}]*)\}\{([^{}]*)\}", r"\1/\2", tex)
    tex = re.sub(r"\\sqrt\s*\{([^{}]*)\}", r"√(\1)", tex)
    tex = re.sub(
        r"\\([A-Za-z]+|[^A-Za-z])", lambda m: SIGNS.get(m[1], m[0]), tex
    ).replace("-", "−")
    text = html.escape(tex, quote=False)
    for mark, tag in (("^", "sup"), ("_", "sub")):
        place = re.escape(mark)
        text = re.sub(place + r"\{([^{}]*)\}", rf"<{tag}>\1</{tag}>", text)
        text = re.sub(place + r"([^\s{}])", rf"<{tag}>\1</{tag}>", text)
    return text.replace("{", "").replace("}", "")


def untex(text: str) -> str:
    """Escaped text whose `$…$` are set with letters, <sup> and <sub>."""
    pieces = re.split(r"(?<!\\)(\$[^$]*\$)", text)
    return "".join(
        _formula(piece[1:-1])
        if len(piece) > 1 and piece[0] == piece[-1] == "$"
        else html.escape(piece, quote=False)
        for piece in pieces
    )
