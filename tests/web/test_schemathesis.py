"""schemathesis asks every question of the OpenAPI document and holds the answers to it.

The values, also the wrong ones, and the checks (status, content, headers) are not ours;
that a refusal says why, without a traceback, is asked beside them.
"""

import pathlib

import pytest
from fuzzed import Counts
from hypothesis import given, HealthCheck, settings


schemathesis = pytest.importorskip("schemathesis")
ACCEPTED = [schemathesis.checks.positive_data_acceptance]
PATIENCE = 60
"""Seconds for one answer."""
EXAMPLES = 15
MODES = schemathesis.GenerationMode
PUT_OFF = {429, 503}
"""Answers that only say that the machine is busy."""
SENSELESS = {"POST /api/windows/file", "POST /api/checkup"}
"""What fits the document may be no network's file there, and is refused."""
NEVER_WRONG = {"GET /api/jobs", "GET /api/studies", "GET /api/studies/{study}/runs"}
"""Nothing is asked there, or any string may be."""


@pytest.fixture(scope="module")
def counts():
    return Counts("questions by schemathesis")


def operations():
    from remanence.web.app import lab as application

    document = application(pathlib.Path("nowhere")).app.openapi()
    # A stream ends with its job, not with an answer; the browser's tests follow one.
    chosen = schemathesis.openapi.from_dict(document).exclude(path_regex="/events$")
    found = [one.ok() for one in chosen.get_all_operations()]
    return [(one, MODES.POSITIVE) for one in found] + [
        (one, MODES.NEGATIVE) for one in found if one.label not in NEVER_WRONG
    ]


@pytest.mark.parametrize(
    ("asked", "mode"), operations(), ids=lambda o: getattr(o, "label", None) or o.value
)
def test_every_answer_is_as_described(lab, counts, asked, mode):
    @settings(max_examples=EXAMPLES, database=None, suppress_health_check=list(HealthCheck))
    @given(case=asked.as_strategy(generation_mode=mode))
    def ask(case):
        answer = case.call(base_url=lab.url, timeout=PATIENCE)
        counts.add(answer.status_code)
        if answer.status_code >= 400:
            assert "detail" in answer.json() and "Traceback" not in answer.text
        refused = answer.status_code == 400 and asked.label in SENSELESS
        if answer.status_code not in PUT_OFF:
            case.validate_response(answer, excluded_checks=ACCEPTED if refused else [])

    ask()


def test_the_lab_still_answers_and_both_outcomes_were_seen(lab, counts, capsys):
    seen = counts.done(capsys)
    assert lab.ask("GET", "/api/studies")[0] == 200
    assert seen[200] > 20 and seen[422] > 50 and sum(seen.values()) > 150
