"""Each patch beside this file breaks one promise; the test it names must then fail.

    python tests/mutants/run.py [NAME ...]

A patch opens with `# kills: tests/.../test_x.py[::test_name]`. It is applied to a
copy of the repository, and the named test is run there. A test that still passes, a
patch that no longer applies, and a test that cannot even be collected are failures.
"""

import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile


HERE = pathlib.Path(__file__).parent
ROOT = HERE.parents[1]
LEFT_OUT = (".git", ".venv*", "results", "site", "dist", "__pycache__", ".*_cache")
PATIENCE = 600
SOME_TEST_FAILED = 1  # pytest's own code: 2 is a collection error, 5 is no test at all


def killed_tests(patch: pathlib.Path) -> list[str]:
    """The tests that a patch says it kills."""
    first = patch.read_text().splitlines()[0]
    found = re.fullmatch(r"# kills: (tests/\S+(?: tests/\S+)*)", first)
    if not found:
        raise ValueError(f"{patch.name} does not open with '# kills: tests/...'")
    return found[1].split()


def verdict(patch: pathlib.Path) -> tuple[bool, str]:
    """Whether the named test notices the patch, and a word about it."""
    tests = killed_tests(patch)
    with tempfile.TemporaryDirectory() as folder:
        copy = pathlib.Path(folder) / "copy"
        shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns(*LEFT_OUT))
        applied = subprocess.run(
            ["git", "apply", "-p1", str(patch)],
            cwd=copy,
            capture_output=True,
            text=True,
        )
        if applied.returncode:
            return False, f"does not apply: {applied.stderr.strip()}"
        # Before an editable install, so that the copy is what is imported.
        env = os.environ | {
            "PYTHONPATH": str(copy / "src"),
            "OMP_NUM_THREADS": "1",
            "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false "
            "--xla_backend_optimization_level=0",
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
    """Try every patch, or the named ones; 1 if any promise can be broken unnoticed."""
    patches = sorted(HERE.glob("*.patch"))
    if names:
        patches = [patch for patch in patches if patch.stem in names]
    if not patches:
        sys.stderr.write(f"no patch is called {' or '.join(names)}\n")
        return 2
    unnoticed = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for patch, (noticed, word) in zip(
            patches, pool.map(verdict, patches), strict=True
        ):
            unnoticed += not noticed
            sys.stdout.write(f"{'ok' if noticed else 'NO':3} {patch.stem}: {word}\n")
            sys.stdout.flush()
    sys.stdout.write(f"{len(patches) - unnoticed} of {len(patches)} mutants noticed\n")
    return 1 if unnoticed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
