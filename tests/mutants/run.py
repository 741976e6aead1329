"""Each row of `mutants.toml` breaks one promise; the test that it names must then fail.

    python tests/mutants/run.py [NAME ...]

A row is a file, a text in it (`old`, which occurs once) and what it becomes (`new`). It
is changed in a copy of the repository, and the named tests are run there. A test that
still passes, a text that is not there once, and a test that cannot even be collected
are failures.
"""

import concurrent.futures
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import tomllib


HERE = pathlib.Path(__file__).parent
ROOT = HERE.parents[1]
LEFT_OUT = (".git", ".venv*", "results", "site", "dist", "__pycache__", ".cache", ".*_cache")
PATIENCE = 600
SOME_TEST_FAILED = 1  # pytest's own code: 2 is a collection error, 5 is no test at all


def verdict(row: dict[str, str]) -> tuple[bool, str]:
    """Whether the named tests notice the change, and a word about it."""
    tests = row["test"].split()
    with tempfile.TemporaryDirectory() as folder:
        copy = pathlib.Path(folder) / "copy"
        shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns(*LEFT_OUT))
        file = copy / row["file"]
        source = file.read_text() if file.is_file() else ""
        if source.count(row["old"]) != 1:
            return (False, f"{row['file']} holds the text {source.count(row['old'])} times")
        file.write_text(source.replace(row["old"], row["new"]))
        # Before an editable install, so that the copy is what is imported.
        env = os.environ | {
            "PYTHONPATH": str(copy / "src"),
            "OMP_NUM_THREADS": "1",
            "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false --xla_backend_optimization_level=0",
        }
        command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider"]
        try:
            run = subprocess.run(
                [*command, *tests],
                cwd=copy,
                env=env,
                capture_output=True,
                text=True,
                timeout=PATIENCE,
            )
        except subprocess.TimeoutExpired:
            return False, f"hung in {' '.join(tests)}"
    last = (run.stdout.strip().splitlines() or [run.stderr.strip()[-200:]])[-1]
    if run.returncode == SOME_TEST_FAILED:
        return True, f"noticed by {' '.join(tests)}"
    if run.returncode == 0:
        return False, f"survives {' '.join(tests)}"
    return False, f"{' '.join(tests)} did not run ({last})"


def main(names: list[str]) -> int:
    """Try every row, or the named ones; 1 if any promise can be broken unnoticed."""
    table = tomllib.loads((HERE / "mutants.toml").read_text())
    rows = {n: row for n, row in table.items() if not names or n in names}
    if not rows:
        sys.stderr.write(f"no mutant is called {' or '.join(names)}\n")
        return 2
    unnoticed = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for name, (noticed, word) in zip(rows, pool.map(verdict, rows.values()), strict=True):
            unnoticed += not noticed
            sys.stdout.write(f"{'ok' if noticed else 'NO':3} {name}: {word}\n")
            sys.stdout.flush()
    sys.stdout.write(f"{len(rows) - unnoticed} of {len(rows)} mutants noticed\n")
    return 1 if unnoticed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
