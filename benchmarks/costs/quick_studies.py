"""Where the time of `make run` goes: each quick study in a process of its own.

    python benchmarks/costs/quick_studies.py [STUDY ...] [--json] [--out docs/quick-profile.md]

Processor seconds on one thread with an empty compilation cache: importing, tracing
and lowering, compiling, drawing and writing, and the rest, which is the computing.
`make run` runs as many of them side by side as there are cores.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time


STUDIES = (
    "memorization",
    "fading-memory",
    "modular-addition",
    "shared-representations",
    "stable-recurrence",
)
ALONE = {
    "OMP_NUM_THREADS": "1",
    "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false",
    "JAX_ENABLE_COMPILATION_CACHE": "false",
    "MPLBACKEND": "agg",
}


def measured(name: str) -> dict[str, float]:
    """One study, here and now: seconds by what they went to, and compiled programs."""
    import jax.monitoring

    from remanence.subjects import reproduce, study

    spent = {"tracing": 0.0, "compiling": 0.0}
    programs = 0

    def heard(event: str, seconds: float, **_: object) -> None:
        nonlocal programs
        if event.endswith("backend_compile_duration"):
            spent["compiling"] += seconds
            programs += 1
        elif event.startswith("/jax/core/compile"):
            spent["tracing"] += seconds

    jax.monitoring.register_event_duration_secs_listener(heard)
    study(name)
    imported = time.process_time()
    drawing = imported

    def told(sentence: str) -> None:
        nonlocal drawing
        if sentence.startswith("drawing"):
            drawing = time.process_time()

    with tempfile.TemporaryDirectory() as folder:
        reproduce(name, "quick", out=folder, tell=told)
    end = time.process_time()
    between = drawing - imported
    return {
        "study": name,
        "importing": imported,
        **spent,
        "computing": max(0.0, between - sum(spent.values())),
        "drawing": end - drawing,
        "total": end,
        "programs": programs,
    }


def table(rows: list[dict]) -> str:
    """The rows as Markdown, in seconds and in shares of the whole."""
    kinds = ("importing", "tracing", "compiling", "computing", "drawing", "total")
    lines = [f"| study | {' | '.join(kinds)} | programs |", "|---" * (len(kinds) + 2) + "|"]
    for row in rows:
        seconds = " | ".join(f"{row[kind]:.0f} s" for kind in kinds)
        lines.append(f"| {row['study']} | {seconds} | {row['programs']} |")
    whole = sum(row["total"] for row in rows)
    shares = " | ".join(f"{sum(row[kind] for row in rows) / whole:.0%}" for kind in kinds)
    programs = sum(row["programs"] for row in rows)
    return "\n".join([*lines, f"| share | {shares} | {programs} |"])


PAGE = """# Where the time of `make run` goes

Processor seconds of each quick study on one thread, with an empty compilation cache, as
`python benchmarks/costs/quick_studies.py` measured them, up to two at a time (only the shares mean
anything elsewhere; compiling is counted on the wall, so a busy machine inflates it).
`make run` runs as many studies side by side as there are cores, so that its time is about
the sum over the number of cores. The second `make run` of the same code reads its results
back; a run of other code finds its programs in the compilation cache.

{table}
"""


def main() -> None:
    """Measure the studies one after another; print, and keep if asked."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("studies", nargs="*", default=STUDIES)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--out", type=pathlib.Path)
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.here:
        sys.stdout.write(json.dumps(measured(asked.studies[0])))
        return
    rows = []
    for name in asked.studies:
        done = subprocess.run(
            [sys.executable, __file__, name, "--here"],
            env=os.environ | ALONE,
            stdout=subprocess.PIPE,
            check=True,
        )
        rows.append(json.loads(done.stdout))
        print(f"{name}: {rows[-1]['total']:.0f} s", file=sys.stderr)
    print(json.dumps(rows, indent=1) if asked.json else table(rows))
    if asked.out:
        asked.out.write_text(PAGE.format(table=table(rows)))


if __name__ == "__main__":
    main()
