"""A folder as Hugging Face's libraries save one: `config.json` and the weights beside it.

Recurrent language models are read by the file of their family, other models for the RNN,
LSTM and GRU layers in them. Weights are `model.safetensors`, the files that `model.safetensors.index.json` names, or
`pytorch_model.bin`. Nothing is fetched, and no code of the folder is run.
"""

import json
import pathlib
from collections.abc import Callable
from typing import Any

from ...nets import Recurrent
from .. import safetensors, state_dict, torch_file
from ..reading import Options, Reading, refused_misfits, Taken
from .gated_layers import griffin_layer, mamba2_layer, mamba_layer, xlstm_layer
from .model import Family, Source
from .qwen3_next import delta_layers, qwen3_next_layer
from .rwkv import NAMES, rwkv4, rwkv7


LARGEST_JSON = 64 * 2**20
INDEX = "model.safetensors.index.json"
WEIGHTS = ("model.safetensors", INDEX, "pytorch_model.bin")
LAYER = "gated delta layer"
MAMBA = ("backbone", "layers", "embeddings", "norm_f", ("layer_norm_epsilon", 1e-5))
GEMMA = ("model", "layers", "embed_tokens", "final_norm", ("rms_norm_eps", 1e-6), 1.0)
XLSTM = ("backbone", "blocks", "embeddings", "out_norm", ("norm_eps", 1e-6))
QWEN = ("model", "layers", "embed_tokens", "norm", ("rms_norm_eps", 1e-6), 1.0)
FAMILIES: dict[str, Callable[[Source], Recurrent]] = {
    "mamba": Family(mamba_layer, *MAMBA, tied=True),
    "falcon_mamba": Family(mamba_layer, *MAMBA, tied=True),
    "mamba2": Family(mamba2_layer, *MAMBA),
    "recurrent_gemma": Family(
        griffin_layer, *GEMMA, ("logits_soft_cap", 30.0), scaled=True, tied=True
    ),
    "rwkv": rwkv4,
    "xlstm": Family(xlstm_layer, *XLSTM, cap=("output_logit_soft_cap", 30.0)),
    "qwen3_next": Family(qwen3_next_layer, *QWEN),
}
"""The readers of recurrent language models, by `model_type`."""


def is_model(folder: pathlib.Path) -> bool:
    """Whether a folder holds one model: a configuration, or an index, beside its weights."""
    there = [name for name in WEIGHTS if (folder / name).is_file()]
    return INDEX in there or bool(there and (folder / "config.json").is_file())


def networks(folder: pathlib.Path) -> dict[str, Reading]:
    """The language model of a folder, or every RNN, LSTM and GRU among its weights."""
    config = _json(folder / "config.json")
    kind = config.get("model_type") if isinstance(config, dict) else None
    tensors = safetensors.finite(_tensors(folder))
    if isinstance(kind, str) and kind in FAMILIES:
        source = Source(tensors, config)
        parts = delta_layers(source) if kind == "qwen3_next" else {}
        layers = {name: _reading(part, source, Taken(LAYER, name)) for name, part in parts.items()}
        return {"": _reading(FAMILIES[kind], source, _whole(kind))} | layers
    if isinstance(kind, str) and not any(map(state_dict.LAYER.match, tensors)):
        raise ValueError(
            f"{folder.name} holds a model of type {kind!a:.60}, and none of torch's RNN, "
            f"LSTM and GRU is in it; one with them, or of type {', '.join(FAMILIES)} would do"
        )
    return state_dict.networks(tensors)


def rwkv7_networks(tensors: safetensors.Tensors) -> dict[str, Reading]:
    """The model of a state dict with the names of RWKV-7, if it is one."""
    found = {"": _reading(rwkv7, Source(tensors, {}), _whole("rwkv7"))}
    return found if tensors.keys() >= NAMES else {}


def _whole(kind: str) -> Taken:
    return Taken(f"{kind} language model", "", "its own", "its own")


def _reading(build: Callable[[Source], Recurrent], source: Source, taken: Taken) -> Reading:
    """A language model or a layer of one, built when it is wanted."""

    @refused_misfits("the weights do not fit the configuration")
    def read(options: Options) -> tuple[Recurrent, Taken]:
        return build(source), taken

    return read


def _tensors(folder: pathlib.Path) -> safetensors.Tensors:
    there = [name for name in WEIGHTS if (folder / name).is_file()]
    if there[0] == WEIGHTS[0]:
        return safetensors.read(folder / WEIGHTS[0])[0]
    found: safetensors.Tensors = {}
    if there[0] != INDEX:
        for tensors in torch_file.read(folder / WEIGHTS[2]).values():
            found |= tensors
        return found
    index = _json(folder / INDEX)
    places = index.get("weight_map") if isinstance(index, dict) else None
    for name in sorted({*places.values()}, key=str) if isinstance(places, dict) else [None]:
        if not isinstance(name, str) or pathlib.PurePath(name).name != name:
            raise ValueError(f"{INDEX} names {name!a:.60}; a file beside it would do")
        if not (folder / name).is_file():
            raise ValueError(f"{INDEX} names {name!a:.60}, which is not in the folder")
        found |= safetensors.read(folder / name)[0]
    return found


def _json(path: pathlib.Path) -> Any:
    if not path.is_file():
        return {}
    if path.stat().st_size > LARGEST_JSON:
        raise ValueError(f"{path.name} is above {LARGEST_JSON >> 20} MiB")
    try:
        return json.loads(path.read_bytes())
    except (ValueError, RecursionError):
        raise ValueError(f"{path.name} is not JSON") from None
