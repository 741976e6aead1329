"""What everything costs as it grows: seconds, fitted powers, peak memory, and figures.

    python benchmarks/costs/growth.py [GROUP ...] [--out docs]
    python benchmarks/costs/growth.py --redraw docs

Processor seconds on one thread after a first call that compiles, the best of three.
A power is fitted to the larger half of the sizes, where the fixed costs weigh least.
The peak of the memory is that of a process of its own, Python and JAX included. With
--out the page, its rows and its pictures are written there; --redraw only draws the
rows that are there. The cases are in `cases.py`; about five minutes on an idle machine.
"""

import argparse
import csv
import os
import pathlib
import subprocess
import sys
import time


os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false")

import cases
import numpy as np

from remanence.report.style import style


GROUPS = (cases.SPECTRA, cases.MEASURES, cases.CHECKUPS, cases.TRAINING)
AXES = {
    "N": "units N",
    "T": "steps T",
    "batch": "batch",
    "lanes": "lanes",
    "layers": "layers",
    "period": "period of the word",
    "languages": "languages L",
    "words": "words D",
    "units": "hidden units H",
}


def seconds(case: cases.Case, size: int) -> float:
    """Processor seconds of one call, the best of three; once if it takes long."""
    work = case.work(size)
    work()
    best = float("inf")
    for _ in range(3):
        begun = time.process_time()
        work()
        best = min(best, time.process_time() - begun)
        if best > 5:
            break
    return best


def peak(index: int, size: int) -> float:
    """The largest memory, in MB, of a process that does this and nothing else."""
    run = [sys.executable, __file__, "--peak", str(index), str(size)]
    return float(subprocess.run(run, capture_output=True, check=True).stdout)


def power(sizes, values) -> float:
    """The exponent of a power law, fitted to the larger half."""
    half = (len(sizes) - 1) // 2
    return float(np.polyfit(np.log(sizes[half:]), np.log(values[half:]), 1)[0])


def measured(groups) -> list[tuple]:
    """Every line: what, of which kind, against what, its sizes, its values."""
    lines = []
    for case in cases.CASES:
        if case.group in groups:
            values = [seconds(case, size) for size in case.sizes]
            lines.append((case, "seconds", values))
            said(*lines[-1])
    for index, case in enumerate(cases.MEMORY):
        if case.group in groups:
            values = [peak(index, size) for size in case.sizes]
            lines.append((case, "MB", values))
            said(*lines[-1])
    return lines


def said(case, unit, values) -> None:
    """One line on stderr."""
    shown = ", ".join(f"{v:.3g}" for v in values)
    print(
        f"{case.group}: {case.name} against {case.axis}: {shown} {unit}, "
        f"power {power(case.sizes, values):.2f}",
        file=sys.stderr,
        flush=True,
    )


def drawn(lines, path: pathlib.Path) -> None:
    """The picture for light and for dark pages."""
    import matplotlib

    matplotlib.use("svg")
    import matplotlib.pyplot as plt

    for theme in ("light", "dark"):
        with style(theme):
            figure = panels_of(lines)
            end = "" if theme == "light" else "-dark"
            place = path.with_name(f"{path.stem}{end}.svg")
            figure.savefig(place, metadata={"Date": None})
            plt.close(figure)


def panels_of(lines):
    """A panel for everything that grows; powers in the legend."""
    import matplotlib.pyplot as plt

    panels = list(dict.fromkeys((case.axis, unit) for case, unit, _ in lines))
    columns = min(4, len(panels))
    rows = -(-len(panels) // columns)
    figure, axes = plt.subplots(rows, columns, figsize=(3.1 * columns, 2.9 * rows), squeeze=False)
    for panel in axes.flat[len(panels) :]:
        panel.set_visible(False)
    for case, unit, values in lines:
        panel = axes.flat[panels.index((case.axis, unit))]
        p = power(case.sizes, values)
        panel.plot(case.sizes, values, "o-", ms=4, label=f"{case.name}: {p:.2f}")
    for (axis, unit), panel in zip(panels, axes.flat, strict=False):
        sizes = sorted({s for c, u, _ in lines if (c.axis, u) == (axis, unit) for s in c.sizes})
        label = "processor seconds" if unit == "seconds" else "peak memory (MB)"
        panel.set(xscale="log", yscale="log", xlabel=AXES[axis], ylabel=label)
        low, high = panel.get_ylim()
        if unit == "MB":
            panel.set(yscale="linear", ylim=(0, 1.5 * high))
        else:  # whole decades, and room for the legend
            high = 10 ** np.ceil(np.log10(high) + 0.1 + 0.1 * len(panel.lines))
            panel.set_ylim(10 ** np.floor(np.log10(low)), high)
        few = sizes[:: -(-len(sizes) // 5)]
        panel.set_xticks(few, labels=[f"{size:,}" for size in few])
        panel.minorticks_off()
        panel.legend(fontsize="x-small", title="power", title_fontsize="x-small", loc="upper left")
    return figure


def table(lines) -> str:
    """What grows how, as Markdown."""
    rows = ["| what | against | from | to | power |", "|---|---|---|---|---|"]
    for case, unit, values in lines:
        from_to = [
            f"{v:.2g} s at {size:,}" if unit == "seconds" else f"{v:.0f} MB at {size:,}"
            for v, size in ((values[0], case.sizes[0]), (values[-1], case.sizes[-1]))
        ]
        p = f"{power(case.sizes, values):.2f}"
        rows.append(f"| {case.name} | {AXES[case.axis]} | {' | '.join(from_to)} | {p} |")
    return "\n".join(rows)


PAGE = """# What everything costs as it grows

Processor seconds on one thread, compiling left out, and the peak of the memory of a process
of its own (Python and JAX are about 250 MB of it), measured in one run of
`python benchmarks/costs/growth.py --out docs`. Only the powers mean anything elsewhere; they
are fitted to the larger half of the sizes. Steps, batch and lanes should grow with a power of
at most about 1 (to prove a minimal dimension is a search, and no power), memory with none where an orbit streams or a sweep stores its chunks.

"""


def pictured(lines, out: pathlib.Path) -> list[tuple[str, list, str]]:
    """One picture a group: the group, its lines, and the picture's name."""
    found = []
    for group in GROUPS:
        own = [line for line in lines if line[0].group == group]
        if own:
            found.append((group, own, f"growth-{group.split()[0]}"))
            drawn(own, out / "images" / f"{found[-1][2]}.svg")
    return found


def read(out: pathlib.Path) -> list[tuple]:
    """The lines that were kept."""
    values: dict[tuple, dict[int, float]] = {}
    with (out / "images" / "growth.csv").open(newline="") as file:
        for row in csv.DictReader(file):
            line = values.setdefault((row["what"], row["against"], row["unit"]), {})
            line[int(row["size"])] = float(row["value"])
    return [
        (case._replace(sizes=tuple(line)), unit, list(line.values()))
        for unit, every in (("seconds", cases.CASES), ("MB", cases.MEMORY))
        for case in every
        if (line := values.get((case.name, case.axis, unit)))
    ]


def kept(lines, out: pathlib.Path) -> None:
    """The page, one picture a group, and the rows."""
    page = PAGE
    for group, own, name in pictured(lines, out):
        picture = "".join(
            f"![Cost of {group}](images/{name}{end}.svg#only-{theme})\n"
            for theme, end in (("light", ""), ("dark", "-dark"))
        )
        page += f"## {group.capitalize()}\n\n{picture}\n{table(own)}\n\n"
    (out / "growth.md").write_text(page.rstrip() + "\n")
    with (out / "images" / "growth.csv").open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("what", "against", "size", "value", "unit"))
        writer.writerows(
            (case.name, case.axis, size, f"{value:.4g}", unit)
            for case, unit, values in lines
            for size, value in zip(case.sizes, values, strict=True)
        )


def main() -> None:
    """Measure, fit, print, and keep if asked."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("groups", nargs="*", default=GROUPS, metavar="GROUP")
    parser.add_argument("--out", type=pathlib.Path)
    parser.add_argument("--redraw", type=pathlib.Path)
    parser.add_argument("--peak", nargs=2, type=int, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.peak:
        index, size = asked.peak
        cases.MEMORY[index].work(size)()
        # Not getrusage: it counts the parent's memory at the fork as the child's.
        status = pathlib.Path("/proc/self/status").read_text()
        print(int(status.split("VmHWM:")[1].split()[0]) / 1024)
        return
    if asked.redraw:
        pictured(read(asked.redraw), asked.redraw)
        return
    lines = measured(asked.groups)
    print(table(lines))
    if asked.out:
        kept(lines, asked.out)


if __name__ == "__main__":
    main()
