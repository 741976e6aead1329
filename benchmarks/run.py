"""`make bench`: every script with a peer beside this one, in one run on one machine, as one table.

Each script interleaves its contestants, compares answers before times, and with
`--json` prints rows `task, size, ours, peer, ratio, spread, target, met` (seconds of
this run; only ratios mean anything elsewhere). This runner measures the machine's own
limits first, runs the scripts one after the other, and writes `docs/benchmarks.json`
and `docs/benchmarks.md`.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import time

import numpy as np


HERE = pathlib.Path(__file__).parent
DOCS = HERE.parent / "docs"
PEERS = {
    "gated_spectrum": "frames",
    "minimal_dimension": "one linear program a unit (SciPy)",
    "modular_addition": "torch",
    "sweeps": "a loop over compiled lanes",
    "training_step": "torch",
    "truncation": "torch",
}
"""Who is beaten or not, where a script's rows do not say it."""
PATIENCE = 420
"""Seconds for one script; none with --long."""


def best(work, repeats: int = 5) -> float:
    """The shortest of several times, in seconds."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def limits() -> dict[str, float]:
    """What the machine can do: float32 products and memory, as measured now."""
    rng = np.random.default_rng(0)
    A, B = rng.random((2, 2048, 2048), dtype=np.float32)
    source = rng.random(2**26, dtype=np.float32)
    target = np.empty_like(source)
    sgemm = 2 * 2048**3 / best(lambda: A @ B) / 1e9
    copy = 2 * source.nbytes / best(lambda: np.copyto(target, source)) / 1e9
    return {"sgemm_gflops": round(sgemm, 1), "copy_gbytes": round(copy, 1)}


def rows_of(script: pathlib.Path, *, long: bool) -> tuple[list[dict], str]:
    """The rows of one script, and why there are none if there are none."""
    command = [sys.executable, str(script), "--json", *(["--long"] if long else [])]
    start = time.perf_counter()
    limit = None if long else PATIENCE
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=limit)
    except subprocess.TimeoutExpired:
        return [], f"was not done after {PATIENCE} s"
    print(f"{script.name}: {time.perf_counter() - start:.0f} s", file=sys.stderr)
    if done.returncode:
        return [], done.stderr.strip().splitlines()[-1] if done.stderr else "no word"
    return json.loads(done.stdout), ""


def table(rows: list[dict]) -> str:
    """The rows as a Markdown table."""
    lines = [
        "| task | size | best peer | ratio | spread | share of limit | target | met |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        spread = row.get("spread")
        between = f"{spread[0]:.2g}–{spread[1]:.2g}" if isinstance(spread, list) else spread
        share = f"{100 * row['share']:.0f} %" if row.get("share") else "–"
        target = f"{row['target']:g}×" if row.get("target") else "–"
        met = {True: "yes", False: "**no**", None: "–"}[row.get("met")]
        lines.append(
            f"| {row['task']} | {row['size']} | {row['peer_name']} | {row['ratio']:.3g}× "
            f"| {between} | {share} | {target} | {met} |"
        )
    return "\n".join(lines)


def main() -> None:
    """Run all, print the table, keep it in the docs."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--long", action="store_true", help="larger cases, more repeats")
    parser.add_argument("--only", help="run one script, by its name")
    options = parser.parse_args()
    scripts = [
        p for p in sorted(HERE.glob("[a-z]*.py")) if p.name not in ("run.py", "first_answers.py")
    ]
    if options.only:
        scripts = [p for p in scripts if p.stem == options.only]
    machine = {"cores": os.cpu_count(), **limits()}
    rows, failures = [], {}
    for script in scripts:
        more, why = rows_of(script, long=options.long)
        known = {"script": script.stem, "peer_name": PEERS.get(script.stem, "–")}
        rows += [known | row for row in more]
        if why:
            failures[script.stem] = why
    text = table(rows)
    print(text)
    for name, why in failures.items():
        print(f"{name} failed: {why}", file=sys.stderr)
    if not options.only:
        record = {"machine": machine, "rows": rows, "failures": failures}
        (DOCS / "benchmarks.json").write_text(json.dumps(record, indent=1) + "\n")
        page = HERE / "page.md"
        opening = page.read_text() if page.exists() else "# Benchmarks\n"
        said = (
            f"Measured on {machine['cores']} cores: sgemm {machine['sgemm_gflops']} Gflop/s, "
            f"copy {machine['copy_gbytes']} GB/s in the same run.\n"
        )
        (DOCS / "benchmarks.md").write_text(f"{opening}\n{said}\n{text}\n")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
