r"""Strings written into weights, $h' = W_h h$, $y = W_y h + b_y$.

A rotation by $2\pi/(a+b)$ repeats $0^a 1^b$; a cyclic permutation repeats anything.
"""

# A study that takes no time: the two constructions of document 000, in NumPy. Its docstring is
# the subject on its page. `install()` puts it in the place of all studies, so that everything
# around a study (claims, files, pages, commands) is tested without waiting for one.

import dataclasses
import pathlib
import sys
import time
import types

import matplotlib.pyplot as plt
import numpy as np
import xarray as xr

from remanence import subjects as studies
from remanence.report import Bench, Claim, cross_table, Figure, Outcome, Row, Study
from remanence.sweeps import Unfinished


@dataclasses.dataclass(frozen=True)
class Config:
    zeros: int = 3
    ones: int = 5
    word: str = "abracadabra"
    turns: int = 20
    wait: float = 0.0
    fail: str = ""


def rotation(zeros: int, ones: int, steps: int) -> str:
    """What a rotation says when a half-plane is read off its orbit."""
    turn = 2 * np.pi / (zeros + ones)
    W_h = np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])
    # The zeros' states are centred on angle 0.
    start = -turn * (zeros - 1) / 2
    h, edge = np.array([np.cos(start), np.sin(start)]), np.cos(turn * zeros / 2)
    said = ""
    for _ in range(steps):
        said += "0" if h[0] > edge else "1"
        h = W_h @ h
    return said


def permutation(word: str, steps: int) -> str:
    """What a cyclic permutation says when each state has its own symbol."""
    W_h = np.roll(np.eye(len(word)), 1, axis=0)
    symbols = sorted(set(word))
    W_y = np.array([[float(c == s) for c in word] for s in symbols])
    h, said = np.eye(len(word))[0], ""
    for _ in range(steps):
        said += symbols[int(np.argmax(W_y @ h))]
        h = W_h @ h
    return said


def run(config: Config, bench: Bench) -> Outcome:
    if config.fail == "refusal":
        studies.study("nothing")
    if config.fail == "unfinished":
        raise Unfinished("the time limit of 1 s is over", 3, 8, bench.folder)
    if config.fail:
        raise ZeroDivisionError(config.fail)
    bench.tell("turning")
    part = bench.folder / "part.txt"
    if not part.exists():
        part.write_text("half of the work")
    begun = time.monotonic()
    while time.monotonic() - begun < config.wait:
        time.sleep(0.05)
    period = config.zeros + config.ones
    steps = config.turns * period
    wanted = ("0" * config.zeros + "1" * config.ones) * config.turns
    wrong = sum(
        a != b for a, b in zip(rotation(config.zeros, config.ones, steps), wanted, strict=True)
    )
    length = config.turns * len(config.word)
    errors = sum(
        a != b
        for a, b in zip(permutation(config.word, length), config.word * config.turns, strict=True)
    )
    angles = 2 * np.pi * np.arange(period) / period
    orbit = xr.Dataset(
        {"x": ("step", np.cos(angles)), "y": ("step", np.sin(angles))},
        coords={"step": np.arange(period)},
    )

    def draw():
        figure, axes = plt.subplots(figsize=(5, 4))
        axes.plot(orbit["x"], orbit["y"], "o-", label="orbit <b>")
        axes.axhline(0, color="C7")
        axes.set_xlabel("first coordinate")
        axes.set_ylabel("second coordinate")
        axes.legend()
        return figure

    results = {
        "rotation": {"wrong": wrong, "dimension": 2},
        "permutation": {"wrong": errors, "dimension": len(config.word), "gap": np.float64(1 / 3)},
        "strings": {"runs": 2, "served": False},
    }
    table = cross_table([Row(network="rotation, $0^a 1^b$", dimension=2, largest_exponent=0.0)])
    return Outcome(
        results=results,
        data={"orbit": orbit, "cross": table},
        figures=(
            Figure(
                "orbit",
                "The orbit of $0^a 1^b$",
                "A circle, <script>alert(1)</script>.",
                draw,
                orbit,
            ),
        ),
    )


def _no_errors(e):
    """Holds if no symbol is wrong."""
    return "holds" if e["wrong"] == 0 else "refuted"


def _served(e):
    """Holds if every string is served."""
    return "holds" if e["served"] else "refuted"


def _settled(e):
    """Holds once it is settled."""
    return "holds" if e["settled"] else "open"


CLAIMS = (
    Claim(
        id="000.1",
        says="$(0^a 1^b)^+$ needs two dimensions: a rotation <i>and</i> a half-plane.",
        published="d = 2",
        finding="{wrong} wrong symbols at d = {dimension}",
        evidence=lambda results: results["rotation"],
        rule=_no_errors,
        figure="orbit",
    ),
    Claim(
        id="000.2",
        says="Any word of period p is repeated by a permutation with d = p.",
        published="d = p",
        finding="{wrong} wrong symbols at d = {dimension}",
        evidence=lambda results: results["permutation"],
        rule=_no_errors,
    ),
    Claim(
        id="000.3",
        says="Two dimensions serve every string.",
        published="every string",
        finding="a counterexample",
        evidence=lambda results: results["strings"],
        rule=_served,
    ),
    Claim(
        id="000.4",
        says="How small can d be?",
        published="open",
        finding=lambda e: "settled" if e["settled"] else "unsettled",
        evidence=lambda results: results.get("smallest"),
        rule=_settled,
    ),
)
CASES = {
    "000.1": ({"wrong": 0, "dimension": 2}, {"wrong": 3, "dimension": 2}),
    "000.2": ({"wrong": 0, "dimension": 11}, {"wrong": 1, "dimension": 11}),
    "000.3": ({"served": True}, {"served": False}),
    "000.4": ({"settled": True}, {"settled": False}),
}


def study(name: str = "memorization", config: Config | None = None) -> Study:
    config = config or Config()
    return Study(
        name=name,
        document="000",
        title="Memorization: strings in weights & <tags>",
        reference="A document with an & and a <tag>.",
        claims=CLAIMS,
        profiles={"quick": config, "full": dataclasses.replace(config, turns=40)},
        run=run,
        cost={"quick": "about a second", "full": "about two seconds"},
        cell=lambda named, bench: {"word": named.get("word", ""), "value": 1 / 3},
    )


def install(**changes: dict) -> None:
    """Stand in for the five studies; `changes` by module name, `_` for `-`."""
    for name, module in studies.STUDIES.items():
        stand_in = types.ModuleType(f"remanence.subjects.{module}.study")
        config = Config(**changes.get(module, {}))
        stand_in.STUDY = study(name, config)  # pyright: ignore[reportAttributeAccessIssue]
        sys.modules[stand_in.__name__] = stand_in


if __name__ in ("__main__", "__mp_main__"):  # as a script, and in its workers
    import json
    import os

    sys.path.insert(0, str(pathlib.Path(__file__).parent))
    install(**json.loads(os.environ.get("SMALL_STUDY", "{}")))

if __name__ == "__main__":
    from remanence.cli import main

    main()
