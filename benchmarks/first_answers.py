"""What a person waits for: each command in a fresh process, with an empty and a filled cache of programs.

    python benchmarks/first_answers.py [--json] [--out docs/first-answers.md]

*First* is the time until the first line of the answer is printed, *whole* until the command
ends. *Importing* and *compiling* are shares of the whole with a filled cache (Python's own
record of imports, JAX's own record of compilations); the rest is the computing.
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
COMPILED = re.compile(r"Finished (?:XLA compilation|tracing|jaxpr to MLIR)[^\n]* in ([\d.e-]+) sec")
IMPORTED = re.compile(r"import time:\s+(\d+) \|")


def lstm_file(units: int, path: pathlib.Path) -> pathlib.Path:
    """A file with an LSTM of torch's shape and starting weights, and a readout."""
    import numpy as np
    from safetensors.numpy import save_file

    rng = np.random.default_rng(0)
    shapes = {
        "emb.weight": (65, 32),
        "lstm.weight_ih_l0": (4 * units, 32),
        "lstm.weight_hh_l0": (4 * units, units),
        "lstm.bias_ih_l0": (4 * units,),
        "lstm.bias_hh_l0": (4 * units,),
        "out.weight": (65, units),
        "out.bias": (65,),
    }
    bound = units**-0.5
    draw = lambda shape: rng.uniform(-bound, bound, shape).astype("float32")
    save_file({name: draw(shape) for name, shape in shapes.items()}, path)
    return path


def commands(folder: pathlib.Path) -> dict[str, list[str]]:
    """Every command that is timed, by what the table calls it."""
    checkup = lambda units: [
        "checkup", str(lstm_file(units, folder / f"lstm{units}.safetensors")), "--quick",
        "--noise", "--out", str(folder / "checkup.html"),
    ]  # fmt: skip
    return {
        "remanence --help": ["--help"],
        "memorize abc": ["memorize", "abc"],
        "memorize abracadabra": ["memorize", "abracadabra"],
        "checkup --quick, LSTM of 128": checkup(128),
        "checkup --quick, LSTM of 512": checkup(512),
    }


def run(words: list[str], cache: pathlib.Path, *flags: str) -> tuple[float, float, str]:
    """Seconds to the first line, seconds to the end, and what was said on stderr."""
    env = os.environ | {"JAX_COMPILATION_CACHE_DIR": str(cache), "MPLBACKEND": "agg"}
    env |= {"JAX_LOG_COMPILES": "1"} if flags else {}
    command = [sys.executable, *flags, "-m", "remanence", *words]
    with tempfile.TemporaryFile("w+") as said:
        start = time.perf_counter()
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=said, env=env) as process:
            assert process.stdout is not None
            process.stdout.readline()
            first = time.perf_counter() - start
            process.stdout.read()
        whole = time.perf_counter() - start
        said.seek(0)
        if process.returncode:
            raise SystemExit(f"{' '.join(words)} failed: {said.read()[-300:]}")
        return first, whole, said.read()


def measure(name: str, words: list[str]) -> dict[str, float | str]:
    """One command: cold once, warm the best of several, and where the time goes."""
    with tempfile.TemporaryDirectory() as folder:
        cache = pathlib.Path(folder)
        cold = run(words, cache)
        warm = min((run(words, cache) for _ in range(REPEATS)), key=lambda times: times[1])
        _, watched, said = run(words, cache, "-X", "importtime")
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
    }


def table(rows: list[dict]) -> str:
    """The rows as Markdown."""
    names = list(rows[0])
    lines = [f"| {' | '.join(names)} |", "|---" * len(names) + "|"]
    for row in rows:
        seconds = [f"{row[name]:.2f} s" for name in names[1:5]]
        shares = [f"{row[name]:.0%}" for name in names[5:]]
        lines.append(f"| {' | '.join([row['command'], *seconds, *shares])} |")
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
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        rows = [measure(*item) for item in commands(pathlib.Path(folder)).items()]
    print(json.dumps(rows, indent=1) if asked.json else table(rows))
    if asked.out:
        asked.out.write_text(PAGE.format(table=table(rows)))


if __name__ == "__main__":
    main()
