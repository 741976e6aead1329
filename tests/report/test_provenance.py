"""A result knows what decided its numbers."""

import dataclasses
import pathlib

import jax

from remanence.report import Bench
from remanence.report.provenance import fingerprint, provenance, provenance_in_words


@dataclasses.dataclass(frozen=True)
class Config:
    units: int = 3


def test_a_result_knows_its_configuration_seed_versions_precision_device_and_code():
    record = provenance(
        "memorization",
        Config(),
        Bench(folder=pathlib.Path(), seed=7),
        command="remanence reproduce memorization --seed 7",
        seconds=1.0,
    )
    assert record["configuration"] == {"units": 3} and record["seed"] == 7
    assert record["versions"]["jax"] == jax.__version__
    assert record["precision"] == {"measurements": "float64", "otherwise": "float32"}
    assert record["device"].startswith("cpu") and record["processor"]
    assert len(record["code"]) == 64 and record["command"].endswith("--seed 7")


def test_another_configuration_or_seed_is_another_result():
    one = fingerprint("memorization", Config(), 0)
    assert one == fingerprint("memorization", Config(), 0)
    others = {
        fingerprint("memorization", Config(units=4), 0),
        fingerprint("memorization", Config(), 1),
        fingerprint("fading-memory", Config(), 0),
    }
    assert one not in others and len(others) == 3


def test_a_page_says_lists_and_switches_in_words_and_leaves_out_what_was_not_set():
    known = {
        "time_limit": None,
        "configuration": {
            "learning_rate": 0.01,
            "periods": [[2, 11], [3, 7]],
            "kinds": ["mamba", "lstm"],
            "fast_compile": True,
            "memory": {"delayed symbol": {"lengths": [1, 4]}},
            "chorales": None,
        },
        "files": {"index.html": "0"},
    }
    assert provenance_in_words(known) == {
        "configuration": "learning rate 0.01, periods (2 11) (3 7), kinds mamba lstm, "
        "fast compile yes, memory (delayed symbol (lengths 1 4)), chorales none"
    }
