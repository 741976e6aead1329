"""The table of planted faults fits the code: each can be planted, and its test is there."""

import ast
import pathlib
import tomllib

import pytest


HERE = pathlib.Path(__file__).parent
ROOT = HERE.parents[1]
ROWS = tomllib.loads((HERE / "mutants.toml").read_text())


@pytest.mark.parametrize("name", ROWS)
def test_a_fault_can_be_planted_and_its_test_is_there(name):
    row = ROWS[name]
    source = (ROOT / row["file"]).read_text()
    assert source.count(row["old"]) == 1, f"{row['file']} does not hold the text once"
    ast.parse(source.replace(row["old"], row["new"]))
    assert row["old"] != row["new"]
    for test in row["test"].split():
        path, *function = test.split("[")[0].split("::")
        tree = ast.parse((ROOT / path).read_text())
        there = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
        assert {*function} <= there, f"{path} has no such test"


def test_there_are_few():
    assert len(ROWS) <= 40, "the weaker of two that guard one promise goes"
