"""Tables and the last screen of `reproduce`: at any width every number is whole."""

import io
import re
import types

import pytest
from rich.console import Console

from remanence.cli.table import claims_table, summary_lines


NUMBERS = ["1.224e+06", "0.0003141592653", "-12345678.9", "1.000000001"]
CLAIM = types.SimpleNamespace(
    id="000.19-permuted",
    statement=f"The largest of them is {NUMBERS[0]}, and the least {NUMBERS[1]} of $W_h$.",
    published=f"{NUMBERS[2]} units",
    measured=f"{NUMBERS[3]} of them",
    verdict="refuted",
    label="refuted (quick)",
)


def printed(thing, width):
    stream = io.StringIO()
    Console(file=stream, width=width).print(thing)
    return stream.getvalue()


@pytest.mark.parametrize("width", [60, 80, 99, 110, 200])
def test_a_table_of_claims_holds_every_number_whole(width):
    text = printed(claims_table("claims", [CLAIM], width), width)
    assert all(number in text for number in NUMBERS)
    assert max(map(len, text.splitlines())) <= width
    assert ("published: " in text) == (width < 100), "below 100 columns it stacks"


@pytest.mark.parametrize("width", [60, 80, 110])
@pytest.mark.parametrize("studies", [["one"], ["one", "two"]])
def test_the_last_screen_cuts_no_number(width, studies):
    rows = {name: [CLAIM] for name in studies}
    lines = [line.plain for line in summary_lines(rows, dict.fromkeys(studies, 12.3), width)]
    tallies = lines[: -len(studies)]
    assert len(tallies) == (1 if len(studies) == 1 else 3) + (width < 100)
    assert all(word in tallies[-1] for word in ("holds", "differs", "refuted", "open"))
    assert lines[0].split()[:3] == ["one", "12", "s"]
    assert max(map(len, lines)) <= width
    for line in lines[-len(studies) :]:
        said = CLAIM.measured if len(studies) == 1 else CLAIM.statement.replace("$", "")
        whole = set(re.findall(r"\S+", said)) | {"…", "✗", CLAIM.id}
        assert set(line.split()) <= whole


def test_six_studies_end_in_one_screen_of_eighty_columns():
    rows = {f"study-{n}": [CLAIM] * 2 for n in range(6)}
    lines = summary_lines(rows, dict.fromkeys(rows, 569.0), 80)
    assert len(lines) < 24 and max(len(line.plain) for line in lines) <= 80
