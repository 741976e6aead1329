"""Exponents of gated recurrences: means of log decays beside frames, and a Mamba of real size.

    python benchmarks/gated_spectrum.py [--json] [--long]

The same cell and inputs for both; answers are compared before times. `--long` adds a drawn
Mamba with the shape of the one of 130 million parameters (24 layers, 1536 x 16 states) on
2,048 tokens: seconds and peak memory, no peer.
"""

import json
import resource
import sys
import time

import jax.random as jr
import numpy as np

import remanence as rm
from remanence.nets.language_model import gated_language_model, GATES, mamba_gates


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
    frames, peer = seconds(lambda: rm.lyapunov_spectrum(net, tokens, k=states, interval=4), 1)
    ratios = peer / ours
    target = 100 if states == 512 else None
    gap = np.abs(closed.exponents[:4] - frames.exponents[:4]).max()
    assert gap < 0.05, f"frames and means differ by {gap}"
    return {
        "task": "exponents of one Mamba layer",
        "size": states,
        "ours": float(np.median(ours)),
        "peer": float(np.median(peer)),
        "ratio": float(np.median(ratios)),
        "spread": [float(ratios.min()), float(ratios.max())],
        "target": target,
        "met": target is None or bool(np.median(ratios) >= target),
    }


def large(tokens=2048):
    """All exponents of a Mamba that is drawn in the shape of a published one."""
    GATES["mamba"] = lambda units, *, key: mamba_gates(units, key=key, states=16)
    net = gated_language_model("mamba", tokens=50_280, width=768, layers=24, key=jr.key(0))
    text = np.random.default_rng(0).integers(0, 50_280, tokens)
    begun = time.perf_counter()
    found = rm.lyapunov_spectrum(net, text)
    return {
        "task": f"Mamba of 24 layers on {tokens} tokens",
        "size": len(found.exponents),
        "ours": time.perf_counter() - begun,
        "gigabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20,
    }


if __name__ == "__main__":
    rows = [beside_frames(width) for width in (8, 16, 32)]
    if "--json" in sys.argv:
        print(json.dumps(rows))
    else:
        rows += [large()] if "--long" in sys.argv else []
        for row in rows:
            print(", ".join(f"{name} {value}" for name, value in row.items()))
