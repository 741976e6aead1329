"""`make bench`: every script with a peer beside this one, in one run on one machine, as one table.

Each script interleaves its contestants, compares answers before times, and with
`--json` prints rows `task, size, ours, peer, ratio, spread, target, met` (seconds of
this run; only ratios mean anything elsewhere). This runner measures the machine's own
limits first, runs the scripts one after the other, adds the run to `docs/benchmarks.json`
and writes `docs/benchmarks.md` from every run of the same source.
"""

import argparse
import collections
import hashlib
import json
import os
import pathlib
import statistics
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
    """What the machine can do: products and memory, as measured now."""
    rng = np.random.default_rng(0)
    C, D = rng.random((2, 2048, 2048))
    A, B = C.astype(np.float32), D.astype(np.float32)
    source = rng.random(2**26, dtype=np.float32)
    target = np.empty_like(source)
    sgemm = 2 * 2048**3 / best(lambda: A @ B) / 1e9
    dgemm = 2 * 2048**3 / best(lambda: C @ D) / 1e9
    copy = 2 * source.nbytes / best(lambda: np.copyto(target, source)) / 1e9
    rates = {"sgemm_gflops": round(sgemm, 1), "dgemm_gflops": round(dgemm, 1)}
    return rates | {"copy_gbytes": round(copy, 1)}


def rows_of(script: pathlib.Path, *, long: bool) -> tuple[list[dict], str]:
    """The rows of one script, and why there are none if there are none."""
    command = [sys.executable, str(script), "--json", *(["--long"] if long else [])]
    limit = None if long else PATIENCE
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=limit)
    except subprocess.TimeoutExpired:
        return [], f"was not done after {PATIENCE} s"
    if done.returncode:
        return [], done.stderr.strip().splitlines()[-1] if done.stderr else "no word"
    return json.loads(done.stdout), ""


def merged(runs: list[dict]) -> list[dict]:
    """Each row once, with its ratio and share in every run; a row of one run is kept too."""
    found: dict[tuple, list[dict]] = {}
    for run in runs:
        seen: collections.Counter = collections.Counter()
        for row in run["rows"]:
            which = row["script"], row["task"], row["size"]
            seen[which] += 1  # one size beside several peers has several rows
            found.setdefault((*which, seen[which]), []).append(row)
    return [
        rows[-1] | {"ratios": [row["ratio"] for row in rows], "shares": shares(rows)}
        for rows in found.values()
    ]


def shares(rows: list[dict]) -> list[float]:
    """The shares of the limit, where a row has one."""
    return [row["share"] for row in rows if row.get("share")]


def table(rows: list[dict]) -> str:
    """The rows as a Markdown table: the median of the runs, the range over them, within one run."""
    lines = [
        "| task | size | best peer | ratio | over runs | within a run | share of limit | target | met |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        ratios, spread = row["ratios"], row.get("spread")
        within = f"{spread[0]:.2g}–{spread[1]:.2g}" if isinstance(spread, list) else spread
        over = f"{min(ratios):.3g}–{max(ratios):.3g} of {len(ratios)}"
        share = f"{statistics.median(row['shares']):.0%}" if row["shares"] else "–"
        share += f" of {row['share_target']:.0%}" if row.get("share_target") else ""
        target = row.get("target")
        met = "–"
        if target:
            reached = sum(ratio >= target for ratio in ratios)
            met = "yes" if reached == len(ratios) else f"**{reached} of {len(ratios)}**"
        lines.append(
            f"| {row['task']} | {row['size']} | {row['peer_name']} "
            f"| {statistics.median(ratios):.3g}× | {over} | {within} | {share} "
            f"| {f'{target:g}×' if target else '–'} | {met} |"
        )
    return "\n".join(lines)


def source() -> str:
    """The state of what is measured: runs of another are not shown beside this one."""
    files = sorted([*HERE.rglob("*.py"), *(HERE.parent / "src").rglob("*.py")])
    return hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest()[:12]


def machine_line(runs: list[dict]) -> str:
    """What the machine could do in each run."""
    rates = lambda name: "–".join(
        f"{edge([run['machine'][name] for run in runs]):.4g}" for edge in (min, max)
    )
    return (
        f"Measured in {len(runs)} run{'s' * (len(runs) > 1)} of `make bench` on "
        f"{runs[-1]['machine']['cores']} cores: sgemm {rates('sgemm_gflops')} Gflop/s, dgemm "
        f"{rates('dgemm_gflops')} Gflop/s, copy {rates('copy_gbytes')} GB/s in the same runs; "
        f"{max(run['minutes'] for run in runs):.0f} minutes a run at most.\n"
    )


def main() -> None:
    """Run all, print the table, keep it in the docs."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--long", action="store_true", help="larger cases, more repeats")
    parser.add_argument("--only", help="run one script, by its name; kept where --out says")
    parser.add_argument("--out", type=pathlib.Path, help="keep runs and page there, not in docs")
    options = parser.parse_args()
    scripts = [
        p for p in sorted(HERE.glob("[a-z]*.py")) if p.name not in ("run.py", "first_answers.py")
    ]
    if options.only:
        scripts = [p for p in scripts if p.stem == options.only]
    begun = time.perf_counter()
    machine = {"cores": os.cpu_count(), **limits()}
    rows, failures, seconds = [], {}, {}
    for script in scripts:
        start = time.perf_counter()
        more, why = rows_of(script, long=options.long)
        seconds[script.stem] = round(time.perf_counter() - start)
        print(f"{script.name}: {seconds[script.stem]} s", file=sys.stderr)
        known = {"script": script.stem, "peer_name": PEERS.get(script.stem, "–")}
        rows += [known | row for row in more]
        if why:
            failures[script.stem] = why
    minutes = (time.perf_counter() - begun) / 60
    run = {"machine": machine, "minutes": minutes, "seconds": seconds}
    runs = [run | {"rows": rows, "failures": failures}]
    folder = options.out or (None if options.only else DOCS)
    kept = folder and folder / "benchmarks.json"
    if kept:
        before = json.loads(kept.read_text()) if kept.exists() else {}
        runs = [*(before["runs"] if before.get("source") == source() else []), *runs]
        kept.write_text(json.dumps({"source": source(), "runs": runs}, indent=1) + "\n")
    text = f"{machine_line(runs)}\n{table(merged(runs))}\n"
    print(text)
    if folder:
        opening = (HERE / "page.md").read_text()
        (folder / "benchmarks.md").write_text(f"{opening}\n{text}")
    for name, why in failures.items():
        print(f"{name} failed: {why}", file=sys.stderr)
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
