"""How the command is started, in this process or in one of its own."""

import json
import os
import pathlib
from typing import NamedTuple

import pytest

from remanence.cli import main


SMALL = pathlib.Path(__file__).parents[1] / "small_study.py"


class Ended(NamedTuple):
    """The names are those of `subprocess.CompletedProcess`."""

    returncode: int
    stdout: str
    stderr: str


def ended(capture, *words):
    """What came of these words in this process; `capture` is `capsys` or `capfd`."""
    capture.readouterr()
    with pytest.raises(SystemExit) as leaving:
        main([str(word) for word in words])
    return Ended(int(leaving.value.code or 0), *capture.readouterr())


def environment(**changes):
    kept = {k: v for k, v in os.environ.items() if not k.startswith("JAX_")}
    return kept | {"SMALL_STUDY": json.dumps(changes), "PYTHONHASHSEED": "0"}
