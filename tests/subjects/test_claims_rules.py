"""Every rule of every study: made-up evidence for and against must part the verdicts."""

import importlib.util

import pytest
import small_study

from remanence.report.claims import VERDICTS
from remanence.subjects import STUDIES, study


def _statements():
    for name, module in STUDIES.items():
        if importlib.util.find_spec(f"remanence.subjects.{module}") is None:
            continue
        for statement in study(name).statements:
            yield pytest.param(statement, id=f"{name}-{statement.id}")
    for statement in small_study.STATEMENTS:
        yield pytest.param(statement, id=f"small-{statement.id}")


@pytest.mark.parametrize("statement", list(_statements()))
def test_contrary_evidence_changes_the_verdict(statement):
    for evidence in (statement.example, statement.contrary):
        assert statement.rule(evidence) in VERDICTS
        assert statement.measured(evidence).strip()
    assert statement.rule(statement.example) != statement.rule(statement.contrary)


@pytest.mark.parametrize("name", STUDIES)
def test_each_study_is_well_formed(name):
    if importlib.util.find_spec(f"remanence.subjects.{STUDIES[name]}") is None:
        pytest.skip(f"{name} is not written yet")
    chosen = study(name)
    assert chosen.name == name
    assert {"quick", "full"} <= set(chosen.profiles) and {"quick", "full"} <= set(
        chosen.cost
    )
    ids = [statement.id for statement in chosen.statements]
    assert len(ids) == len(set(ids))
    assert all(chosen.document in id for id in ids)
    assert all(s.statement.strip() and s.published.strip() for s in chosen.statements)
    assert chosen.reference.strip()
