"""torch's outputs for small networks: live where torch is, stored ones elsewhere.

`python tests/torch_cases.py` writes the stored file anew.
"""

import itertools
import pathlib

import numpy as np
from safetensors.numpy import load_file, save_file


STORED = pathlib.Path(__file__).parent / "fixtures" / "torch.safetensors"
CASES = [
    f"{kind}-{layers}-{'bias' if bias else 'plain'}"
    for kind, layers, bias in itertools.product(
        ("RNN", "RELU", "LSTM", "GRU"), (1, 3), (True, False)
    )
]


def module(case: str, seed: int = 0):
    """The torch module of a case."""
    import torch

    kind, layers, bias = case.split("-")
    torch.manual_seed(seed)
    make = getattr(torch.nn, "RNN" if kind == "RELU" else kind)
    options = {"nonlinearity": "relu"} if kind == "RELU" else {}
    return make(3, 5, num_layers=int(layers), bias=bias == "bias", **options)


def inputs(case: str) -> np.ndarray:
    """Seven steps of three numbers."""
    rng = np.random.default_rng(CASES.index(case))
    return rng.normal(size=(7, 3)).astype(np.float32)


def answers(case: str) -> dict[str, np.ndarray]:
    """Weights under torch's names, and the outputs as `outputs`."""
    import torch

    net = module(case)
    with torch.no_grad():
        outputs = net(torch.from_numpy(inputs(case)))[0].numpy()
    weights = {name: t.numpy() for name, t in net.state_dict().items()}
    return weights | {"outputs": outputs}


def stored(case: str) -> dict[str, np.ndarray]:
    """The same, from the stored file."""
    everything = load_file(STORED)
    start = f"{case}/"
    return {k.removeprefix(start): t for k, t in everything.items() if k.startswith(start)}


if __name__ == "__main__":
    save_file({f"{case}/{name}": t for case in CASES for name, t in answers(case).items()}, STORED)
