"""A result's page as one file: pictures and numbers are put inside it."""

import base64
import mimetypes
import pathlib
import re

from .stored_result import read_result


BESIDE = re.compile(
    r'(href|src|srcset)="((?:figures/)?[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)+)"(?: download)?'
)


def single_file_page(folder: pathlib.Path) -> str:
    """The page of a stored result, with everything that stands beside it put inside."""
    if read_result(folder) is None:
        raise FileNotFoundError(f"{folder} holds no result")

    def inside(link: re.Match[str]) -> str:
        file = folder / link[2]
        if not file.is_file():
            return link[0]
        kind = mimetypes.guess_type(file.name)[0] or "application/octet-stream"
        content = base64.b64encode(file.read_bytes()).decode()
        save = f' download="{file.name}"' if link[1] == "href" else ""
        return f'{link[1]}="data:{kind};base64,{content}"{save}'

    text = (folder / "index.html").read_text(encoding="utf-8")
    return BESIDE.sub(inside, text)
