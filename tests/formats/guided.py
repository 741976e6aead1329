"""One door under a coverage-guided fuzzer: `python guided.py DOOR RUNS SEEDS`.

A process of its own, since the fuzzer ends it. It says what it saw on its last line,
as JSON; any exception other than a refusal ends it with the input that caused it.
"""

import atexit
import importlib
import json
import pathlib
import signal
import sys
from typing import Any


atheris: Any = importlib.import_module("atheris")
with atheris.instrument_imports(
    include=["remanence.formats", "remanence.subjects.memorization.words"]
):
    from remanence.formats import load
    from remanence.formats.safetensors import read
    from remanence.subjects.memorization.words import word

SEEN = {"read": 0, "refused": 0}
SCRATCH = pathlib.Path("any.safetensors")
"""In the folder where it is started."""


def write(content: bytes) -> None:
    """A new file: to write over one waits for the disk."""
    SCRATCH.unlink(missing_ok=True)
    SCRATCH.write_bytes(content)


def headers(content: bytes) -> None:
    """The bytes as a weights file, up to its tensors and metadata."""
    write(content)
    read(SCRATCH)


def networks(content: bytes) -> None:
    """The bytes as the header of a weights file, up to the network that it holds."""
    try:  # as many bytes behind it as it asks for, since it is refused otherwise
        said = json.loads(content)
        ends = [t["data_offsets"][1] for n, t in said.items() if n != "__metadata__"]
        size = min(max(ends, default=0), 4096)
    except (ValueError, TypeError, KeyError, IndexError, AttributeError):
        size = 0
    write(len(content).to_bytes(8, "little") + content + bytes(size))
    load(SCRATCH, quiet=True)


def words(content: bytes) -> None:
    """The bytes as a string to be remembered, or as numbers."""
    drawn = atheris.FuzzedDataProvider(content)
    end = drawn.ConsumeBool()
    if drawn.ConsumeBool():
        symbols = drawn.ConsumeUnicode(40)
    else:
        symbols = drawn.ConsumeIntList(drawn.ConsumeIntInRange(0, 12), 1)
    found = word(symbols, end=end)
    assert (len(symbols) + end) % found.period == 0


DOORS = {"headers": headers, "networks": networks, "words": words}


def main(door: str, runs: str, seeds: str) -> None:
    """Fuzz one door, starting from the files in a folder."""

    def once(content: bytes) -> None:
        try:
            DOORS[door](content)
            SEEN["read"] += 1
        except ValueError:
            SEEN["refused"] += 1

    def told() -> None:
        # The fuzzer's alarm outlives its handler: a slow end would be killed by it.
        signal.setitimer(signal.ITIMER_REAL, 0)
        # Not the fuzzer's own limit: it counts the parent's memory as ours.
        status = pathlib.Path("/proc/self/status").read_text()
        peak = int(status.split("VmHWM:")[1].split()[0]) // 1024
        sys.stdout.write(json.dumps(SEEN | {"peak MB": peak}) + "\n")

    atexit.register(told)
    limits = ["-timeout=20", "-rss_limit_mb=0", "-max_len=2048", "-seed=1"]
    atheris.Setup([sys.argv[0], f"-atheris_runs={runs}", *limits, seeds], once)
    atheris.Fuzz()


if __name__ == "__main__":
    main(*sys.argv[1:])
