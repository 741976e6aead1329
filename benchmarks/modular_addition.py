"""Full-batch training on modular addition: structured tables against plain torch.

The same network (embedding, ReLU RNN, unembedding; one bias a layer), the same
start, the same AdamW, the same number of steps. torch runs at its best thread
count. First the losses are compared, then the times. `cpu_ratio` is the same ratio
in processor seconds, which other work on the machine disturbs less.

    python benchmarks/modular_addition.py [--long] [--json]
"""

import argparse
import json
import os
import statistics
import sys
import time

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np

from remanence.subjects.modular_addition.all_pairs import pairs_of
from remanence.subjects.modular_addition.config import Recipe
from remanence.subjects.modular_addition.fit_modular import adamw, modular_network, table_loss
from remanence.subjects.modular_addition.task import Modular
from remanence.train import fit, trained


MODULUS, WIDTH, FRACTION, TARGET = 113, 128, 0.7, 3.0
TASK = Modular(MODULUS)
RECIPE = Recipe(modulus=MODULUS, steps=1, every=1, embedding=WIDTH, units=WIDTH)
ADAMW = adamw(1e-3, 1.0)


def problem(seed):
    """Network and training pairs of one seed."""
    key_split, key_net = jr.split(jr.key(seed))
    seen = TASK.training_pairs(FRACTION, key=key_split)
    net = modular_network(TASK, RECIPE, key=key_net)
    return net, pairs_of(seen, TASK.answers), jnp.asarray(seen)


def ours(net, pairs, seen, steps):
    """Mean loss over some steps of the library's own loop."""
    done = fit(net, table_loss, ADAMW, steps=steps, every=steps, key=jr.key(0), data=(pairs, seen))
    return float(done.history.loss[-1])


def batched(steps):
    """Ten seeds in one program: a lane after the other, none waits for Python."""

    def lane(args):
        net, pairs, seen = args
        _, history = trained(
            net, table_loss, ADAMW, steps=steps, every=steps, key=jr.key(0), data=(pairs, seen)
        )
        return history["loss"][-1]

    return jax.jit(lambda nets, pairs, seen: jax.lax.map(lane, (nets, pairs, seen)))


def torch_model(torch, net):
    """The same network in torch, with the same weights."""

    class Adder(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.embedding = torch.nn.Embedding(MODULUS + 1, WIDTH)
            self.rnn = torch.nn.RNN(WIDTH, WIDTH, nonlinearity="relu", batch_first=True)
            self.unembedding = torch.nn.Linear(WIDTH, MODULUS)

        def forward(self, tokens):
            states, _ = self.rnn(self.embedding(tokens))
            return self.unembedding(states[:, -1])

    model = Adder()
    of = lambda array: torch.tensor(np.array(array))
    with torch.no_grad():
        model.embedding.weight.copy_(of(net.embedding))
        model.rnn.weight_ih_l0.copy_(of(net.cell.W_x))
        model.rnn.weight_hh_l0.copy_(of(net.cell.W_h))
        model.rnn.bias_ih_l0.copy_(of(net.cell.b))
        model.rnn.bias_hh_l0.zero_()
        model.unembedding.weight.copy_(of(net.W_y))
        model.unembedding.bias.copy_(of(net.b_y))
    model.rnn.bias_hh_l0.requires_grad_(False)  # one bias acts, as in ours
    return model


def theirs(torch, net, pairs, steps, threads):
    """Mean loss over some steps of the plain torch loop; seconds passed and worked."""
    torch.set_num_threads(threads)
    model = torch_model(torch, net)
    a, b = np.asarray(pairs.a), np.asarray(pairs.b)
    tokens = torch.tensor(np.stack([a, b, np.full_like(a, MODULUS)], 1).astype(np.int64))
    answers = torch.tensor(np.asarray(pairs.answer).astype(np.int64))
    trained_ones = [p for p in model.parameters() if p.requires_grad]
    optimizer = torch.optim.AdamW(trained_ones, lr=1e-3, betas=(0.9, 0.98), weight_decay=1.0)
    losses, start, work = [], time.perf_counter(), time.process_time()
    for _ in range(steps):
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(tokens), answers)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    seconds = time.perf_counter() - start, time.process_time() - work
    return statistics.mean(losses), np.array(seconds)


def timed(work):
    """What the work gives; seconds passed and worked."""
    passed, worked = time.perf_counter(), time.process_time()
    done = work()
    seconds = time.perf_counter() - passed, time.process_time() - worked
    return done, np.array(seconds)


def row(task, size, mine, peer):
    """One line of the result: medians, ratio of each repeat, target."""
    ratios, worked = np.array(peer).T / np.array(mine).T
    mine, peer = [[float(passed) for passed, _ in side] for side in (mine, peer)]
    ratio = float(np.median(ratios))
    return {
        "task": task,
        "size": size,
        "ours": statistics.median(mine),
        "peer": statistics.median(peer),
        "ratio": ratio,
        "spread": [float(ratios.min()), float(ratios.max())],
        "cpu_ratio": float(np.median(worked)),
        "target": TARGET,
        "met": ratio >= TARGET,
    }


def main():
    """Compare answers, then times; print a table or JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--long", action="store_true")
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    try:
        import torch
    except ImportError:
        print("torch is not installed: nothing to compare with", file=sys.stderr)
        print("[]" if asked.json else "skipped")
        return
    steps, repeats = (50, 7) if asked.long else (10, 5)
    net, pairs, seen = problem(0)
    ours(net, pairs, seen, steps)
    counts = sorted({1, 2, os.cpu_count() or 1})
    quickest = {n: min(theirs(torch, net, pairs, 5, n)[1][0] for _ in range(2)) for n in counts}
    threads = min(quickest, key=lambda n: quickest[n])
    mine, peer = [], []
    for _ in range(repeats):
        loss, seconds = timed(lambda: ours(net, pairs, seen, steps))
        mine.append(seconds)
        other, seconds = theirs(torch, net, pairs, steps, threads)
        peer.append(seconds)
        if abs(loss - other) > 2e-3 * other:
            raise SystemExit(f"the losses differ: ours {loss}, torch {other}")
    size = f"P = {MODULUS}, {steps} steps, torch with {threads} thread(s)"
    rows = [row("training, one seed", size, mine, peer)]

    lanes, steps = [problem(seed) for seed in range(10)], max(steps // 5, 2)
    stacked = [jax.tree.map(lambda *x: jnp.stack(x), *part) for part in zip(*lanes, strict=True)]
    program = batched(steps)
    jax.block_until_ready(program(*stacked))
    mine, peer = [], []
    for _ in range(3):
        losses, seconds = timed(lambda: np.asarray(program(*stacked)))
        mine.append(seconds)
        done = [theirs(torch, net, pairs, steps, threads) for net, pairs, _ in lanes]
        peer.append(sum(seconds for _, seconds in done))
        if not np.allclose(losses, [loss for loss, _ in done], rtol=2e-3):
            raise SystemExit("the losses of the ten seeds differ")
    size = f"P = {MODULUS}, 10 seeds, {steps} steps"
    rows.append(row("training, ten seeds at once", size, mine, peer))
    if asked.json:
        print(json.dumps(rows))
        return
    for r in rows:
        print(
            f"{r['task']} ({r['size']}): ours {r['ours']:.2f} s, torch {r['peer']:.2f} s, "
            f"{r['ratio']:.2f} times ({r['spread'][0]:.2f} to {r['spread'][1]:.2f}; "
            f"{r['cpu_ratio']:.2f} in processor time), target {r['target']:g}: {'met' if r['met'] else 'not met'}"
        )


if __name__ == "__main__":
    main()
