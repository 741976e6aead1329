"""A folder as Hugging Face's libraries save one: `config.json` and the weights beside it.

Weights are `model.safetensors`, the files that `model.safetensors.index.json` names, or
`pytorch_model.bin`. Nothing is fetched, and no code of the folder is run.
"""

import json
import pathlib
from typing import Any

from . import safetensors, state_dict, torch_file
from .reading import Reading


LARGEST_JSON = 64 * 2**20
INDEX = "model.safetensors.index.json"
WEIGHTS = ("model.safetensors", INDEX, "pytorch_model.bin")


def is_model(folder: pathlib.Path) -> bool:
    """Whether a folder holds one model: a configuration, or an index, beside its weights."""
    there = [name for name in WEIGHTS if (folder / name).is_file()]
    return INDEX in there or bool(there and (folder / "config.json").is_file())


def networks(folder: pathlib.Path) -> dict[str, Reading]:
    """Every RNN, LSTM and GRU among the weights of a folder."""
    tensors = safetensors.finite(_tensors(folder))
    try:
        return state_dict.networks(tensors)
    except ValueError:
        config = _json(folder / "config.json")
        kind = config.get("model_type") if isinstance(config, dict) else None
        if any(map(state_dict.LAYER.match, tensors)) or not isinstance(kind, str):
            raise
        raise ValueError(
            f"{folder.name} holds a model of type {kind!a:.60}, and none of torch's RNN, "
            "LSTM and GRU is in it; a model with one of them would do"
        ) from None


def _tensors(folder: pathlib.Path) -> safetensors.Tensors:
    if (folder / WEIGHTS[0]).is_file():
        return safetensors.read(folder / WEIGHTS[0])[0]
    if (folder / INDEX).is_file():
        index = _json(folder / INDEX)
        places = index.get("weight_map") if isinstance(index, dict) else None
        names = {*places.values()} if isinstance(places, dict) else {None}
        found: safetensors.Tensors = {}
        for name in sorted(names, key=str):
            if not isinstance(name, str) or pathlib.PurePath(name).name != name:
                raise ValueError(f"{INDEX} names {name!a:.60}; a file beside it would do")
            found |= safetensors.read(folder / name)[0]
        return found
    scopes = torch_file.read(folder / WEIGHTS[2])
    return {name: t for tensors in scopes.values() for name, t in tensors.items()}


def _json(path: pathlib.Path) -> Any:
    if not path.is_file():
        return {}
    if path.stat().st_size > LARGEST_JSON:
        raise ValueError(f"{path.name} is above {LARGEST_JSON >> 20} MiB")
    try:
        return json.loads(path.read_bytes())
    except (ValueError, RecursionError):
        raise ValueError(f"{path.name} is not JSON") from None
