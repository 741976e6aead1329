"""Trainings in processes of their own, started from anywhere."""

import pathlib
import subprocess
import sys


SCRIPT = """
import numpy as np
from remanence.subjects.shared_representations.gated_linear import GatedLinear
from remanence.subjects.shared_representations.safe_descent import safe_descent
from remanence.subjects.shared_representations.pair_training import PairRun
from remanence.subjects.shared_representations.training_processes import side_by_side

print("begun")
sizes = {"languages": 3, "words": 2, "units": 2}
runs = [
    PairRun(GatedLinear.published(seed=seed, scale=0.3, **sizes), np.ones((3, 3)))
    for seed in range(3)
]
found = dict(side_by_side(safe_descent, runs, workers=2, mask="full", stop=1e-2))
print(sorted(found), __file__)
"""


def test_a_script_needs_no_guard_and_is_not_run_again(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    run = subprocess.run(
        [sys.executable, "-W", "ignore", str(script)],
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert run.returncode == 0, run.stderr[-2000:]
    first, second = run.stdout.splitlines()
    assert first == "begun"
    assert second == f"[0, 1, 2] {pathlib.Path(script)}"
