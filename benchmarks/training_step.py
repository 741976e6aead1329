"""One optimisation step of residual and Elman networks, and lanes of a sweep, against torch.

    python benchmarks/training_step.py [--long] [--json]

A step is loss, gradient and Adam at T = 784, batch 128, N = 128. torch is given its
best of: an eager loop over `unbind`, `torch.compile` of it where that runs, `nn.RNN`
for Elman; denormals flushed; the better of 1 and 2 threads. Ours splits the batch
over as many CPU devices as there are cores; `share` is the rate of the step's
products over the machine's own float32 product rate, measured in the same run.
Sweeps: lanes at N = 32 as one batch, a few steps in one program as a sweep makes them,
against torch training them one after another.
"""

import argparse
import json
import os
import sys


CORES = len(os.sched_getaffinity(0))
os.environ["XLA_FLAGS"] = (
    f"--xla_force_host_platform_device_count={CORES} --xla_cpu_multi_thread_eigen=false"
)

import equinox as eqx  # noqa: E402
import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import jax.random as jr  # noqa: E402
import numpy as np  # noqa: E402
import optax  # noqa: E402
from _devices import mean_value_and_grad  # noqa: E402
from _turns import interleaved, product_rate  # noqa: E402
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P  # noqa: E402

from remanence.cells import Elman, Residual  # noqa: E402
from remanence.nets import on_batch, Recurrent  # noqa: E402


try:
    import torch
except ImportError:
    torch = None

RADIUS, COUPLING, RATE = 0.99, 0.1, 1e-3


def network(kind: str, units: int, key) -> Recurrent:
    """A pixel classifier of that kind."""
    key_cell, key_net = jr.split(key)
    if kind == "elman":
        cell = Elman.init(1, units, key=key_cell)
    else:
        cell = Residual.init(1, units, key=key_cell, residual=RADIUS, coupling=COUPLING)
    return Recurrent.init(cell, outputs=10, key=key_net, readout="last")


def loss(net: Recurrent, xs, ys):
    """Cross-entropy of the readout after the last step."""
    logits = on_batch(net, xs)
    return optax.softmax_cross_entropy_with_integer_labels(logits, ys).mean()


def our_step(net: Recurrent, xs, ys):
    """A function that makes one step, the batch split over the devices."""
    optimizer = optax.adam(RATE)
    params, rest = eqx.partition(net, eqx.is_inexact_array)
    devices = Mesh(np.array(jax.devices()), ("batch",))
    split, whole = NamedSharding(devices, P("batch")), NamedSharding(devices, P())
    state = list(jax.device_put((params, optimizer.init(params)), whole))
    batch = jax.device_put((xs, ys), split)
    slope = mean_value_and_grad(lambda params, batch: loss(eqx.combine(params, rest), *batch))

    @jax.jit
    def step(params, memory, batch):
        value, gradient = slope(params, batch)
        updates, memory = optimizer.update(gradient, memory)
        return optax.apply_updates(params, updates), memory, value

    def once() -> float:
        *state[:], value = step(*state, batch)
        return float(value)

    return once


def their_steps(net: Recurrent, xs: np.ndarray, ys: np.ndarray, *, kind: str) -> dict:
    """Functions that make one step in torch, by name of the way."""
    copy = lambda leaf: torch.nn.Parameter(torch.tensor(np.asarray(leaf)))
    cell = net.cell
    weights = [copy(leaf) for leaf in (cell.W_h, cell.W_x, cell.b, net.W_y, net.b_y)]
    inputs = torch.tensor(xs.transpose(1, 0, 2).copy())
    labels = torch.tensor(ys, dtype=torch.long)

    def looped(W_h, W_x, b, inputs):
        h = torch.zeros(inputs.shape[1], W_h.shape[0])
        drives = inputs @ W_x.T + b
        for drive in drives.unbind(0):
            y = torch.tanh(torch.addmm(drive, h, W_h.T))
            h = y if kind == "elman" else torch.add(COUPLING * y, h, alpha=RADIUS)
        return h

    def stepper(final, parameters):
        optimizer = torch.optim.Adam(parameters, lr=RATE)

        def once() -> float:
            optimizer.zero_grad()
            logits = final() @ weights[3].T + weights[4]
            value = torch.nn.functional.cross_entropy(logits, labels)
            value.backward()
            optimizer.step()
            return float(value.detach())

        return once

    ways = {"eager loop": stepper(lambda: looped(*weights[:3], inputs), weights)}
    if kind == "elman":
        rnn = torch.nn.RNN(1, cell.W_h.shape[0])
        with torch.no_grad():
            rnn.weight_hh_l0.copy_(weights[0])
            rnn.weight_ih_l0.copy_(weights[1])
            rnn.bias_ih_l0.copy_(weights[2])
            rnn.bias_hh_l0.zero_()
        ways["nn.RNN"] = stepper(lambda: rnn(inputs)[0][-1], [*rnn.parameters(), *weights[3:]])
    return ways


def with_compiled(ways: dict, net, xs, ys, *, kind: str, steps: int) -> str:
    """Add `torch.compile` of a step cell, if it runs here; say what happened."""
    cell = net.cell
    W_h, W_x, b, W_y, b_y = (
        torch.nn.Parameter(torch.tensor(np.asarray(leaf)))
        for leaf in (cell.W_h, cell.W_x, cell.b, net.W_y, net.b_y)
    )
    inputs = torch.tensor(xs.transpose(1, 0, 2).copy())
    labels = torch.tensor(ys, dtype=torch.long)

    # The whole loop takes minutes to compile; a block of steps is what is affordable.
    def block(h, drives, W_h):
        for drive in drives.unbind(0):
            y = torch.tanh(torch.addmm(drive, h, W_h.T))
            h = y if kind == "elman" else torch.add(COUPLING * y, h, alpha=RADIUS)
        return h

    try:
        quick = torch.compile(block)
        optimizer = torch.optim.Adam([W_h, W_x, b, W_y, b_y], lr=RATE)

        def once() -> float:
            optimizer.zero_grad()
            h = torch.zeros(inputs.shape[1], W_h.shape[0])
            drives = inputs @ W_x.T + b
            for part in drives.split(steps):
                h = quick(h, part, W_h)
            value = torch.nn.functional.cross_entropy(h @ W_y.T + b_y, labels)
            value.backward()
            optimizer.step()
            return float(value.detach())

        once()
    except Exception as error:
        return f"torch.compile does not run here ({type(error).__name__})"
    ways["torch.compile"] = once
    return f"torch.compile in blocks of {steps} steps"


def step_row(kind: str, size: dict, repeats: int, say) -> dict:
    """Ours against torch's best on one step."""
    N, B, T = size["N"], size["B"], size["T"]
    net = network(kind, N, jr.key(0))
    xs = np.asarray(jr.uniform(jr.key(1), (B, T, 1)))
    ys = np.asarray(jr.randint(jr.key(2), (B,), 0, 10))
    contestants = {"ours": our_step(net, xs, ys)}
    if torch is not None:
        ways = their_steps(net, xs, ys, kind=kind)
        say(with_compiled(ways, net, xs, ys, kind=kind, steps=28))
        for name, once in ways.items():
            for threads in sorted({1, CORES}):
                contestants[f"{name}, {threads} threads"] = _threaded(once, threads)
        first, second = contestants["ours"](), next(iter(ways.values()))()
        if abs(first - second) > 1e-3 * abs(second):
            raise SystemExit(f"the losses differ: {first} and {second}")
    for once in contestants.values():
        once()
    times = interleaved(contestants, repeats)
    rate = product_rate(np.float32)
    return _row(
        f"training step, {kind}",
        f"T={T}, batch {B}, N={N}",
        times,
        2.0,
        say,
        share=6 * T * B * N * N / np.median(times["ours"]) / rate,
        share_target=0.55,
    )


def _threaded(once, threads: int):
    def with_threads() -> float:
        torch.set_num_threads(threads)
        return once()

    return with_threads


def lanes_row(repeats: int, say) -> dict:
    """Sixteen small networks at once, against torch one after another; a few steps each."""
    N, B, T, lanes, steps = 32, 64, 64, 16, 8
    nets = [network("residual", N, key) for key in jr.split(jr.key(0), lanes)]
    xs = np.asarray(jr.uniform(jr.key(1), (B, T, 1)))
    ys = np.asarray(jr.randint(jr.key(2), (B,), 0, 10))
    optimizer = optax.adam(RATE)
    parts = [eqx.partition(net, eqx.is_inexact_array) for net in nets]
    rest = parts[0][1]
    stacked = jax.tree.map(lambda *a: jnp.stack(a), *[part for part, _ in parts])
    devices = Mesh(np.array(jax.devices()), ("lane",))
    split = NamedSharding(devices, P("lane"))

    def one(params, memory):
        def step(carry, _):
            params, memory = carry
            value, gradient = jax.value_and_grad(
                lambda params: loss(eqx.combine(params, rest), xs, ys)
            )(params)
            updates, memory = optimizer.update(gradient, memory)
            return (optax.apply_updates(params, updates), memory), value

        end, values = jax.lax.scan(step, (params, memory), None, length=steps)
        return *end, values[0]

    step = jax.jit(
        jax.shard_map(
            jax.vmap(one),
            mesh=devices,
            in_specs=(P("lane"), P("lane")),
            out_specs=P("lane"),
            check_vma=False,
        )
    )
    memory = jax.vmap(optimizer.init)(stacked)
    state = [jax.device_put(stacked, split), jax.device_put(memory, split)]

    def ours() -> float:
        *state[:], value = step(*state)
        return float(value[0])

    contestants = {"ours": ours}
    if torch is not None:
        ways = [their_steps(net, xs, ys, kind="residual")["eager loop"] for net in nets]
        contestants["eager loop, 1 threads"] = _threaded(
            lambda: sum(once() for once in ways for _ in range(steps)), 1
        )
        first, second = ours(), ways[0]()
        if abs(first - second) > 1e-3 * abs(second):
            raise SystemExit(f"the losses differ: {first} and {second}")
    for once in contestants.values():
        once()
    times = interleaved(contestants, repeats)
    size = f"{lanes} lanes, N={N}, {steps} steps"
    return _row("lanes of a sweep, residual", size, times, 10, say)


def _row(task: str, size: str, times: dict, target: float, say, **more) -> dict:
    ours = float(np.median(times["ours"]))
    rivals = {name: t for name, t in times.items() if name != "ours"}
    row = {"task": task, "size": size, "ours": ours, "target": target, **more}
    for name, t in times.items():
        say(f"  {name}: median {1e3 * np.median(t):.1f} ms, least {1e3 * t.min():.1f}")
    if not rivals:
        say("torch is not installed: no rival")
        return row | {"peer": None, "ratio": float("nan"), "spread": None, "met": None}
    best = min(rivals, key=lambda name: np.median(rivals[name]))
    ratios = rivals[best] / times["ours"]
    share = row.get("share")
    met = bool(np.median(ratios) >= target and (share is None or share >= row["share_target"]))
    say(
        f"{task} ({size}): {np.median(ratios):.2f} times {best} "
        f"({ratios.min():.2f} to {ratios.max():.2f}), target {target}"
        + (f", {share:.0%} of the product rate, target {row['share_target']:.0%}" if share else "")
        + (": met" if met else ": not met")
    )
    return row | {
        "peer": float(np.median(rivals[best])),
        "peer_name": f"torch: {best}",
        "ratio": float(np.median(ratios)),
        "spread": [float(ratios.min()), float(ratios.max())],
        "met": met,
    }


def main() -> None:
    """Run, print, and with --json print rows only."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--long", action="store_true", help="more repeats")
    parser.add_argument("--json", action="store_true", help="one JSON list of rows")
    options = parser.parse_args()
    say = (lambda line: print(line, file=sys.stderr)) if options.json else print
    if torch is not None:
        torch.set_flush_denormal(True)
    repeats = 15 if options.long else 7
    size = {"N": 128, "B": 128, "T": 784}
    rows = [step_row(kind, size, repeats, say) for kind in ("residual", "elman")]
    rows.append(lanes_row(repeats, say))
    if options.json:
        print(json.dumps(rows))


if __name__ == "__main__":
    main()
