"""A small drawn Mamba as a Hugging Face folder, without transformers."""

import json

import numpy as np
from safetensors.numpy import save_file


def save_tiny_mamba(folder, *, tokens=30, width=8, states=4, layers=2, seed=0):
    rng = np.random.default_rng(seed)
    draw = lambda *shape: rng.normal(0, shape[-1] ** -0.5, shape).astype(np.float32)
    ones = np.ones(width, np.float32)
    inner, rank = 2 * width, 2
    found = {"backbone.embeddings.weight": draw(tokens, width), "backbone.norm_f.weight": ones}
    for i in range(layers):
        mixer = f"backbone.layers.{i}.mixer"
        A = np.tile(np.log(np.arange(1, states + 1, dtype=np.float32)), (inner, 1))
        found |= {
            f"backbone.layers.{i}.norm.weight": ones,
            f"{mixer}.A_log": A,
            f"{mixer}.D": np.ones(inner, np.float32),
            f"{mixer}.in_proj.weight": draw(2 * inner, width),
            f"{mixer}.conv1d.weight": draw(inner, 1, 4),
            f"{mixer}.conv1d.bias": np.zeros(inner, np.float32),
            f"{mixer}.x_proj.weight": draw(rank + 2 * states, inner),
            f"{mixer}.dt_proj.weight": draw(inner, rank),
            f"{mixer}.dt_proj.bias": draw(inner) - 2,
            f"{mixer}.out_proj.weight": draw(width, inner),
        }
    folder.mkdir(parents=True, exist_ok=True)
    save_file(found, folder / "model.safetensors")
    config = {"model_type": "mamba", "num_hidden_layers": layers, "hidden_size": width}
    (folder / "config.json").write_text(json.dumps(config))
    return folder
