"""Gated linear networks: structured, batched training against the obvious one.

The obvious implementation forms W_o W_h W_i, subtracts, masks, and lets JAX
differentiate; optax's SGD with momentum; a thousand steps a call; one run at a
time with whatever threads XLA takes. Ours is `momentum_sgd` (same steps, same
stop), and for the full mask also `safe_descent` and `gradient_flow` to the same loss.

    python benchmarks/gdln.py [--long] [--json]

The short form times fixed numbers of steps on three drawn cells and fits the cost
against L, D and H. The long one trains the three cells to the document's stop and
a sweep of 60 cells with ours; the total of the obvious one for the 60 is never
run: it is its measured rate times the same steps, and is called extrapolated.
"""

import argparse
import json
import statistics
import sys
import time

import jax
import jax.numpy as jnp
import numpy as np
import optax

from remanence.nets.gated_linear import GatedLinear
from remanence.tasks.language_pairs import published_pairs
from remanence.train.descent import safe_descent
from remanence.train.gradient_flow import gradient_flow
from remanence.train.momentum import momentum_sgd
from remanence.train.pairs import PairRun


CELLS = ((0.301, 1), (0.351, 1), (0.401, 0))
STOP = {"diagonal": 1e-6 / 64, "full": 1e-6}


def drawn(fraction, seed, scale=1e-2, **sizes):
    """A run with the document's draw."""
    languages = sizes.get("languages", 10)
    net = GatedLinear.published(seed=seed, scale=scale, **sizes)
    return PairRun(net, published_pairs(fraction, seed=seed, languages=languages))


def obvious(run, mask):
    """A function that trains some thousands of steps, and its starting point."""
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


def timed_obvious(run, mask, steps=None, stop=None):
    """Seconds, steps and last loss; compiled beforehand."""
    advance, carry = obvious(run, mask)
    jax.block_until_ready(advance(carry))
    before, done, loss = time.perf_counter(), 0, np.inf
    while done < (steps or 500_000) and not (stop and loss < stop):
        carry, value = advance(carry)
        loss, done = float(value), done + 1_000
    return time.perf_counter() - before, done, loss


def timed_ours(train, runs, mask, **options):
    """Seconds and fits by index; a first call on one short run compiles."""
    before = time.perf_counter()
    fits = dict(train(runs, mask=mask, **options))
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


def same_steps(mask, repeats, lanes, target, steps=1_000):
    """Lane-steps a second, interleaved; answers compared first."""
    runs = [drawn(*CELLS[i % 3]) for i in range(lanes)]
    options = {"stop": 1e-30, "limit": steps, "width": 4, "precision": "float32"}
    timed_ours(momentum_sgd, runs[:1], mask, workers=1, **options)
    ratios, ours, peers = [], [], []
    for i in range(repeats):
        run = runs[i % 3]
        peer, done, loss = timed_obvious(run, mask, steps=steps)
        best = np.inf
        for workers in (1, 2):
            seconds, fits = timed_ours(
                momentum_sgd, runs, mask, workers=workers, **options
            )
            best = min(best, seconds)
        found = fits[i % 3].loss
        if not np.isclose(found, loss, rtol=1e-3):
            raise SystemExit(f"{mask}: the losses differ, {found} and {loss}")
        ours.append(best / (lanes * steps))
        peers.append(peer / done)
        ratios.append(peers[-1] / ours[-1])
    size = f"L 10, D = H = 32, {lanes} lanes, seconds a lane-step"
    return [
        row(f"{mask} mask, same steps", size, min(ours), min(peers), ratios, target)
    ]


def to_the_same_loss(repeats, target):
    """Full mask to Λ = 1e-6: obvious SGD against descent and flow."""
    rows = []
    for name, train, options in (
        ("flow", gradient_flow, {"width": 3}),
        ("safe descent", safe_descent, {"width": 3, "precision": "float32"}),
    ):
        runs = [drawn(*cell) for cell in CELLS]
        timed_ours(train, runs[:1], "full", stop=0.2, **options)
        timed_ours(train, runs[:1], "full", stop=STOP["full"], **options)
        ratios, ours, peers = [], [], []
        for i in range(repeats):
            seconds, fits = timed_ours(
                train, runs, "full", stop=STOP["full"], **options
            )
            if any(fit.ending != "converged" for fit in fits.values()):
                raise SystemExit(f"{name} did not converge")
            peer, _, loss = timed_obvious(runs[i % 3], "full", stop=STOP["full"])
            if not loss < STOP["full"]:
                raise SystemExit("the obvious SGD did not converge")
            ours.append(seconds / 3)
            peers.append(peer)
            ratios.append(peer / ours[-1])
        rows.append(
            row(
                f"full mask by {name}, to loss 1e-6",
                "L 10, D = H = 32, seconds a cell",
                min(ours),
                min(peers),
                ratios,
                target,
            )
        )
    return rows


def powers(mask):
    """Seconds a lane-step over L, D and H, and the fitted powers."""
    out = {}
    for name, values in (
        ("languages", (6, 12, 24)),
        ("words", (16, 32, 64)),
        ("units", (32, 64, 128)),
    ):
        seconds = []
        for value in values:
            sizes = {"languages": 10, "words": 32, "units": 64} | {name: value}
            run = drawn(0.401, 0, **sizes)
            options = {
                "stop": 1e-30,
                "every": 200,
                "limit": 200,
                "width": 1,
                "precision": "float32",
            }
            timed_ours(momentum_sgd, [run], mask, **options)
            best = min(
                timed_ours(momentum_sgd, [run], mask, **options)[0] for _ in range(3)
            )
            seconds.append(best / 200)
        slope = np.polyfit(np.log(values), np.log(seconds), 1)[0]
        out[name] = round(float(slope), 2)
    return out


def sweep_of_sixty():
    """60 cells to the document's stop with ours; the obvious on three, then extrapolated."""
    fractions = (0.301, 0.321, 0.341, 0.361, 0.381, 0.401, 0.411, 0.421, 0.431, 0.451)
    runs = [drawn(f, s) for s in range(6) for f in fractions]
    options = {"stop": STOP["diagonal"], "width": 4, "workers": 2}
    seconds, fits = timed_ours(momentum_sgd, runs, "diagonal", **options)
    steps = sum(fit.steps for fit in fits.values())
    rates = []
    for cell in CELLS:
        peer, done, loss = timed_obvious(
            drawn(*cell), "diagonal", stop=STOP["diagonal"]
        )
        rates.append(peer / done)
        sys.stderr.write(
            f"obvious {cell}: {done} steps, {done / peer:.0f}/s, loss {loss:.3g}\n"
        )
    size = "60 cells to the stop, seconds (peer extrapolated from three cells)"
    ratios = [steps * rate / seconds for rate in rates]
    return [
        row("diagonal mask, a sweep", size, seconds, steps * min(rates), ratios, 10.0)
    ]


def main():
    """Run, print, say what was met."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--long", action="store_true")
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    repeats, lanes = (5, 16) if asked.long else (3, 8)
    rows = same_steps("diagonal", repeats, lanes, 10.0)
    rows += same_steps("full", repeats, lanes, 6.0)
    rows += to_the_same_loss(repeats, 10.0)
    if asked.long:
        rows += sweep_of_sixty()
    fitted = {mask: powers(mask) for mask in ("diagonal", "full")}
    if asked.json:
        print(json.dumps(rows))
    else:
        for r in rows:
            low, high = r["spread"]
            print(
                f"{r['task']} ({r['size']}): ours {r['ours']:.3g}, obvious {r['peer']:.3g}"
            )
            print(
                f"  {r['ratio']:.1f} times ({low:.1f}–{high:.1f}), target {r['target']:g}: {'met' if r['met'] else 'not met'}"
            )
        for mask, slopes in fitted.items():
            said = ", ".join(f"{name} {power:+.2f}" for name, power in slopes.items())
            print(f"{mask} mask, cost of a step as a power of: {said}")


if __name__ == "__main__":
    main()
