"""How the command is started in a process of its own."""

import json
import os
import pathlib


SMALL = pathlib.Path(__file__).parents[1] / "small_study.py"


def environment(**changes):
    kept = {k: v for k, v in os.environ.items() if not k.startswith("JAX_")}
    return kept | {"SMALL_STUDY": json.dumps(changes), "PYTHONHASHSEED": "0"}
