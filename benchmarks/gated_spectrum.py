"""Exponents of gated recurrences: means of log decays beside frames and beside perturbed states.

    python benchmarks/gated_spectrum.py [--json] [--long]

The same cell and inputs for both; answers are compared before times. With transformers
installed, a torch script that perturbs the states of its Mamba and divides, token by token, and
its forward pass on a CPU are peers too. `--long` adds the whole command on a folder with a drawn
Mamba in the shape of the one of 130 million parameters (24 layers, 1536 x 16 states) and 2,048
tokens, against ten minutes and 6 GB.
"""

import importlib.util
import json
import resource
import subprocess
import sys
import tempfile
import time

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np

import remanence as rm
from remanence.nets.language_model import gated_language_model


def seconds(call, repeats=3):
    """What a call gives, and the seconds of some, compiled already."""
    found, times = call(), []
    for _ in range(repeats):
        begun = time.perf_counter()
        call()
        times.append(time.perf_counter() - begun)
    return found, np.array(times)


def beside_frames(width, steps=512):
    """One layer of Mamba: 2 x width channels of 8 states."""
    net = gated_language_model("mamba", tokens=50, width=width, layers=1, key=jr.key(0))
    tokens = np.random.default_rng(0).integers(0, 50, steps)
    closed, ours = seconds(lambda: rm.lyapunov_spectrum(net, tokens))
    states = len(closed.exponents)
    frames, peer = seconds(lambda: rm.lyapunov_spectrum(net, tokens, k=states, interval=4))
    gap = np.abs(closed.exponents[:4] - frames.exponents[:4]).max()
    assert gap < 0.05, f"frames and means differ by {gap}"
    target = 100 if states == 512 else None
    return row("exponents of one Mamba layer", states, ours, peer, target, "frames")


def row(task, size, ours, peer, target, name):
    """One line of the table."""
    ratios = np.median(peer) / ours
    return {
        "task": task,
        "size": size,
        "peer_name": name,
        "ours": float(np.median(ours)),
        "peer": float(np.median(peer)),
        "ratio": float(np.median(ratios)),
        "spread": [float(ratios.min()), float(ratios.max())],
        "target": target,
        "met": target is None or bool(np.median(ratios) >= target),
    }


def beside_torch(width=128, layers=4, steps=256):
    """A drawn Mamba of transformers: all exponents, and the forward pass."""
    import torch
    import transformers

    sizes = {"hidden_size": width, "state_size": 16, "num_hidden_layers": layers}
    torch.manual_seed(0)
    model = transformers.MambaForCausalLM(transformers.MambaConfig(vocab_size=500, **sizes)).eval()
    with tempfile.TemporaryDirectory() as folder:
        model.save_pretrained(folder)
        net = rm.load(folder, quiet=True)
    tokens = np.random.default_rng(0).integers(0, 500, steps)
    closed, ours = seconds(lambda: rm.lyapunov_spectrum(net, tokens))
    first = steps - closed.layers[0].steps  # the same tokens count
    theirs, peer = seconds(lambda: perturbed(model, tokens, first), 1)
    means = [layer.exponents for layer in closed.layers]
    gap = np.abs(np.array(means) - theirs).max()
    assert gap < 1e-3, f"perturbed states and means differ by {gap}"
    size = len(closed.exponents)
    rows = [row("exponents of a Mamba", size, ours, peer, 1, "torch, perturbing states")]
    forward = eqx.filter_jit(lambda net, tokens: net(tokens))
    given = jnp.asarray(tokens)
    ours, our_times = seconds(lambda: jax.block_until_ready(forward(net, given)))

    def transformers_forward():
        with torch.no_grad():
            return model(torch.as_tensor(tokens)[None], use_cache=False).logits[0].numpy()

    logits, their_times = seconds(transformers_forward)
    assert np.abs(logits - np.asarray(ours)).max() < 1e-4 * np.abs(logits).max()
    task = f"forward pass of a Mamba on {steps} tokens"
    # Within 1.5 times of theirs.
    rows.append(row(task, width, our_times, their_times, 1 / 1.5, "transformers"))
    return rows


def perturbed(model, tokens, first, size=1e3):
    """Means of log|change of a state / what was added to it| from a token on, layer by layer.

    One row of the batch keeps its state, and one a layer has that layer's state moved.
    """
    import torch

    layers = model.config.num_hidden_layers
    total, cache = 0.0, None
    with torch.no_grad():
        for at, token in enumerate(tokens):
            moved = at >= first
            if moved:
                for i, layer in enumerate(cache.layers):
                    for part in (layer.recurrent_states[0], layer.conv_states[0]):
                        part[:] = part[:1].clone()
                    layer.recurrent_states[0][i + 1] += size
            word = torch.full((layers + 1, 1), int(token))
            cache = model(word, use_cache=True, cache_params=cache).cache_params
            if moved:
                states = [layer.recurrent_states[0] for layer in cache.layers]
                gaps = [state[i + 1] - state[0] for i, state in enumerate(states)]
                total = total + torch.log(torch.stack(gaps).double().abs() / size)
    return (total / (len(tokens) - first)).numpy()


def large(tokens=2048):
    """`remanence checkup` of a folder with a drawn Mamba in the shape of a published one."""
    import torch
    import transformers

    torch.manual_seed(0)
    model = transformers.MambaForCausalLM(transformers.MambaConfig(num_hidden_layers=24))
    with tempfile.TemporaryDirectory() as folder:
        model.save_pretrained(folder)
        del model
        text = f"{folder}/tokens.npy"
        np.save(text, np.random.default_rng(0).integers(0, 50_000, tokens))
        words = ["checkup", folder, "--inputs", text, "--json", "--no-page"]
        command = [sys.executable, "-m", "remanence", *words]
        begun = time.perf_counter()
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        took = time.perf_counter() - begun
    layers = json.loads(done.stdout)["layers"]
    states = sum(np.size(layer["exponents"]) * layer["multiplicity"] for layer in layers)
    assert states == 24 * 1536 * 16, states
    memory = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 2**20
    task = "checkup of a Mamba of 24 layers"
    limits = row(task, states, np.array([took]), np.array([600.0]), 1, "ten minutes")
    room = row("its memory, in GB", states, np.array([memory]), np.array([6.0]), 1, "6 GB")
    return [limits, room]


if __name__ == "__main__":
    rows = [beside_frames(width) for width in (8, 16, 32)]
    rows += beside_torch() if importlib.util.find_spec("transformers") else []
    rows += large() if "--long" in sys.argv else []
    if "--json" in sys.argv:
        print(json.dumps(rows))
    else:
        for row in rows:
            print(", ".join(f"{name} {value}" for name, value in row.items()))
