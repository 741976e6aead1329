"""Experiment 2: evidence from the ladder of certificates, the LSTM's, and twins."""

from typing import Any

from ...report import Bench
from . import figures, ladder
from .config import Config
from .theory import short


def certificates(config: Config, bench: Bench, evidence: dict, data: dict) -> list[Any]:
    """Largest certified gains beside their limit; the figure."""
    table = ladder.certified_gains(
        config.ladder_units, config.ladder_kinds, config.ladder_draws, bench.tell
    )
    gauss = table["gain"].sel(kind="gaussian", units=config.ladder_units[-1])
    mean = gauss.mean("draw")
    rungs = ("norm", "diagonal", "full", "limit")
    evidence["004.8"] = {
        "units": int(config.ladder_units[-1]),
        **{name: short(float(mean.sel(rung=name))) for name in rungs},
        "least_gain": short(
            float((gauss.sel(rung="full") / gauss.sel(rung="norm")).min())
        ),
        "draws": config.ladder_draws,
    }
    room = 1 - table["gain"].sel(rung="full") / table["gain"].sel(rung="limit")
    room = room.sel(kind="gaussian")
    evidence["004.9"] = {
        "mean_room": short(float(room.mean())),
        "smallest_room": short(float(room.min())),
        "largest_room": short(float(room.max())),
    }
    bench.tell("LSTM certificates")
    gains = ladder.lstm_gains(config.lstm_units)
    of = lambda name: [short(v) for v in gains["gain"].sel(condition=name).values]
    evidence["004.10"] = {
        "units": list(config.lstm_units),
        "paper": of("paper"),
        "comparison": of("comparison"),
    }
    bench.tell("twins by gradient ascent")
    pairs = ladder.twins(config.twin_draws)
    evidence["004.11"] = {
        "nearest": short(max(row["twin"] / row["rate"] for row in pairs)),
        "cells": len(pairs),
    }
    data |= {"ladder": table, "lstm_gains": gains}
    return [figures.ladder_figure(table)]
