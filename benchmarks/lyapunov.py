"""Lyapunov spectra beside NumPy's textbook QR, lyapynov, clvlib and pynamicalsys.

    python benchmarks/lyapunov.py [--long] [--json] [--cpu]

Everyone is given the same map and the same Jacobian; answers are compared before
times. Contestants take turns, the ratio is that of the medians, the spread that of
the single turns. Missing peers are named and left out; one that takes three times as
long as the best while answers are compared is not run again. `--long` repeats more.

LAPACK runs on one thread, which is best for everyone at these sizes (two threads
wait for each other in a QR of 128 columns). Many networks are shared out over two
devices by us; none of the peers has a way to use a second core. Every row has both
clocks; `--cpu` judges by processor seconds instead of the wall clock, for a machine
that is busy with other things. How the cost grows is in `costs/growth.py`.
"""

import functools
import importlib
import json
import os
import sys
import time


os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault(
    "XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false --xla_force_host_platform_device_count=2"
)

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
from _turns import PAUSE

from remanence._precision import as_double, double
from remanence.cells import Elman, Residual
from remanence.measure import growth_along, lyapunov_spectrum
from remanence.measure.lyapunov.segment import start_frame


LONG, JSON = "--long" in sys.argv, "--json" in sys.argv
CPU = "--cpu" in sys.argv
os.environ.setdefault("TQDM_DISABLE", "1")  # a peer draws progress bars
N, T, WARMUP, INPUTS = 128, 2000, 200, 4
SHORT = 0.5  # seconds


def say(*words):
    """A line for whoever watches; stdout is kept for JSON."""
    print(*words, file=sys.stderr if JSON else sys.stdout, flush=True)


def numpy_map(cell):
    """The same map and Jacobian for everyone, in NumPy."""
    W, U, b = (np.asarray(a, np.float64) for a in (cell.W_h, cell.W_x, cell.b))
    if isinstance(cell, Elman):
        f = lambda h, x: np.tanh(W @ h + U @ x + b)

        def J(h, x):
            y = np.tanh(W @ h + U @ x + b)
            return (1 - y * y)[:, None] * W

    else:
        r, g = float(cell.R), float(cell.coupling)
        f = lambda h, x: r * h + g * np.tanh(W @ h + U @ x + b)
        eye = r * np.eye(len(W))

        def J(h, x):
            y = np.tanh(W @ h + U @ x + b)
            return eye + (g * (1 - y * y))[:, None] * W

    return f, J


def frame(units, k):
    """The frame that we start from, so that the textbook's answer must be ours."""
    with double():
        return np.asarray(start_frame(jnp.zeros(units), k, key=jr.key(0)))


def textbook(cell, xs, k):
    """QR after every step, as every book has it."""
    f, J = numpy_map(cell)
    h, Q, growth = np.zeros(len(cell.W_h)), frame(len(cell.W_h), k), 0.0
    for t, x in enumerate(xs):
        Q, R = np.linalg.qr(J(h, x) @ Q)
        h = f(h, x)
        if t >= WARMUP:
            growth = growth + np.log(np.abs(np.diag(R)))
    return np.sort(growth / (len(xs) - WARMUP))[::-1]


def lyapynov_peer(cell, xs, k):
    """Its own loop; the warm-up is split between state and frame."""
    peer = importlib.import_module("lyapynov")
    f, J = numpy_map(cell)
    system = peer.DiscreteDS(
        np.zeros(len(cell.W_h)), 0, lambda h, t: f(h, xs[int(t)]), lambda h, t: J(h, xs[int(t)])
    )
    for _ in range(WARMUP // 2):
        system.next()
    # Its own burn-in of the frame is part of the call.
    found = peer.LCE(system, k, WARMUP // 2, len(xs) - WARMUP, False)
    return np.sort(np.asarray(found).ravel())[::-1]


def clvlib_peer(cell, xs, k):
    """Its discrete stepper, from the initial condition."""
    peer = importlib.import_module("clvlib.numpy")
    f, J = numpy_map(cell)
    steps = np.arange(len(xs) + 1, dtype=float)
    history = peer.lyap_exp_from_ic(
        lambda t, h: f(h, xs[int(t)]),
        lambda t, h: J(h, xs[int(t)]),
        np.zeros(len(cell.W_h)),
        steps,
        stepper="discrete",
        n_lyap=k,
    )[1]
    counted = len(xs) - WARMUP
    growth = history[-1] * len(xs) - history[WARMUP] * WARMUP
    return np.sort(growth / counted)[::-1]


@functools.cache
def numba_map():
    """The driven map as an autonomous one: the last number of the state is the time."""
    numba = importlib.import_module("numba")

    @numba.njit
    def f(u, p):
        n = len(u) - 1
        t = int(u[n])
        W = p[2 : 2 + n * n].reshape(n, n)
        start = 2 + n * n + t * n
        following = np.empty(n + 1)
        following[:n] = p[0] * u[:n] + p[1] * np.tanh(W @ u[:n] + p[start : start + n])
        following[n] = t + 1
        return following

    @numba.njit
    def J(u, p, *rest):
        n = len(u) - 1
        t = int(u[n])
        W = p[2 : 2 + n * n].reshape(n, n)
        start = 2 + n * n + t * n
        y = np.tanh(W @ u[:n] + p[start : start + n])
        jacobian = np.zeros((n + 1, n + 1))
        for i in range(n):
            slope = p[1] * (1 - y[i] * y[i])
            for j in range(n):
                jacobian[i, j] = slope * W[i, j]
            jacobian[i, i] += p[0]
        jacobian[n, n] = 1.0
        return jacobian

    return f, J


def pynamicalsys_peer(cell, xs, k):
    """Compiled by numba; time is one more state variable, whose exponent 0 is dropped."""
    peer = importlib.import_module("pynamicalsys")
    f, J = numba_map()
    W, U, b = (np.asarray(a, np.float64) for a in (cell.W_h, cell.W_x, cell.b))
    r, g = (0.0, 1.0) if isinstance(cell, Elman) else (cell.R, cell.coupling)
    drive = np.vstack([xs @ U.T + b, np.zeros((2, len(W)))])
    parameters = np.concatenate([[float(r), float(g)], W.ravel(), drive.ravel()])
    system = peer.DiscreteDynamicalSystem(
        mapping=f, jacobian=J, system_dimension=len(W) + 1, number_of_parameters=len(parameters)
    )
    found = system.lyapunov(
        np.zeros(len(W) + 1),
        len(xs),
        parameters=parameters,
        method="QR_HH",
        transient_time=WARMUP,
        num_exponents=k + 1,
    )
    found = np.sort(np.asarray(found).ravel())[::-1]
    return np.delete(found, np.argmin(np.abs(found)))


def ours(cell, xs, k):
    """The door that users take, error bars included."""
    return lyapunov_spectrum(cell, xs, k=k, warmup=WARMUP).exponents


def timed(function, *arguments):
    """Seconds of a call, by the wall and by the processor, after a rest.

    Of a short call it is the second: caches and clocks are still those of the one before.
    """
    time.sleep(PAUSE)
    seconds = called(function, *arguments)
    return seconds if seconds[0] > SHORT else called(function, *arguments)


def called(function, *arguments):
    """Seconds of one call, by the clock on the wall and by the processor's."""
    wall, processor = time.perf_counter(), time.process_time()
    function(*arguments)
    return time.perf_counter() - wall, time.process_time() - processor


def compared(peers, mine):
    """Every answer beside the textbook's; who fails, or is far too slow, is left out.

    The first call of a compiled peer, and ours, is not its speed: those stay in.
    """
    reference, first = None, {}
    for name, run in list(peers.items()):
        begun = time.process_time()
        try:
            found = run()
        except Exception as problem:
            say(f"  {name} failed and is left out: {problem}")
            del peers[name]
            continue
        first[name] = time.process_time() - begun
        reference = found if reference is None else reference
        say(f"  {name}: differs from the textbook by {_gap(found, reference):.1e}")
    gap = _gap(mine(), reference)
    say(f"  remanence: differs from the textbook by {gap:.1e}")
    for name, seconds in first.items():
        if seconds > 3 * min(first.values()) and name != "pynamicalsys":
            say(f"  {name} took {seconds:.1f} s and is not run again")
            del peers[name]
    return gap


def _gap(one, two):
    return float(np.abs(one - two).max())


def contest(task, size, target, mine, peers, repeats):
    """Take turns; answers come first."""
    gap = compared(peers, mine)
    times = {"remanence": [], **{name: [] for name in peers}}
    which = int(CPU)
    for _ in range(repeats):
        times["remanence"].append(timed(mine))
        for name, run in peers.items():
            times[name].append(timed(run))
    seconds = {name: np.median(rows, axis=0) for name, rows in times.items()}
    least = {name: np.min(rows, axis=0) for name, rows in times.items()}
    best = min(peers, key=lambda name: seconds[name][which])
    one, two = seconds["remanence"], seconds[best]
    turns = np.array(times[best])[:, which] / np.array(times["remanence"])[:, which]
    ratio = two / one
    row = {
        "task": task,
        "size": size,
        "ours": float(one[which]),
        "peer": float(two[which]),
        "peer_name": best,
        "ratio": float(ratio[which]),
        "spread": [float(turns.min()), float(turns.max())],
        "target": target,
        "met": bool(ratio[which] >= target),
        "difference": gap,
        "ratio_by_wall": float(ratio[0]),
        "ratio_by_processor": float(ratio[1]),
        "ratio_of_best": float(least[best][which] / least["remanence"][which]),
    }
    say(
        f"{task} ({size}): {row['ours']:.3f} s, best peer {best} {row['peer']:.3f} s, "
        f"{row['ratio']:.1f} times ({turns.min():.1f} to {turns.max():.1f}; by wall "
        f"{ratio[0]:.1f}, by processor {ratio[1]:.1f}, least disturbed turns "
        f"{row['ratio_of_best']:.1f}), target {target}, "
        f"{'met' if row['met'] else 'NOT met'}"
    )
    return row


def batch_of_networks(count, units, k, steps):
    """The first exponents of many networks as one program."""
    with double():
        keys = jr.split(jr.key(3), count)
        cells = jax.vmap(lambda key: Elman.init(INPUTS, units, key=key, gain=1.2))(keys)
        cells = as_double(cells)
        xs = jr.normal(jr.key(4), (steps, INPUTS))
        xs = np.asarray(xs)

    one = lambda cell: growth_along(cell, cell.initial_state(), jnp.asarray(xs), k=k, warmup=WARMUP)
    over = {
        "mesh": jax.sharding.Mesh(np.array(jax.devices()), ("networks",)),
        "in_specs": jax.sharding.PartitionSpec("networks"),
        "out_specs": jax.sharding.PartitionSpec("networks"),
    }
    share = jax.shard_map(lambda cells: jax.lax.map(one, cells), **over, check_vma=False)
    compiled = eqx.filter_jit(share)

    def run():
        with double():
            found, rounding = (np.asarray(part) for part in compiled(cells))
        assert float(rounding.max()) < 1e-6, "the interval was too long"
        return found

    singles = [jax.tree.map(lambda a, i=i: a[i], cells) for i in range(count)]
    return run, singles, xs


def main():
    """Three contests."""
    rows, repeats = [], 5 if LONG else 3
    peers = {"NumPy textbook QR": textbook}
    others = {"lyapynov": lyapynov_peer, "clvlib": clvlib_peer, "pynamicalsys": pynamicalsys_peer}
    for name, run in others.items():
        try:
            importlib.import_module(name)
            peers[name] = run
        except ImportError:
            say(f"{name} is not installed and left out")
    with double():
        xs = np.asarray(jr.normal(jr.key(1), (T, INPUTS)))
        weak = Residual.init(INPUTS, N, key=jr.key(0), residual=0.99, coupling=0.02)
        narrow = as_double(weak)
        wide = as_double(Elman.init(INPUTS, N, key=jr.key(0), gain=1.0))
    for task, cell, target in (
        ("full spectrum, narrow (weakly coupled residual)", narrow, 8.0),
        ("full spectrum, wide (driven tanh)", wide, 3.0),
    ):
        runs = {name: lambda run=run, cell=cell: run(cell, xs, N) for name, run in peers.items()}
        mine = lambda cell=cell: ours(cell, xs, N)
        rows.append(contest(task, f"N = {N}, T = {T}", target, mine, runs, repeats))
    count, units, k = 32, 64, 8
    mine, singles, inputs = batch_of_networks(count, units, k, T)
    runs = {
        name: lambda run=run: np.stack([run(cell, inputs, k) for cell in singles])
        for name, run in peers.items()
    }
    size = f"{count} networks, N = {units}, T = {T}"
    rows.append(contest("first 8 exponents", size, 10.0, mine, runs, 9 if LONG else 7))
    if JSON:
        print(json.dumps(rows, indent=2))


if __name__ == "__main__":
    main()
