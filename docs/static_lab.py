"""Two tabs of the lab as pages without a server, for the home page."""

import pathlib
import re
import shutil
import urllib.parse

from remanence.web import pages
from remanence.web.answers import frontier


EXAMPLE = re.compile(r'href="#memorize\?([^"]+)"')


def on_post_build(config, **_) -> None:
    """Called by mkdocs once the pages are written."""
    folder = pathlib.Path(config["site_dir"]) / "lab"
    shutil.copytree(pathlib.Path(pages.__file__).parent / "static", folder, dirs_exist_ok=True)
    asked = EXAMPLE.findall(pages.lab_page(["memorize"]).replace("&amp;", "&"))
    texts = {text for words in asked for text in urllib.parse.parse_qs(words)["text"]}
    answers = {text: frontier(text) for text in sorted(texts)}
    for tab in ("memorize", "dynamics"):
        page = pages.lab_page([tab], files="", answers=answers)
        (folder / f"{tab}.html").write_text(page, encoding="utf-8")
