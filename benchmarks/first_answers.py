"""What a person waits for: each command in a fresh process, with an empty and a filled cache of programs.

    python benchmarks/first_answers.py [--json] [--out docs/first-answers.md]

*First* is the time until the first line of the answer is printed, *whole* until the command
ends. *Importing* and *compiling* are shares of the whole with a filled cache (Python's own
record of imports, JAX's own record of compilations); the rest is the computing. *Memory* is the
peak of the process, at least that of this one. `--heavy` adds the checkups that take long, `--run` the quick profile of every
study, each once cold and once warm.
"""

import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time


REPEATS = 3
SHORT = 20  # seconds of a command that is run more than twice
COMPILED = re.compile(r"Finished (?:XLA compilation|tracing|jaxpr to MLIR)[^\n]* in ([\d.e-]+) sec")
IMPORTED = re.compile(r"import time:\s+(\d+) \|")


def lstm_file(units: int, path: pathlib.Path, layers: int = 1) -> pathlib.Path:
    """A file with LSTMs of torch's shape and starting weights, and a readout."""
    import numpy as np
    from safetensors.numpy import save_file

    rng = np.random.default_rng(0)
    shapes = {"emb.weight": (65, 32), "out.weight": (65, units), "out.bias": (65,)}
    for layer in range(layers):
        shapes |= {
            f"lstm.weight_ih_l{layer}": (4 * units, units if layer else 32),
            f"lstm.weight_hh_l{layer}": (4 * units, units),
            f"lstm.bias_ih_l{layer}": (4 * units,),
            f"lstm.bias_hh_l{layer}": (4 * units,),
        }
    bound = units**-0.5
    draw = lambda shape: rng.uniform(-bound, bound, shape).astype("float32")
    save_file({name: draw(shape) for name, shape in shapes.items()}, path)
    return path


def commands(folder: pathlib.Path, asked: argparse.Namespace) -> dict[str, list[str]]:
    """Every command that is timed, by what the table calls it."""
    checkup = lambda units, *more, layers=1: [
        "checkup", str(lstm_file(units, folder / f"lstm{units}.safetensors", layers)),
        "--noise", "--out", str(folder / "checkup.html"), *more,
    ]  # fmt: skip
    heavy = {
        "checkup, LSTM of 128": checkup(128),
        "checkup, LSTM of 512": checkup(512),
        "checkup --quick, LSTMs of 2 x 1024": checkup(1024, "--quick", layers=2),
    }
    studies = {"reproduce all": ["reproduce", "all", "--out", str(folder / "results")]}
    light = {
        "remanence --help": ["--help"],
        "memorize abc": ["memorize", "abc"],
        "memorize abracadabra": ["memorize", "abracadabra"],
        "checkup --quick, LSTM of 128": checkup(128, "--quick"),
        "checkup --quick, LSTM of 512": checkup(512, "--quick"),
    }
    return light | (heavy if asked.heavy else {}) | (studies if asked.run else {})


def run(words: list[str], cache: pathlib.Path, *flags: str) -> tuple[float, float, float, str]:
    """Seconds to the first line and to the end, the peak of memory in MB, and what stderr said."""
    env = os.environ | {"JAX_COMPILATION_CACHE_DIR": str(cache), "MPLBACKEND": "agg"}
    env |= {"JAX_LOG_COMPILES": "1"} if flags else {}
    command = [sys.executable, *flags, "-m", "remanence", *words]
    with tempfile.TemporaryFile("w+") as said:
        start = time.perf_counter()
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=said, env=env)
        assert process.stdout is not None
        with process.stdout:
            process.stdout.readline()
            first = time.perf_counter() - start
            process.stdout.read()
        _, status, used = os.wait4(process.pid, 0)
        whole = time.perf_counter() - start
        said.seek(0)
        if status:
            raise SystemExit(f"{' '.join(words)} failed: {said.read()[-300:]}")
        return first, whole, used.ru_maxrss / 1024, said.read()


def measure(name: str, words: list[str]) -> dict[str, float | str]:
    """One command: cold once, warm the best of several, and where the time goes."""
    with tempfile.TemporaryDirectory() as folder:
        cache = pathlib.Path(folder)
        cold = run(words, cache)
        repeats = REPEATS if cold[1] < SHORT else 1
        warm = min((run(words, cache) for _ in range(repeats)), key=lambda times: times[1])
        _, watched, _, said = run(words, cache, "-X", "importtime") if repeats > 1 else warm
    importing = sum(int(us) for us in IMPORTED.findall(said)) / 1e6
    compiling = sum(float(seconds) for seconds in COMPILED.findall(said))
    return {
        "command": name,
        "first, cold": cold[0],
        "whole, cold": cold[1],
        "first, warm": warm[0],
        "whole, warm": warm[1],
        "importing": importing / watched,
        "compiling": compiling / watched,
        "memory": max(cold[2], warm[2]),
    }


def table(rows: list[dict]) -> str:
    """The rows as Markdown."""
    names = list(rows[0])
    lines = [f"| {' | '.join(names)} |", "|---" * len(names) + "|"]
    for row in rows:
        seconds = [f"{row[name]:.2f} s" for name in names[1:5]]
        shares = [f"{row[name]:.0%}" if row[name] else "–" for name in names[5:7]]
        memory = f"{row['memory']:,.0f} MB"
        lines.append(f"| {' | '.join([row['command'], *seconds, *shares, memory])} |")
    return "\n".join(lines)


PAGE = """# What a person waits for

Each command in a fresh process on two cores, as `python benchmarks/first_answers.py` measured it: *first* is the
first line of the answer, *whole* the end of the command; cold is with an empty cache of compiled programs, warm
the best of three with a filled one. Importing and compiling (with tracing) are shares of a warm run.

{table}
"""


def main() -> None:
    """Measure every command; print, and keep if asked."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--out", type=pathlib.Path)
    parser.add_argument("--heavy", action="store_true", help="also the checkups that take long")
    parser.add_argument("--run", action="store_true", help="also the quick profile of every study")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        rows = [measure(*item) for item in commands(pathlib.Path(folder), asked).items()]
    print(json.dumps(rows, indent=1) if asked.json else table(rows))
    if asked.out:
        asked.out.write_text(PAGE.format(table=table(rows)))


if __name__ == "__main__":
    main()
