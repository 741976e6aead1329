"""The command on studies that take no time, in this process or in its own."""

import shutil
import subprocess
import sys

import pytest
import small_study
from command import ended, environment, SMALL

from remanence.subjects import STUDIES


@pytest.fixture
def remanence(capfd, monkeypatch, tmp_path):
    """The command, run in this process on the small studies."""
    monkeypatch.setattr("remanence._prepare_jax.prepare_jax", lambda **_: None)
    modules = [f"remanence.subjects.{module}.study" for module in STUDIES.values()]
    before = {name: sys.modules.get(name) for name in modules}
    monkeypatch.chdir(tmp_path)

    def run(*words, **changes):
        small_study.install(**changes)
        return ended(capfd, *words)

    yield run
    for name, module in before.items():
        sys.modules.pop(name, None)
        if module is not None:
            sys.modules[name] = module


@pytest.fixture(scope="session")
def everything(tmp_path_factory):
    """One run of all studies in a process of its own; the second has a bug."""
    out = tmp_path_factory.mktemp("all") / "results"
    run = subprocess.run(
        [sys.executable, str(SMALL), "reproduce", "all", "--out", str(out), "--json"],
        capture_output=True,
        text=True,
        check=False,
        env=environment(fading_memory={"fail": "by zero"}),
    )
    return out, run


@pytest.fixture
def results(everything, tmp_path):
    """A copy of those results, to be harmed."""
    return shutil.copytree(everything[0], tmp_path / "results")
