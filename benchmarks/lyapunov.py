"""Lyapunov spectra beside NumPy's and torch's QR at every step, lyapynov, clvlib and pynamicalsys.

    python benchmarks/lyapunov.py [--long] [--json] [--cpu]

Everyone is given the same map and the same Jacobian in closed form, but for torch's script, which
takes `torch.func.jacrev` as people do; answers are compared before times. Contestants take turns,
the ratio is that of the medians of seconds a step, the spread that of the single turns. Missing
peers are named and left out; one that takes three times as long as the best while answers are
compared is not run again. `--long` repeats more. `share` is the rate of our products with the
weights over that of a product of two matrices on all cores (dgemm), in the same run.

LAPACK runs on one thread, which is best for everyone up to 128 columns (two threads wait for each
other in a QR); torch has the better of one thread and all. Many networks are shared out over two
devices by us; NumPy and the packages have no way to use a second core. Every row has both
clocks; `--cpu` judges by processor seconds instead of the wall clock, for a machine
that is busy with other things. How the cost grows is in `costs/growth.py`.
"""

import functools
import importlib
import importlib.util
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
from _turns import PAUSE, product_rate

from remanence._precision import as_double, double
from remanence.cells import dimension, Elman, LSTM, Residual, Stack
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


def numpy_step(cell):
    """One step in NumPy: the next state, and its Jacobians by the state and by the input."""
    W, U, b = (np.asarray(a, np.float64) for a in (cell.W_h, cell.W_x, cell.b))
    N = W.shape[1]
    if isinstance(cell, LSTM):

        def step(h, x):
            i, f, g, o = np.split(W @ h[:N] + U @ x + b, 4)
            i, f, g, o = sigmoid(i), sigmoid(f), np.tanh(g), sigmoid(o)
            c = f * h[N:] + i * g
            t = np.tanh(c)
            slopes = g * i * (1 - i), h[N:] * f * (1 - f), i * (1 - g * g), t * o * (1 - o)
            kept = (o * (1 - t * t))[:, None]

            def moved(V):
                scaled = (np.concatenate(slopes)[:, None] * V).reshape(4, N, -1)
                by_c = scaled[:3].sum(axis=0)
                return np.vstack([scaled[3] + kept * by_c, by_c])

            by_c = np.vstack([np.diag(kept[:, 0] * f), np.diag(f)])
            return np.concatenate([o * t, c]), np.hstack([moved(W), by_c]), moved(U)

        return step
    r, g = (0.0, 1.0) if isinstance(cell, Elman) else (float(cell.R), float(cell.coupling))

    def step(h, x):
        y = np.tanh(W @ h + U @ x + b)
        slope = g * (1 - y * y)[:, None]
        return r * h + g * y, slope * W + r * np.eye(N), slope * U

    return step


def sigmoid(z):
    """The logistic function."""
    return 1 / (1 + np.exp(-z))


def numpy_map(cell):
    """The same map and Jacobian for everyone, in NumPy; a stack's is block triangular."""
    steps = [numpy_step(layer) for layer in getattr(cell, "cells", (cell,))]
    edges = np.cumsum([0, *(dimension(layer) for layer in getattr(cell, "cells", (cell,)))])

    def both(h, x):
        following, J, X = [], np.zeros((len(h), len(h))), None
        for step, begin, end in zip(steps, edges[:-1], edges[1:], strict=True):
            state, J[begin:end, begin:end], B = step(h[begin:end], x)
            if X is not None:
                J[begin:end, :begin] = B @ X
            x, X = state[: B.shape[0] // 2], J[begin : begin + B.shape[0] // 2, :end]
            following.append(state)
        return np.concatenate(following), J

    return (lambda h, x: both(h, x)[0]), (lambda h, x: both(h, x)[1]), both


def frame(cell, k):
    """The frame that we start from, so that the textbook's answer must be ours."""
    with double():
        return np.asarray(start_frame(jnp.zeros(dimension(cell)), k, key=jr.key(0)))


def textbook(cell, xs, k):
    """The Jacobian in closed form and QR after every step, as every book has it."""
    both, h, Q, growth = numpy_map(cell)[2], np.zeros(dimension(cell)), frame(cell, k), 0.0
    warmup = warmup_of(xs)
    for t, x in enumerate(xs):
        h, J = both(h, x)
        Q, R = np.linalg.qr(J @ Q)
        if t >= warmup:
            growth = growth + np.log(np.abs(np.diag(R)))
    return np.sort(growth / (len(xs) - warmup))[::-1]


def torch_script(cell, xs, threads):
    """What people write: `torch.func.jacrev` of the step, and QR at every step."""
    torch = importlib.import_module("torch")
    torch.set_num_threads(threads)
    layers = [
        [torch.tensor(np.asarray(a, np.float64)) for a in (layer.W_h, layer.W_x, layer.b)]
        for layer in getattr(cell, "cells", (cell,))
    ]

    def step(h, x):
        following = []
        for W, U, b in layers:
            N = W.shape[1]
            own, h = h[: 2 * N], h[2 * N :]
            i, f, g, o = (W @ own[:N] + U @ x + b).chunk(4)
            c = f.sigmoid() * own[N:] + i.sigmoid() * g.tanh()
            x = o.sigmoid() * c.tanh()
            following += [x, c]
        state = torch.cat(following)
        return state, state

    quick = torch.func.jacrev(step, has_aux=True)
    inputs = torch.tensor(np.array(xs))
    h = torch.zeros(dimension(cell), dtype=torch.float64)
    Q = torch.tensor(frame(cell, dimension(cell)))
    growth, warmup = 0.0, warmup_of(xs)
    for t, x in enumerate(inputs):
        J, h = quick(h, x)
        Q, R = torch.linalg.qr(J @ Q)
        if t >= warmup:
            growth = growth + R.diagonal().abs().log()
    return np.sort((growth / (len(xs) - warmup)).numpy())[::-1]


def warmup_of(xs):
    """A fifth of the steps, at most 200."""
    return min(WARMUP, len(xs) // 5)


def lyapynov_peer(cell, xs, k):
    """Its own loop; the warm-up is split between state and frame."""
    peer = importlib.import_module("lyapynov")
    f, J, _ = numpy_map(cell)
    warmup = warmup_of(xs)
    system = peer.DiscreteDS(
        np.zeros(dimension(cell)), 0, lambda h, t: f(h, xs[int(t)]), lambda h, t: J(h, xs[int(t)])
    )
    for _ in range(warmup // 2):
        system.next()
    # Its own burn-in of the frame is part of the call.
    found = peer.LCE(system, k, warmup // 2, len(xs) - warmup, False)
    return np.sort(np.asarray(found).ravel())[::-1]


def clvlib_peer(cell, xs, k):
    """Its discrete stepper, from the initial condition."""
    peer = importlib.import_module("clvlib.numpy")
    f, J, _ = numpy_map(cell)
    warmup = warmup_of(xs)
    steps = np.arange(len(xs) + 1, dtype=float)
    history = peer.lyap_exp_from_ic(
        lambda t, h: f(h, xs[int(t)]),
        lambda t, h: J(h, xs[int(t)]),
        np.zeros(dimension(cell)),
        steps,
        stepper="discrete",
        n_lyap=k,
    )[1]
    counted = len(xs) - warmup
    growth = history[-1] * len(xs) - history[warmup] * warmup
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
        transient_time=warmup_of(xs),
        num_exponents=k + 1,
    )
    found = np.sort(np.asarray(found).ravel())[::-1]
    return np.delete(found, np.argmin(np.abs(found)))


def ours(cell, xs, k):
    """The door that users take, error bars included."""
    return lyapunov_spectrum(cell, xs, k=k, warmup=warmup_of(xs)).exponents


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
        begun = time.perf_counter()
        try:
            found = run()
        except Exception as problem:
            say(f"  {name} failed and is left out: {problem}")
            del peers[name]
            continue
        first[name] = time.perf_counter() - begun
        reference = found if reference is None else reference
        gap = _gap(found, reference)
        say(f"  {name}: differs from the textbook by {gap:.1e}, took {first[name]:.1f} s")
        # Packages begin with a frame of their own, which the sum of a whole spectrum hardly knows.
        total = abs(found.sum() - reference.sum()) / found.size
        bound = 1e-6 if name.startswith("torch") else 0.01
        assert min(gap, total) < bound, f"{name} computes something else"
    gap = _gap(mine(), reference)
    say(f"  remanence: differs from the textbook by {gap:.1e}")
    assert gap < 1e-6, "ours computes something else"
    for name, seconds in first.items():
        if seconds > 3 * min(first.values()) and not name.startswith(("pynamicalsys", "torch")):
            say(f"  {name} took {seconds:.1f} s and is not run again")
            del peers[name]
    return gap


def _gap(one, two):
    return float(np.abs(one - two).max())


def contest(
    task, size, target, mine, peers, repeats, *, same=None, steps=1, flops=0.0, share_target=None
):
    """Take turns; answers come first. `same` is ours on the peers' inputs, if they are fewer."""
    gap = compared(peers, same or mine)
    mine()
    times = {"remanence": [], **{name: [] for name in peers}}
    which = int(CPU)
    for _ in range(repeats):
        times["remanence"].append(np.array(timed(mine)) / steps)
        for name, run in peers.items():
            times[name].append(timed(run))
    seconds = {name: np.median(rows, axis=0) for name, rows in times.items()}
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
        "met": None if target is None else bool(ratio[which] >= target),
        "difference": gap,
        "ratio_by_wall": float(ratio[0]),
        "ratio_by_processor": float(ratio[1]),
        "share": flops / float(one[0]) / product_rate(np.float64) if flops else None,
        "share_target": share_target,
    }
    share = f", {row['share']:.0%} of dgemm" if flops else ""
    said = {True: "met", False: "NOT met", None: "no target"}[row["met"]]
    say(
        f"{task} ({size}): {row['ours']:.4f} s, best peer {best} {row['peer']:.4f} s, "
        f"{row['ratio']:.1f} times ({turns.min():.1f} to {turns.max():.1f}; by wall "
        f"{ratio[0]:.1f}, by processor {ratio[1]:.1f}){share}, target {target}, {said}"
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


def spectra():
    """Whole spectra: name, cell, our steps, the peers' steps, and the goal."""
    lstm = lambda units, inputs=INPUTS, seed=0: LSTM.init(inputs, units, key=jr.key(seed))
    weak = Residual.init(INPUTS, N, key=jr.key(0), residual=0.99, coupling=0.02)
    wide = Elman.init(INPUTS, N, key=jr.key(0), gain=1.0)
    yield "full spectrum, narrow (weakly coupled residual)", weak, T, T, 10.0
    yield "full spectrum, wide (driven tanh)", wide, T, T, 5.0
    yield "full spectrum, LSTM of 128 units", lstm(128), 1000, 150, 5.0
    yield "full spectrum, LSTM of 256 units", lstm(256), 500, 50, 5.0
    yield "full spectrum, LSTM of 512 units", lstm(512), 240, 20, None
    stack = Stack((lstm(128), lstm(128, 128, 1)))
    yield "full spectrum, two LSTMs of 128 units", stack, 400, 40, None


def product_flops(cell):
    """Of one step: weights times frames, as the closed form of a step has them."""
    layers = getattr(cell, "cells", (cell,))
    size, width = dimension(cell), lambda layer: sum(W.size for W in (layer.W_h, layer.W_x))
    return 2 * size * (layers[0].W_h.size + sum(width(layer) for layer in layers[1:]))


def spectrum_row(task, cell, steps, few, target, peers, repeats):
    """Everyone's whole spectrum of one cell; the peers take a few of the steps where they are slow."""
    with double():
        cell = as_double(cell)
        xs = np.asarray(jr.normal(jr.key(1), (steps, INPUTS)))
    size, short = dimension(cell), xs[:few]
    runs = {name: lambda run=run: run(cell, short, size) for name, run in peers.items()}
    if not isinstance(cell, Elman | Residual):
        runs.pop("pynamicalsys", None)  # its map is compiled by numba, and is the one above
        for threads in sorted({1, os.cpu_count()}):
            name = f"torch, jacrev and QR, threads {threads}"
            runs[name] = lambda threads=threads: torch_script(cell, short, threads)
    said = f"{size} exponents, T = {steps}" + (f" (peers {few})" if few < steps else "")
    work = {"steps": steps / few, "flops": product_flops(cell) * few}
    work |= {"share_target": 0.4} if size > 256 else {}
    mine, same = (lambda: ours(cell, xs, size)), (lambda: ours(cell, short, size))
    return contest(task, said, target, mine, runs, repeats, same=same, **work)


def main():
    """Every contest."""
    rows, repeats = [], 5 if LONG else 3
    peers = {"NumPy, QR every step": textbook}
    others = {"lyapynov": lyapynov_peer, "clvlib": clvlib_peer, "pynamicalsys": pynamicalsys_peer}
    for name, run in others.items():
        try:
            importlib.import_module(name)
            peers[name] = run
        except ImportError:
            say(f"{name} is not installed and left out")
    only = sys.argv[sys.argv.index("--only") + 1] if "--only" in sys.argv else ""
    rows += [spectrum_row(*row, peers, repeats) for row in spectra() if only in row[0]]
    if only not in "first 8 exponents":
        return
    count, units, k = 32, 64, 8
    mine, singles, inputs = batch_of_networks(count, units, k, T)
    runs = {
        name: lambda run=run: np.stack([run(cell, inputs, k) for cell in singles])
        for name, run in peers.items()
    }
    size = f"{count} networks, N = {units}, T = {T}"
    rows.append(contest("first 8 exponents", size, 12.0, mine, runs, 9 if LONG else 7))
    if JSON:
        print(json.dumps(rows, indent=2))


if __name__ == "__main__":
    with double():
        main()
