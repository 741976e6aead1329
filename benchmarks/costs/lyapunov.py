"""What a Lyapunov spectrum costs as N and T grow: seconds, fitted powers, peak memory.

    python benchmarks/costs/lyapunov.py [--long] [--json] [--out docs/images/lyapunov-cost]

Driven tanh networks, the full spectrum and the first 8 exponents, in processor
seconds on one thread after a first call that compiles. The peak of the memory is
that of a process of its own: a long run holds its inputs and one frame, no orbit.
With --out the rows go to OUT.csv and the picture to OUT.svg.
"""

import csv
import json
import os
import pathlib
import subprocess
import sys
import time


os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false")

import jax.random as jr
import numpy as np

from remanence._precision import double
from remanence.cells import Elman
from remanence.measure import lyapunov_spectrum


LONG, JSON = "--long" in sys.argv, "--json" in sys.argv
UNITS = (16, 32, 64, 128, 256) if LONG else (16, 32, 64, 128)
STEPS = (1000, 2000, 4000, 8000)
MEMORY = (1000, 10_000, 100_000)


def network(units, steps):
    """A driven tanh network and its inputs."""
    with double():
        cell = Elman.init(4, units, key=jr.key(0))
        return cell, np.asarray(jr.normal(jr.key(1), (steps, 4)))


def seconds(units, steps, k):
    """Processor seconds of one call, the best of two."""
    cell, xs = network(units, steps)
    lyapunov_spectrum(cell, xs, k=k)
    best = float("inf")
    for _ in range(2):
        begun = time.process_time()
        lyapunov_spectrum(cell, xs, k=k)
        best = min(best, time.process_time() - begun)
    return best


def peak(steps):
    """The largest memory, in MB, of a process that follows 32 units for `steps`."""
    run = [sys.executable, __file__, "--peak", str(steps)]
    return float(subprocess.run(run, capture_output=True, check=True).stdout)


def power(x, y):
    """The exponent of a power law, fitted to the larger half."""
    half = len(x) // 2
    return float(np.polyfit(np.log(x[half:]), np.log(y[half:]), 1)[0])


def measured():
    """Every row: what is varied, its size, seconds or MB."""
    rows = []
    for k, name in ((None, "full spectrum"), (8, "first 8")):
        rows += [(name, "N", units, 1000, seconds(units, 1000, k)) for units in UNITS]
        rows += [(name, "T", 32, steps, seconds(32, steps, k)) for steps in STEPS]
    return rows + [("memory", "T", 32, steps, peak(steps)) for steps in MEMORY]


def fitted(rows):
    """The power of every line."""
    lines = {}
    for name, axis, units, steps, value in rows:
        lines.setdefault((name, axis), []).append(
            (units if axis == "N" else steps, value)
        )
    return {line: power(*np.array(points, float).T) for line, points in lines.items()}


def drawn(rows, powers, path):
    """The picture: seconds against N, seconds against T, memory against T."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "remanence"
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(ncols=3, figsize=(9.6, 3.2), layout="constrained")
    panels = {"N": axes[0], "T": axes[1]}
    for (name, axis), p in powers.items():
        size = 2 if axis == "N" else 3
        line = np.array([(r[size], r[4]) for r in rows if (r[0], r[1]) == (name, axis)])
        panel = axes[2] if name == "memory" else panels[axis]
        label = None if name == "memory" else f"{name}: {axis}$^{{{p:.2f}}}$"
        panel.plot(*line.T, "o-", ms=4, label=label)
    axes[0].set(
        xscale="log", yscale="log", xlabel="units N", ylabel="seconds (T = 1,000)"
    )
    axes[1].set(xscale="log", yscale="log", xlabel="steps T", ylabel="seconds (N = 32)")
    axes[2].set(xscale="log", xlabel="steps T", ylabel="peak memory (MB)")
    axes[2].set_ylim(0, 1.4 * max(r[4] for r in rows if r[0] == "memory"))
    for panel, sizes in ((axes[0], UNITS), (axes[1], STEPS)):
        panel.legend(frameon=False, fontsize="small")
        panel.set_xticks(sizes, labels=[f"{size:,}" for size in sizes])
        panel.minorticks_off()
    for panel in axes:
        panel.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, metadata={"Date": None})


def main():
    """Measure, fit, print, and keep if asked."""
    rows = measured()
    powers = fitted(rows)
    out = sys.stderr if JSON else sys.stdout
    for name, _, units, steps, value in rows:
        unit = "MB" if name == "memory" else "s"
        print(f"{name}, N = {units}, T = {steps}: {value:.3g} {unit}", file=out)
    for (name, axis), p in powers.items():
        print(f"{name} grows like {axis}^{p:.2f}", file=out)
    if "--out" in sys.argv:
        base = pathlib.Path(sys.argv[sys.argv.index("--out") + 1])
        with base.with_suffix(".csv").open("w", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(("what", "against", "units", "steps", "seconds or MB"))
            writer.writerows((*row[:4], f"{row[4]:.4g}") for row in rows)
        drawn(rows, powers, base.with_suffix(".svg"))
    if JSON:
        empty = dict.fromkeys(("peer", "ratio", "spread", "target", "met"))
        document = [
            {"task": f"{name} against {axis}", "size": f"N = {units}, T = {steps}",
             "ours": value, "power": powers[name, axis], **empty}
            for name, axis, units, steps, value in rows
        ]  # fmt: skip
        print(json.dumps(document, indent=2))


if __name__ == "__main__":
    if "--peak" in sys.argv:
        cell, xs = network(32, int(sys.argv[sys.argv.index("--peak") + 1]))
        lyapunov_spectrum(cell, xs)
        # Not getrusage: it counts the parent's memory at the fork as the child's.
        status = pathlib.Path("/proc/self/status").read_text()
        print(int(status.split("VmHWM:")[1].split()[0]) / 1024)
    else:
        main()
