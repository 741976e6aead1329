"""Gated linear networks: structured training, a core each, against the obvious one.

The obvious implementation (`_obvious_pairs.py`) forms W_o W_h W_i, subtracts, masks, and
lets JAX differentiate; optax's SGD with momentum; one run at a time, on one core or on
all, whichever is faster for it. It comes in two forms: a step a call, as scripts are
written, and the same with a thousand steps compiled together, which takes a quarter of its
time away; targets are held against that one. Ours gives each core a run of its own. Rows:

- diagonal mask, a sweep to the document's stop by its own SGD: the same steps, against
  both forms;
- full mask, the same steps, against both forms;
- full mask by gradient flow in float64 to the same loss, where both generalise.

    python benchmarks/gdln.py [--long] [--json] [--cores] [--cells 60]

A sweep of 60 cells (or fewer) is trained to the stop with ours, and three drawn cells with the
obvious one (its slower form takes 2,000 steps of each). Its total is its measured rate
times the steps that SGD takes, and is called extrapolated. With --cores everything is
processor time of one core against one core, which a busy machine blurs less; targets are
for two cores by the wall, so there are none then. --long takes more steps where steps are
compared.
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

import numpy as np
from _obvious_pairs import BEST, FORMS, timed_obvious

from remanence.subjects.shared_representations.gated_linear import GatedLinear, translation
from remanence.subjects.shared_representations.language_pairs import published_pairs
from remanence.subjects.shared_representations.pair_training import PairRun
from remanence.subjects.shared_representations.sgd_and_flow import gradient_flow, momentum_sgd
from remanence.subjects.shared_representations.training_cells import GENERALISES
from remanence.sweeps.pool import WorkerPool


CELLS = ((0.301, 1), (0.351, 1), (0.401, 0))
SIXTY = [(f / 1_000, s) for f in range(451, 270, -20) for s in range(6)]
STOP = {"diagonal": 1e-6 / 64, "full": 1e-6}
TARGETS = {"full": 4.0, "flow": 10.0, "the document's SGD": 8.0}
"""On two cores by the wall; XLA's steps reached 4.7, 13 and 9 on idle ones."""
SAMPLE = 2_000
"""Steps of the obvious one where it is not trained to its end."""
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


@functools.cache
def process_on(*cores):
    """A process that may use these cores only: XLA makes its threads at the start."""
    return concurrent.futures.ProcessPoolExecutor(
        1, mp_context=multiprocessing.get_context("spawn"), initializer=kept_to, initargs=(cores,)
    )


def kept_to(cores):
    """Let this process use these cores only."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, cores)


def fit_of(train, run, options):
    """One run by itself."""
    ((_, fit),) = train([run], width=1, **options)
    return fit


def worked(train, runs, options):
    """Processor seconds and fits, one run after the other in this process."""
    before = time.process_time()
    fits = [fit_of(train, run, options) for run in runs]
    return time.process_time() - before, fits


@functools.cache
def workers():
    """A process a core that stays, so that each program is compiled once in each."""
    return WorkerPool(len(CORES), pin_to=tuple(CORES), import_script=True)


class Clock:
    """Seconds of ours and of the obvious one: the wall's, or one core's processor."""

    def __init__(self, alone):
        self.alone = alone
        self.where = (
            "one core, processor seconds" if alone else f"{len(CORES)} cores, seconds by the wall"
        )

    def peer(self, run, mask, *, a_call=BEST, steps=SAMPLE, stop=None):
        """Seconds a step of the obvious one where it is faster, steps done, loss.

        With `stop` it is tried on a few steps first, and goes to the stop where it was faster.
        """
        ways = [CORES[:1]] if self.alone else [CORES[:1], CORES]

        def timed(cores, **until):
            work = process_on(*cores)
            wall, busy, *end = work.submit(
                timed_obvious, run, mask, a_call=a_call, **until
            ).result()
            return (busy if self.alone else wall, *end)

        tried = {cores: timed(cores, steps=steps) for cores in map(tuple, ways)}
        fastest = min(tried, key=tried.get)
        return tried[fastest] if stop is None else timed(fastest, stop=stop)

    def ours(self, train, runs, **options):
        """Seconds and fits; a run a core, or one after the other on one."""
        if self.alone:
            return process_on(CORES[0]).submit(worked, train, runs, options).result()
        before = time.perf_counter()
        waiting = [workers().submit(fit_of, train, run, options) for run in runs]
        fits = [future.result() for future in waiting]
        return time.perf_counter() - before, fits

    def warm(self, train, run, **options):
        """Every worker compiles its program before the clock starts."""
        self.ours(train, [run] * (1 if self.alone else 2 * len(CORES)), **options)


def row(task, size, ours, peer, ratios, target, **more):
    """One line of the report."""
    ratio = statistics.median(ratios)
    if "one core" in size:
        target = None
    return {
        "task": task,
        "size": size,
        "ours": ours,
        "peer": peer,
        "ratio": ratio,
        "spread": [min(ratios), max(ratios)],
        "target": target,
        "met": None if target is None else ratio >= target,
        **more,
    }


def sweep(clock, cells):
    """Diagonal mask: cells to the document's stop, by its SGD."""
    runs = [drawn(*cell) for cell in cells]
    common = {"mask": "diagonal", "stop": STOP["diagonal"]}
    rates = {a_call: [] for a_call in FORMS}
    for cell in CELLS:
        for a_call, known in rates.items():
            stop = STOP["diagonal"] if a_call == BEST else None
            rate, done, loss = clock.peer(drawn(*cell), "diagonal", a_call=a_call, stop=stop)
            known.append(rate)
            said(
                f"obvious {cell}, {a_call} a call: {done} steps at {1 / rate:.0f}/s, "
                f"loss {loss:.3g}"
            )
    clock.warm(momentum_sgd, runs[0], limit=1_000, **common)
    seconds, fits = clock.ours(momentum_sgd, runs, **common)
    steps = sum(fit.steps for fit in fits)
    unfinished = sum(fit.ending != "converged" for fit in fits)
    said(f"{3600 * len(cells) / seconds:.0f} cells an hour, {unfinished} unfinished")
    size = (
        f"L 10, D = H = 32, {len(cells)} cells, {clock.where} "
        f"(peer: {steps} steps extrapolated from three cells to the same stop)"
    )
    return [
        row(
            "diagonal mask, a sweep to the same stop by the document's SGD",
            size,
            seconds,
            steps * min(known),
            [steps * rate / seconds for rate in known],
            TARGETS["the document's SGD"] if a_call == BEST else None,
            peer_name=FORMS[a_call],
            unfinished=unfinished,
        )
        for a_call, known in rates.items()
    ]


def same_steps(clock, mask, lanes, target, steps):
    """Steps a second, interleaved; the losses after them are compared first."""
    runs = [drawn(*CELLS[i % 3]) for i in range(3 if clock.alone else lanes)]
    options = {"mask": mask, "stop": 1e-30}
    clock.warm(momentum_sgd, runs[0], limit=1_000, **options)
    ours, peers = [], {a_call: [] for a_call in FORMS}
    for cell in range(3):
        seconds, fits = clock.ours(momentum_sgd, runs, limit=steps, **options)
        ours.append(seconds / (len(runs) * steps))
        for a_call, known in peers.items():
            rate, _, loss = clock.peer(runs[cell], mask, a_call=a_call, steps=steps)
            if not np.isclose(fits[cell].loss, loss, rtol=1e-3):
                raise SystemExit(f"{mask}: losses {fits[cell].loss} and {loss} differ")
            known.append(rate)
        rates = ", ".join(f"{1 / known[-1]:.0f}" for known in peers.values())
        said(f"{mask} {CELLS[cell]}: obvious {rates}, ours {1 / ours[-1]:.0f}/s")
    size = f"L 10, D = H = 32, {len(runs)} cells x {steps} steps, {clock.where} a step"
    task = f"{mask} mask, same steps"
    return [
        row(
            task,
            size,
            min(ours),
            min(known),
            [peer / mine for peer, mine in zip(known, ours, strict=True)],
            target if a_call == BEST else None,
            peer_name=FORMS[a_call],
        )
        for a_call, known in peers.items()
    ]


def by_flow(clock, target):
    """Full mask to Λ = 1e-6: the obvious SGD's rate times its steps, against the flow."""
    runs = [drawn(*cell) for cell in CELLS]
    options = {"mask": "full", "stop": STOP["full"]}
    clock.warm(gradient_flow, runs[0], **options)
    _, walks = clock.ours(momentum_sgd, runs, **options)
    copies = 1 if clock.alone else 2 * len(CORES)
    ratios, ours, peers, fits = [], [], [], []
    for repeat in range(3):
        seconds, fits = clock.ours(gradient_flow, runs * copies, **options)
        needed = walks[repeat].steps
        rate, *_ = clock.peer(runs[repeat], "full", steps=needed)
        ours.append(seconds / len(fits))
        peers.append(rate * sum(walk.steps for walk in walks) / len(walks))
        ratios.append(peers[-1] / ours[-1])
        said(f"full: SGD {peers[-1]:.2f} s a cell, flow {ours[-1]:.2f} s")
    for fit, run in zip((*walks, *fits), runs * (1 + copies), strict=True):
        test = translation(fit.net, run.T, mask="full")["test_loss"]
        if fit.ending != "converged" or not test < GENERALISES:
            raise SystemExit(f"a run ended {fit.ending} with a test loss of {test:.3g}")
    size = f"L 10, D = H = 32, {clock.where} a cell"
    task = "full mask by the flow, to loss 1e-6"
    return [row(task, size, min(ours), min(peers), ratios, target, peer_name=FORMS[BEST])]


def shown(rows, as_json):
    """The rows as one JSON list, or in words."""
    if as_json:
        print(json.dumps(rows))
        return
    for r in rows:
        low, high = r["spread"]
        met = {True: "met", False: "not met", None: "no target"}[r["met"]]
        print(f"{r['task']} ({r['size']}): ours {r['ours']:.3g}, obvious {r['peer']:.3g}")
        print(
            f"  {r['ratio']:.1f} times ({low:.1f}–{high:.1f}), target {r['target'] or '–'}: {met}"
        )


def main():
    """Run, print, say what was met."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--long", action="store_true")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--cores", action="store_true", help="core against core, processor time")
    parser.add_argument("--cells", type=int, default=len(SIXTY))
    asked = parser.parse_args()
    clock = Clock(asked.cores)
    lanes, steps = (24, 4_000) if asked.long else (12, SAMPLE)
    rows = same_steps(clock, "full", lanes, TARGETS["full"], steps)
    rows += by_flow(clock, TARGETS["flow"])
    rows += sweep(clock, SIXTY[:: max(1, len(SIXTY) // asked.cells)])
    shown(rows, asked.json)


if __name__ == "__main__":
    main()
