"""WikiText-2 by the reduced recipe, longer than the full profile has time for.

    python -m remanence.subjects.stable_recurrence.study FOLDER [--epochs 6] [--units 256] [--minutes 80]

RNN and LSTM, free and stable. `FOLDER/wikitext-KIND.json` is written when a model is
trained and measured; `--work` holds the checkpoints, and the same command goes on from
there, or from where `--minutes` stopped it.
"""

import argparse
import dataclasses
import os
import pathlib
import sys
from typing import Any

from ...report import Bench, json_bytes, write_whole
from .config import Language, REDUCED
from .language import measured, proved, text_of, trained_model
from .parts import OutOfTime, Parts


EPOCHS = 6
"""What the reduced recipe's steps amount to."""


def recipe(epochs: float, units: int) -> Language:
    """The reduced recipe for so many passes, its rate falling over all of them."""
    steps = round(REDUCED.steps * epochs / EPOCHS)
    return dataclasses.replace(REDUCED, steps=steps, units=units)


def models(config: Language, folder: pathlib.Path, parts: Parts) -> dict[str, Any]:
    """Every model of a recipe, trained, measured and written down."""
    text, found = text_of(config), {}
    for kind in config.kinds:
        for free in (True, False):
            name = f"{config.text}-{kind}-{'free' if free else 'stable'}"
            parts.bench.tell(name)
            net = trained_model(config, text, kind, free, parts)
            if net is None:
                continue
            found[name] = {
                "recipe": dataclasses.asdict(config),
                "model": kind,
                "free": free,
                **measured(config, net, text),
                **proved(net, free),
            }
            folder.mkdir(parents=True, exist_ok=True)
            write_whole(folder / f"{name}.json", json_bytes(found[name]))
    return found


def say(sentence: str) -> None:
    """Progress, on stderr."""
    sys.stderr.write(sentence + "\n")
    sys.stderr.flush()


def main(words: list[str] | None = None) -> None:
    """Train as far as the time allows."""
    parser = argparse.ArgumentParser(description="WikiText-2 by the reduced recipe.")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--epochs", type=float, default=float(EPOCHS))
    parser.add_argument("--units", type=int, default=REDUCED.units)
    parser.add_argument("--minutes", type=float)
    parser.add_argument("--work", type=pathlib.Path)
    asked = parser.parse_args(words)
    os.environ.setdefault("MPLBACKEND", "agg")
    bench = Bench(
        folder=asked.work or asked.folder / "work",
        profile="full",
        tell=say,
        quiet=False,
        time_limit=None if asked.minutes is None else 60 * asked.minutes,
    )
    try:
        models(recipe(asked.epochs, asked.units), asked.folder, Parts(bench))
    except OutOfTime:
        say("time is up; the same command goes on from here")


if __name__ == "__main__":
    main()
