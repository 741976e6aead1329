"""Every rule of every study: made-up evidence for and against must part the verdicts."""

import importlib

import pytest
import small_study
from contrary_cases import __name__ as CASES

from remanence.report import judge
from remanence.report.claims import judge_again
from remanence.report.pages import main_finding
from remanence.subjects import STUDIES, study


def _cases():
    """Claim, evidence for it, evidence against it: one row a claim of every study."""
    for name, module in STUDIES.items():
        claims = {claim.id: claim for claim in study(name).claims}
        rows = importlib.import_module(f"{CASES}.{module}").CASES
        assert set(rows) == set(claims), f"{name}: one row a claim"
        for id, (supporting, contrary) in rows.items():
            yield pytest.param(claims[id], supporting, contrary, id=f"{name}-{id}")
    for claim in small_study.CLAIMS:
        supporting, contrary = small_study.CASES[claim.id]
        yield pytest.param(claim, supporting, contrary, id=f"small-{claim.id}")


@pytest.mark.parametrize(("claim", "supporting", "contrary"), list(_cases()))
def test_contrary_evidence_changes_the_verdict(claim, supporting, contrary):
    for evidence in (supporting, contrary):
        row = judge(claim, evidence, document="", command="", profile="full")
        assert row.verdict == claim.rule(evidence)  # its stored form says the same
        assert row.measured.strip()
        assert judge_again(row, [claim]) == (row, "")
    assert claim.rule(supporting) != claim.rule(contrary)


@pytest.mark.parametrize("name", STUDIES)
def test_the_headline_of_a_study_has_its_numbers(name):
    chosen = study(name)
    assert chosen.headline is not None
    wanted = f"{name}-{chosen.headline.claim}"
    (case,) = [case for case in _cases() if case.id == wanted]
    claim, supporting, _ = case.values
    row = judge(claim, supporting, document="", command="", profile="full")
    finding = main_finding(chosen, [row])
    assert finding is not None and finding.number and finding.sentence


@pytest.mark.parametrize("name", STUDIES)
def test_each_study_is_well_formed(name):
    chosen = study(name)
    assert chosen.name == name
    assert {"quick", "full"} <= set(chosen.profiles) and {"quick", "full"} <= set(chosen.cost)
    ids = [claim.id for claim in chosen.claims]
    assert len(ids) == len(set(ids))
    assert all(chosen.document in id for id in ids)
    for claim in chosen.claims:
        assert claim.says.strip() and claim.published.strip()
        assert claim.rule_in_words, f"the rule of {claim.id} says nothing"
    assert chosen.reference.strip()
