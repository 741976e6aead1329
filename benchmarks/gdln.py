"""Gated linear networks: structured training, a core each, against the obvious one.

The obvious implementation forms W_o W_h W_i, subtracts, masks, and lets JAX
differentiate; optax's SGD with momentum; a thousand steps a call; one run at a time.
It is timed with all cores and pinned to one (where it is often faster: its matrices
are too small to share), and the better of the two counts.
Ours is `momentum_sgd` (same steps, same stop) over a sweep, one run a core; for the
full mask also `gradient_flow` to the same loss. Beside the wall clock of the whole
machine stands the processor time of one core against one core, which a busy machine
blurs less: the obvious one cannot use a second core, ours uses them all.

    python benchmarks/gdln.py [--long] [--json]

The short form trains three drawn cells to the document's stop with ours and times
the obvious one on a part of each; then fixed numbers of steps of many cells. The
long one trains the three cells to the stop with both, and a sweep of 60 cells with
ours. The obvious one's total over the 60 is never run: it is its measured rate times
the same steps, and is called extrapolated.
"""

import argparse
import concurrent.futures
import functools
import json
import multiprocessing
import os
import statistics
import sys
import time

import jax
import jax.numpy as jnp
import numpy as np
import optax

from remanence.nets.gated_linear import GatedLinear
from remanence.tasks.language_pairs import published_pairs
from remanence.train.gradient_flow import gradient_flow
from remanence.train.momentum import momentum_sgd
from remanence.train.pairs import PairRun
from remanence.train.side_by_side import side_by_side


CELLS = ((0.301, 1), (0.351, 1), (0.401, 0))
STOP = {"diagonal": 1e-6 / 64, "full": 1e-6}
SIXTY = [(f / 1_000, s) for s in range(6) for f in range(271, 461, 20)]
CORES = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else [0]


def said(sentence):
    """What happens, on stderr."""
    sys.stderr.write(sentence + "\n")
    sys.stderr.flush()


def drawn(fraction, seed, scale=1e-2, **sizes):
    """A run with the document's draw."""
    languages = sizes.get("languages", 10)
    net = GatedLinear.published(seed=seed, scale=scale, **sizes)
    return PairRun(net, published_pairs(fraction, seed=seed, languages=languages))


def obvious(run, mask):
    """A function that trains a thousand steps, and its starting point."""
    L, D, H = run.net.sizes
    W_i = run.net.W_i.transpose(1, 0, 2).reshape(H, L * D)
    start = (run.net.W_o.reshape(L * D, H), run.net.W_h, W_i)
    target = jnp.kron(jnp.ones((L, L)), jnp.eye(D))
    inside = jnp.eye(D) if mask == "diagonal" else jnp.ones((D, D))
    M = jnp.kron(jnp.asarray(run.T, dtype=jnp.float32), inside)
    pairs = float(run.T.sum())
    optimizer = optax.sgd(5e-3, momentum=0.9)

    def loss(w):
        return jnp.sum(((w[0] @ w[1] @ w[2] - target) * M) ** 2) / pairs

    def step(carry, _):
        w, state = carry
        updates, state = optimizer.update(jax.grad(loss)(w), state)
        return (optax.apply_updates(w, updates), state), None

    @jax.jit
    def thousand(carry):
        carry, _ = jax.lax.scan(step, carry, None, length=1_000)
        return carry, loss(carry[0]) / (2 * D)

    return thousand, (start, optimizer.init(start))


def timed_obvious(run, mask, *, steps=500_000, stop=0.0):
    """Seconds a step by the wall and the processor, steps and last loss; compiled before."""
    advance, carry = obvious(run, mask)
    jax.block_until_ready(advance(carry))
    wall, busy, done, loss = time.perf_counter(), time.process_time(), 0, np.inf
    while done < steps and not loss < stop:
        carry, value = advance(carry)
        loss, done = float(value), done + 1_000
    wall, busy = time.perf_counter() - wall, time.process_time() - busy
    return wall / done, busy / done, done, loss


def timed_alone(run, mask, steps):
    """Processor seconds a step of ours on one core, and the loss after `steps`."""
    options = {"mask": mask, "stop": 1e-30, "precision": "float32", "width": 1}
    ((_, fit),) = momentum_sgd([run], limit=steps, **options)
    # A cell takes tens of thousands of steps: its record is paid once.
    before = time.process_time()
    dict(momentum_sgd([run], limit=5 * steps, **options))
    return (time.process_time() - before) / (5 * steps), fit.loss


@functools.cache
def process_on(*cores):
    """A process that may use these cores only: XLA makes its threads at the start."""
    return concurrent.futures.ProcessPoolExecutor(
        1,
        mp_context=multiprocessing.get_context("spawn"),
        initializer=kept_to,
        initargs=(cores,),
    )


def kept_to(cores):
    """Let this process use these cores only."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, cores)


def obvious_on(cores, run, mask, **until):
    """`timed_obvious` in a process of its own."""
    return process_on(*cores).submit(timed_obvious, run, mask, **until).result()


def timed_ours(train, runs, mask, **options):
    """Seconds and fits by index, every core at work."""
    before = time.perf_counter()
    fits = dict(side_by_side(train, runs, workers=len(CORES), mask=mask, **options))
    return time.perf_counter() - before, fits


def row(task, size, ours, peer, ratios, target):
    """One line of the report."""
    ratio = statistics.median(ratios)
    return {
        "task": task,
        "size": size,
        "ours": ours,
        "peer": peer,
        "ratio": ratio,
        "spread": [min(ratios), max(ratios)],
        "target": target,
        "met": ratio >= target,
    }


def on_one_core(mask, steps, target):
    """Processor time, interleaved: both pinned to one core; answers compared first."""
    ratios, ours, peers = [], [], []
    core = process_on(CORES[0])
    for cell in CELLS:
        run = drawn(*cell)
        _, peer, _, loss = obvious_on(CORES[:1], run, mask, steps=steps)
        own, found = core.submit(timed_alone, run, mask, steps).result()
        if not np.isclose(found, loss, rtol=1e-3):
            raise SystemExit(f"{mask}: the losses {found} and {loss} differ")
        ours.append(own)
        peers.append(peer)
        ratios.append(peer / own)
        said(
            f"{mask} {cell}: {1e6 * peer:.0f} and {1e6 * own:.0f} us of processor a step"
        )
    size = f"L 10, D = H = 32, {steps} steps, one core, processor seconds a step"
    task = f"{mask} mask, same steps, core against core"
    return [row(task, size, min(ours), min(peers), ratios, target)]


def same_steps(mask, lanes, target, steps):
    """Steps a second of the whole machine by the wall clock, interleaved."""
    runs = [drawn(*CELLS[i % 3]) for i in range(lanes)]
    options = {"stop": 1e-30, "precision": "float32"}
    # Every worker compiles its program before the clock starts.
    timed_ours(momentum_sgd, runs[:1] * 2 * len(CORES), mask, limit=1_000, **options)
    ratios, ours, peers = [], [], []
    for cell in range(3):
        peer = min(
            obvious_on(cores, runs[cell], mask, steps=steps)[0]
            for cores in (CORES, CORES[:1])
        )
        seconds, _ = timed_ours(momentum_sgd, runs, mask, limit=steps, **options)
        ours.append(seconds / (lanes * steps))
        peers.append(peer)
        ratios.append(peers[-1] / ours[-1])
        said(f"{mask} {CELLS[cell]}: obvious {1 / peer:.0f}, ours {1 / ours[-1]:.0f}/s")
    size = f"L 10, D = H = 32, {lanes} cells x {steps} steps, {len(CORES)} cores, seconds a step"
    return [
        row(f"{mask} mask, same steps", size, min(ours), min(peers), ratios, target)
    ]


def timed_flow(run):
    """Processor seconds of the flow to the loss, and of nothing compiled."""
    for _ in range(2):
        before = time.process_time()
        ((_, fit),) = gradient_flow([run], mask="full", stop=STOP["full"], width=1)
        seconds = time.process_time() - before
    if fit.ending != "converged":
        raise SystemExit("the flow did not converge")
    return seconds


def steps_of_sgd(run):
    """How many steps the document's SGD takes to the same loss: ours walks its path."""
    ((_, fit),) = momentum_sgd([run], mask="full", stop=STOP["full"], width=1)
    if fit.ending != "converged":
        raise SystemExit("SGD did not converge")
    return fit.steps


def by_flow(steps, target):
    """Full mask to Λ = 1e-6: the obvious SGD's rate times its steps, against the flow."""
    core = process_on(CORES[0])
    ratios, ours, peers = [], [], []
    for cell in CELLS:
        run = drawn(*cell)
        own = core.submit(timed_flow, run).result()
        needed = core.submit(steps_of_sgd, run).result()
        _, peer, done, _ = obvious_on(CORES[:1], run, "full", steps=steps or needed)
        if done < needed:
            said(
                f"full {cell}: the obvious one's {needed} steps are extrapolated from {done}"
            )
        ours.append(own)
        peers.append(peer * needed)
        ratios.append(peers[-1] / own)
        said(f"full {cell}: SGD {needed} steps, {peers[-1]:.1f} s; flow {own:.2f} s")
    size = "L 10, D = H = 32, one core, processor seconds a cell"
    task = "full mask by the flow, to loss 1e-6, core against core"
    return [row(task, size, min(ours), min(peers), ratios, target)]


def powers(mask, factors):
    """Seconds a step on one core over L, D and H round L 10, D 32, H 64: fitted powers."""
    base = {"languages": 10, "words": 32, "units": 64}
    options = {"stop": 1e-30, "every": 200, "width": 1, "precision": "float32"}

    @functools.cache
    def seconds(**sizes):
        run = drawn(0.401, 0, **sizes)
        times = []
        for _ in range(4):
            before = time.process_time()
            dict(momentum_sgd([run], mask=mask, limit=200, **options))
            times.append(time.process_time() - before)
        return min(times) / 200

    out = {}
    for name, middle in base.items():
        values = [int(middle * factor) for factor in factors]
        cost = [seconds(**(base | {name: value})) for value in values]
        out[name] = round(float(np.polyfit(np.log(values), np.log(cost), 1)[0]), 2)
    return out


def sweep(cells, peer_steps):
    """Cells to the document's stop with ours; the obvious one's rate on three."""
    runs = [drawn(*cell) for cell in cells]
    rates = []
    for cell in CELLS:
        until = (
            {"stop": STOP["diagonal"]} if peer_steps is None else {"steps": peer_steps}
        )
        peer, _, done, loss = obvious_on(CORES[:1], drawn(*cell), "diagonal", **until)
        rates.append(peer)
        said(f"obvious {cell}: {done} steps at {1 / peer:.0f}/s, loss {loss:.3g}")
    seconds, fits = timed_ours(momentum_sgd, runs, "diagonal", stop=STOP["diagonal"])
    steps = sum(fit.steps for fit in fits.values())
    said(
        f"ours: {len(cells)} cells, {steps} steps, {3600 * len(cells) / seconds:.0f} cells an hour"
    )
    size = f"{len(cells)} cells to the stop, {len(CORES)} cores, seconds (peer extrapolated from three cells)"
    ratios = [steps * rate / seconds for rate in rates]
    task = "diagonal mask, a sweep"
    return [row(task, size, seconds, steps * min(rates), ratios, 10.0)]


def shown(rows, fitted, as_json):
    """The rows as one JSON list, or in words."""
    if as_json:
        print(json.dumps(rows))
        return
    for r in rows:
        low, high = r["spread"]
        print(
            f"{r['task']} ({r['size']}): ours {r['ours']:.3g}, obvious {r['peer']:.3g}"
        )
        met = "met" if r["met"] else "not met"
        print(
            f"  {r['ratio']:.1f} times ({low:.1f}–{high:.1f}), target {r['target']:g}: {met}"
        )
    for mask, slopes in fitted.items():
        text = ", ".join(f"{name} {power:+.2f}" for name, power in slopes.items())
        print(f"{mask} mask, cost of a step as a power of: {text}")


def main():
    """Run, print, say what was met."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--long", action="store_true")
    parser.add_argument("--json", action="store_true")
    parser.add_argument(
        "--cores", action="store_true", help="only core against core, processor time"
    )
    asked = parser.parse_args()
    lanes, steps = (24, 4_000) if asked.long else (12, 2_000)
    rows = on_one_core("diagonal", steps, 10.0)
    rows += on_one_core("full", steps, 6.0)
    rows += by_flow(None if asked.long else 2_000, 10.0)
    if asked.cores:
        shown(rows, {}, asked.json)
        return
    rows += same_steps("diagonal", lanes, 10.0, steps)
    rows += same_steps("full", lanes, 6.0, steps)
    rows += sweep(SIXTY if asked.long else CELLS, None if asked.long else 4_000)
    kept_to(CORES[:1])
    factors = (0.5, 1, 2) if asked.long else (1, 2)
    fitted = {mask: powers(mask, factors) for mask in ("diagonal", "full")}
    shown(rows, fitted, asked.json)


if __name__ == "__main__":
    main()
