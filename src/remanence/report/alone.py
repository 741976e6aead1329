"""A page that is sent or kept alone: script, pictures and numbers are inside it."""

import base64
import mimetypes
import pathlib
import re

from .html import plotly_script
from .store import stored


SHARED = '<script src="../plotly.min.js"></script>'
BESIDE = re.compile(
    r'href="((?:figures/)?[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)+)"(?: download)?'
)


def page_alone(folder: pathlib.Path) -> str:
    """The page of a stored result, with everything that stands beside it put inside."""
    if stored(folder) is None:
        raise FileNotFoundError(f"{folder} holds no result")
    text = (folder / "index.html").read_text(encoding="utf-8")

    def inside(link: re.Match[str]) -> str:
        file = folder / link[1]
        if not file.is_file():
            return link[0]
        kind = mimetypes.guess_type(file.name)[0] or "application/octet-stream"
        content = base64.b64encode(file.read_bytes()).decode()
        return f'href="data:{kind};base64,{content}" download="{file.name}"'

    # Inside a page, the end of a script is found before the script is read.
    script = plotly_script().read_text(encoding="utf-8").replace("</", "<\\/")
    return BESIDE.sub(inside, text).replace(SHARED, f"<script>{script}</script>")
