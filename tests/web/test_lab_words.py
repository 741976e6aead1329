"""The lab has a word for every figure of a checkup."""

import pathlib
import re

import remanence.web
from remanence.checkup.gate import FIGURES


def test_every_figure_of_a_checkup_has_its_word():
    script = pathlib.Path(remanence.web.__file__).parent / "static" / "checkup.js"
    named = re.findall(r'\["(\w+)", "[^"]+", "[^"]*"\]', script.read_text())
    assert sorted(named) == sorted(FIGURES)
