"""Gated linear networks: structured training, a core each, against the obvious one.

The obvious implementation forms W_o W_h W_i, subtracts, masks, and lets JAX
differentiate; optax's SGD with momentum; a thousand steps a call; one run at a time.
It is timed with all cores and pinned to one (where it is often faster: its matrices
are too small to share), and the better of the two counts.
Ours is `momentum_sgd` (same steps, same stop) over a sweep, one run a core; for the
full mask also `gradient_flow` to the same loss.

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
    """Seconds a step, steps and last loss; compiled beforehand."""
    advance, carry = obvious(run, mask)
    jax.block_until_ready(advance(carry))
    before, done, loss = time.perf_counter(), 0, np.inf
    while done < steps and not loss < stop:
        carry, value = advance(carry)
        loss, done = float(value), done + 1_000
    return (time.perf_counter() - before) / done, done, loss


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


def same_steps(mask, lanes, target, steps):
    """Lane-steps a second on the whole machine, interleaved; answers compared first."""
    runs = [drawn(*CELLS[i % 3]) for i in range(lanes)]
    options = {"stop": 1e-30, "precision": "float32"}
    # Every worker compiles its program before the clock starts.
    timed_ours(momentum_sgd, runs[:1] * 2 * len(CORES), mask, limit=1_000, **options)
    ratios, ours, peers = [], [], []
    for cell in range(3):
        peer, _, loss = min(
            obvious_on(cores, runs[cell], mask, steps=steps)
            for cores in (CORES, CORES[:1])
        )
        seconds, fits = timed_ours(momentum_sgd, runs, mask, limit=steps, **options)
        if not np.isclose(fits[cell].loss, loss, rtol=1e-3):
            raise SystemExit(f"{mask}: losses {fits[cell].loss} and {loss} differ")
        ours.append(seconds / (lanes * steps))
        peers.append(peer)
        ratios.append(peers[-1] / ours[-1])
        said(f"{mask} {CELLS[cell]}: obvious {1 / peer:.0f}, ours {1 / ours[-1]:.0f}/s")
    size = f"L 10, D = H = 32, {lanes} cells x {steps} steps, {len(CORES)} cores, seconds a step"
    return [
        row(f"{mask} mask, same steps", size, min(ours), min(peers), ratios, target)
    ]


def by_flow(steps, target):
    """Full mask to Λ = 1e-6: SGD as the obvious does it, against the flow."""
    runs = [drawn(*cell) for cell in CELLS]
    timed_ours(gradient_flow, runs[:1] * 2 * len(CORES), "full", stop=0.2)
    ratios, ours, peers, extrapolated = [], [], [], steps is not None
    for run, cell in zip(runs, CELLS, strict=True):
        seconds, fits = timed_ours(
            gradient_flow, [run] * 2 * len(CORES), "full", stop=STOP["full"]
        )
        if any(fit.ending != "converged" for fit in fits.values()):
            raise SystemExit("the flow did not converge")
        until = {"steps": steps} if extrapolated else {"stop": STOP["full"]}
        peer, done, loss = obvious_on(CORES[:1], run, "full", **until)
        if extrapolated:
            # The same steps by our own SGD, which takes the same path, faster.
            (fit,) = timed_ours(momentum_sgd, [run], "full", stop=STOP["full"])[
                1
            ].values()
            done, loss = fit.steps, fit.loss
        if not loss < STOP["full"]:
            raise SystemExit("SGD did not converge")
        ours.append(seconds / (2 * len(CORES)))
        peers.append(peer * done)
        ratios.append(peers[-1] / ours[-1])
        said(f"full {cell}: SGD {done} steps, {peers[-1]:.1f} s; flow {ours[-1]:.2f} s")
    said_so = ", peer's time is its rate times its steps" if extrapolated else ""
    size = f"L 10, D = H = 32, {len(CORES)} cores, seconds a cell{said_so}"
    task = "full mask by the flow, to loss 1e-6"
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
        peer, done, loss = obvious_on(CORES[:1], drawn(*cell), "diagonal", **until)
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


def main():
    """Run, print, say what was met."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--long", action="store_true")
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    lanes, steps = (24, 4_000) if asked.long else (12, 2_000)
    rows = same_steps("diagonal", lanes, 10.0, steps)
    rows += same_steps("full", lanes, 6.0, steps)
    rows += by_flow(None if asked.long else 2_000, 10.0)
    rows += sweep(SIXTY if asked.long else CELLS, None if asked.long else 4_000)
    kept_to(CORES[:1])
    factors = (0.5, 1, 2) if asked.long else (1, 2)
    fitted = {mask: powers(mask, factors) for mask in ("diagonal", "full")}
    if asked.json:
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


if __name__ == "__main__":
    main()
