"""Truncated evaluation in parallel against the scan and torch; a language-model step against torch.

    python benchmarks/truncation.py [--long] [--json]

Answers are compared before times. Contestants are interleaved, each after a pause and
a call that is not counted, since idle threads of the one before spin for a while; a row
gives the median of each and the ratio theirs / ours with its spread over the repeats.
A training step is ours on one device or with half of the batch on each of two,
whichever is better, as torch has the better of one and two threads. About a minute idle;
--long adds longer streams.
"""

import argparse
import json
import os
import statistics
import sys


CORES = len(os.sched_getaffinity(0))
os.environ["XLA_FLAGS"] = f"--xla_force_host_platform_device_count={CORES}"

import equinox as eqx  # noqa: E402
import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import jax.random as jr  # noqa: E402
import numpy as np  # noqa: E402
import optax  # noqa: E402
from _devices import mean_value_and_grad  # noqa: E402
from _turns import interleaved, product_rate  # noqa: E402
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P  # noqa: E402

from remanence.cells import Elman, LSTM  # noqa: E402
from remanence.measure import contraction, truncation_window  # noqa: E402
from remanence.nets import Recurrent, token_cross_entropy, truncate  # noqa: E402


try:
    import torch

    # Gates that saturate make denormals, which x86 computes in microcode.
    torch.set_flush_denormal(True)
except ImportError:
    torch = None


def row(task, size, ours, peer, target, who):
    """One line of the table, from paired times."""
    ratios = [p / o for o, p in zip(ours, peer, strict=True)]
    ratio = statistics.median(ratios)
    return {
        "task": task,
        "size": size,
        "peer_name": who,
        "ours": statistics.median(ours),
        "peer": statistics.median(peer),
        "ratio": ratio,
        "spread": [min(ratios), max(ratios)],
        "target": target,
        "met": None if target is None else bool(ratio >= target),
    }


def drawn(kind, inputs, units):
    """A cell that a proof can truncate."""
    key = jr.key(0)
    if kind == "rnn":
        cell = Elman.init(inputs, units, key=key)
        return Elman(0.7 * cell.W_h / jnp.linalg.norm(cell.W_h, ord=2), cell.W_x, cell.b)
    cell = LSTM.init(inputs, units, key=key)
    return LSTM(0.03 * cell.W_h, 0.1 * cell.W_x, cell.b)


def torch_twin(cell, inputs, units):
    """torch's module with the same weights."""
    kind = torch.nn.RNN if isinstance(cell, Elman) else torch.nn.LSTM
    module = kind(inputs, units)
    with torch.no_grad():
        module.weight_hh_l0.copy_(torch.from_numpy(np.array(cell.W_h)))
        module.weight_ih_l0.copy_(torch.from_numpy(np.array(cell.W_x)))
        module.bias_ih_l0.copy_(torch.from_numpy(np.array(cell.b)))
        module.bias_hh_l0.zero_()
    return module


def streams(kind, units, time_steps, repeats, *, singly=True):
    """One long stream: scan, truncated in blocks, torch; `singly`, every window apart."""
    inputs = 16
    cell = drawn(kind, inputs, units)
    xs = jr.uniform(jr.key(1), (time_steps, inputs), minval=-1.0, maxval=1.0)
    proof = contraction(cell, input_bound=1.0, metric="norm" if kind == "rnn" else "diagonal")
    window = truncation_window(proof, error=1e-3)
    net = Recurrent(cell)
    scan = eqx.filter_jit(net)
    near = {"blocks": eqx.filter_jit(truncate(net, window, block=4 * window))}
    if singly:
        near["window"] = eqx.filter_jit(truncate(net, window))
    exact = np.asarray(scan(xs))
    for name, call in near.items():
        gap = float(np.max(np.linalg.norm(exact - np.asarray(call(xs)), axis=1)))
        assert gap <= 1.1e-3, f"{name} is {gap} away, proved 1e-3"
    calls = {
        name: lambda call=call: jax.block_until_ready(call(xs))
        for name, call in {"scan": scan, **near}.items()
    }
    if torch is not None:
        module = torch_twin(cell, inputs, units)
        feed = torch.from_numpy(np.array(xs))[:, None]
        with torch.inference_mode():
            theirs = module(feed)[0][:, 0].numpy()
        assert np.allclose(theirs, exact, atol=1e-4), "torch computes something else"

        def peer():
            with torch.inference_mode():
                module(feed)

        calls["torch"] = peer
    times = interleaved(calls, repeats)
    size = f"N={units} T={time_steps} k={window}"
    rows = []
    for ours in near:
        for other in ("scan", "torch"):
            if other in times:
                target = 1.0 if ours == "blocks" else None
                rows.append(
                    row(
                        f"{kind}: {ours} against {other}",
                        size,
                        times[ours],
                        times[other],
                        target,
                        "our own scan" if other == "scan" else "torch",
                    )
                )
    return rows


STEPS = 4
"""Training steps a call: `train.fit` makes many in one program, torch one after the other."""


def our_steps(net, tokens):
    """Functions that make some steps, by name: one device, or half of the batch a core."""
    optimizer = optax.adam(1e-3)
    params, rest = eqx.partition(net, eqx.is_inexact_array)
    mesh = Mesh(np.array(jax.devices()), ("batch",))
    where = {
        "one device": (jax.devices()[0], jax.devices()[0], jax.value_and_grad),
        "a device a core": (
            NamedSharding(mesh, P()),
            NamedSharding(mesh, P("batch")),
            mean_value_and_grad,
        ),
    }

    def stepper(whole, split, value_and_grad):
        price = lambda params, rows: token_cross_entropy(eqx.combine(params, rest), rows)

        def several(params, memory, rows):
            def step(carry, _):
                params, memory = carry
                value, slope = value_and_grad(price)(params, rows)
                updates, memory = optimizer.update(slope, memory)
                return (optax.apply_updates(params, updates), memory), value

            end, values = jax.lax.scan(step, (params, memory), None, length=STEPS)
            return values[0], *end

        quick = jax.jit(several, donate_argnums=(0, 1))
        copies = jax.tree.map(jnp.copy, (params, optimizer.init(params)))
        held = list(jax.device_put(copies, whole))
        rows = jax.device_put(jnp.asarray(tokens), split)

        def once():
            value, *held[:] = quick(*held, rows)
            return float(value)

        return once

    return {name: stepper(*chosen) for name, chosen in where.items()}


def training_step(units, embedding, vocabulary, batch, length, repeats):
    """Steps of Adam on an LSTM language model against torch's best thread count."""
    if torch is None:
        return []
    tokens = np.random.default_rng(0).integers(0, vocabulary, (batch, length + 1))
    key_cell, key_net = jr.split(jr.key(0))
    cell = LSTM.init(embedding, units, key=key_cell)
    net = Recurrent.init(cell, outputs=vocabulary, key=key_net, tokens=vocabulary)
    net = eqx.tree_at(lambda n: n.W_y, net, 0.1 * net.W_y)
    module = torch.nn.LSTM(embedding, units)
    embed = torch.nn.Embedding(vocabulary, embedding)
    linear = torch.nn.Linear(units, vocabulary)
    with torch.no_grad():
        for name, value in torch_twin(cell, embedding, units).state_dict().items():
            module.state_dict()[name].copy_(value)
        embed.weight.copy_(torch.from_numpy(np.array(net.embedding)))
        linear.weight.copy_(torch.from_numpy(np.array(net.W_y)))
        linear.bias.zero_()
    weights = [*module.parameters(), *embed.parameters(), *linear.parameters()]
    adam = torch.optim.Adam(weights, lr=1e-3)
    feed = torch.from_numpy(tokens.T.copy())

    def peer():
        adam.zero_grad()
        logits = linear(module(embed(feed[:-1]))[0])
        price = torch.nn.functional.cross_entropy(
            logits.reshape(-1, vocabulary), feed[1:].reshape(-1)
        )
        price.backward()
        adam.step()
        return price.item()

    calls = our_steps(net, tokens)
    mine, first = list(calls), peer()
    for name, call in calls.items():
        assert abs(call() - first) < 1e-3 * first, f"the loss of {name} differs"
    for count in range(1, CORES + 1):

        def threaded(count=count):
            torch.set_num_threads(count)
            for _ in range(STEPS):
                peer()

        calls[f"torch-{count}"] = threaded
    times = interleaved(calls, repeats)
    quickest = lambda names: min(names, key=lambda n: statistics.median(times[n]))
    ours, best = quickest(mine), quickest(calls.keys() - mine)
    size = f"N={units} in={embedding} V={vocabulary} {batch}x{length}, {STEPS} steps"
    positions = batch * length  # of fewer tokens each is embedded once
    flops = positions * (4 * units + vocabulary) + min(positions, vocabulary) * 4 * embedding
    share = 6 * STEPS * units * flops / statistics.median(times[ours]) / product_rate(np.float32)
    return [
        {"share": share}
        | row(
            "character-model step" if vocabulary < 1000 else "language-model step",
            size,
            times[ours],
            times[best],
            1.3,
            best.replace("-", ", threads ") + f" (ours: {ours})",
        )
    ]


def main():
    """Print the rows."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--long", action="store_true")
    parser.add_argument("--json", action="store_true")
    chosen = parser.parse_args()
    repeats = 11
    models = [(128, 32, 65, 32, 64), (128, 128, 10_000, 20, 35), (256, 256, 10_000, 20, 35)]
    models.append((256, 256, 33_278, 20, 35))
    lengths = [(64, 4096), (128, 4096), (256, 4096), (512, 2048)]
    lengths += [(64, 65536), (256, 16384)] if chosen.long else []
    fewer = lambda vocabulary: repeats if vocabulary < 20_000 else 4  # seconds a call
    tasks = [lambda size=size: training_step(*size, fewer(size[2])) for size in models] + [
        lambda kind=kind, N=N, T=T: streams(kind, N, T, repeats, singly=(N, T) == (64, 4096))
        for kind in ("rnn", "lstm")
        for N, T in lengths
    ]
    if torch is None:
        print("torch is not installed: its rows are left out", file=sys.stderr)
    rows = []
    for task in tasks:
        found = task()
        rows += found
        if not chosen.json:
            show(found)
    if chosen.json:
        print(json.dumps(rows))


def show(rows):
    """The rows as lines, as soon as they are there."""
    for r in rows:
        low, high = r["spread"]
        verdict = {None: "", True: "met", False: "not met"}[r["met"]]
        print(
            f"{r['task']:<34} {r['size']:<34} ours {r['ours'] * 1e3:8.2f} ms  "
            f"theirs {r['peer'] * 1e3:8.2f} ms  ratio {r['ratio']:5.2f} ({low:.2f} to {high:.2f}) {verdict}",
            flush=True,
        )


if __name__ == "__main__":
    main()
